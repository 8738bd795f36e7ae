"""Connections whose clients do not read, or that are many of one address."""

import json
import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from tests.serving.serving_thread import PREDICT, post, received, running
from tests.serving.toy_servable import Echo
from zoo.serving import connections
from zoo.serving.running import affordable
from zoo.serving.server import make_app

pytestmark = pytest.mark.timeout(60, method="thread")

MEGABYTES = 12  # more than the system takes from a writer for a reader who does not read
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def large():
    """An application whose answer is large."""
    body = bytes(MEGABYTES * 10**6)

    async def answer(_):
        return Response(body)

    return Starlette(routes=[Route("/", answer)])


def asking(port):
    """A connection that asks, and reads nothing."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(GET)
    return connection


def unread(server):
    """Bytes that the server holds for its clients."""
    connections = list(server.server_state.connections)
    return sum(one.transport.get_write_buffer_size() for one in connections)


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_clients_that_do_not_read_are_dropped(large):
    with running(large, timeout_seconds=1) as (server, port), ExitStack() as held:
        for _ in range(4):
            held.enter_context(asking(port))
        wait_until(lambda: unread(server) > 4 * 10**6)
        wait_until(lambda: not server.server_state.connections, 3)
        assert unread(server) == 0


def test_a_client_that_reads_a_little_now_and_then_is_dropped_too(large):
    with running(large, timeout_seconds=1) as (server, port), asking(port) as dripping:
        wait_until(lambda: unread(server) > 10**6)
        deadline = time.monotonic() + 3
        while server.server_state.connections:
            assert time.monotonic() < deadline
            assert dripping.recv(1000)
            time.sleep(0.01)


def test_a_client_that_takes_its_time_reads_everything_and_asks_again(large):
    with running(large, timeout_seconds=10) as (server, port), asking(port) as slow:
        for _ in range(2):
            wait_until(lambda: unread(server) > 10**6)
            read = 0
            while read < MEGABYTES * 10**6:  # the head is a little more
                read += len(slow.recv(10**6))
                time.sleep(0.01)
            wait_until(lambda: unread(server) == 0)
            slow.sendall(GET)


def test_when_too_much_is_unread_the_longest_reader_is_dropped(large, monkeypatch):
    monkeypatch.setattr(connections, "_UNREAD", 2 * MEGABYTES * 10**6)
    with running(large) as (server, port), ExitStack() as held:
        asked = []
        for number in range(6):
            asked.append(held.enter_context(asking(port)))
            wait_until(lambda n=number: server.server_state.total_requests > n)
            assert unread(server) <= 2 * MEGABYTES * 10**6
        with pytest.raises(ConnectionResetError):
            received(asked[0])
        read = b""
        while len(read) < MEGABYTES * 10**6:
            read += asked[-1].recv(10**6)


def test_connections_of_one_address_are_limited_and_those_of_others_are_not():
    limits = {"maximum_connections_per_address": 2}
    with running(make_app({"echo": Echo()}), **limits) as (_, port), ExitStack() as held:
        for _ in range(2):
            held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        time.sleep(0.2)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as refused:
            head, _, body = received(refused).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"X-Content-Type-Options: nosniff" in head
        error = json.loads(body)["error"]
        assert error == "Too many connections: 2 of this address are open"
        other = ("127.0.0.2", 0)
        with socket.create_connection(("127.0.0.1", port), timeout=10, source_address=other) as it:
            it.sendall(b"GET /v1/models/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert received(it).startswith(b"HTTP/1.1 200")
        held.close()
        time.sleep(0.2)
        assert post(port, {"instances": ["a"]}, PREDICT)[0] == 200


FLOODING = """if True:
    import socket, sys
    held = [socket.socket() for _ in range(500)]
    for one in held:
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", int(sys.argv[1])))
    print(flush=True)
    sys.stdin.read()
"""


def test_files_that_are_open_already_are_no_connections(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = len(os.listdir("/dev/fd")) + 300
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        few = affordable(1000)
        with ExitStack() as opened:
            for _ in range(150):
                opened.enter_context(open(tmp_path / "file", "w", encoding="utf-8"))
            fewer = affordable(1000)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert few <= limit - 64
    assert fewer <= 150 - 32 < few
    assert affordable(7) == 7


def test_a_flood_of_connections_leaves_files_for_the_process_and_no_log(caplog):
    """Excess connections are refused before files run out, even if all come at once."""

    async def be_busy(_):
        time.sleep(1.5)  # connections are not taken up meanwhile
        return Response()

    app = Starlette(routes=[Route("/", be_busy)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    mine = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (mine + 128, hard))
    try:
        with running(app) as (_, port), asking(port):
            flood = subprocess.Popen(  # which has files enough itself
                [sys.executable, "-c", FLOODING, str(port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            resource.prlimit(flood.pid, resource.RLIMIT_NOFILE, (soft, hard))
            flood.stdout.readline()
            time.sleep(2)
            assert mine + 20 < len(os.listdir("/proc/self/fd")) < mine + 100
            flood.communicate()
            time.sleep(0.2)
            with asking(port) as other:
                assert other.recv(100).startswith(b"HTTP/1.1 200")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not caplog.records
