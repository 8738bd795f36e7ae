"""A server of tiny models and the shipped reader, and a browser that looks at its page."""

import dataclasses
import shutil
import threading
import unittest
from collections.abc import Iterator
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import pytest

from tests.explorer.offered import MAKERS, load, write_offered
from zoo.explorer import models
from zoo.explorer.app import make_explorer
from zoo.serving.cards import read_card
from zoo.serving.limits import Limits
from zoo.serving.load import resolve
from zoo.serving.running import listen, make_server
from zoo.serving.servable import Servable

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 120_000  # milliseconds; the machine may have other things to do
ODD_TASKS = {"odd_task": "constructor", "new_task": "summary\x00 " * 99}


def read_odd_card(folder):
    """A card, with a task that no card may have where the folder is one of those."""
    card = read_card(folder)
    return dataclasses.replace(card, task=ODD_TASKS.get(folder.name, card.task))


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    """Serves in a thread. The shipped reader is loaded as ever, what is "broken" not at all.

    Of two models the task is not known to the page; one of them is the first. Cards refuse such
    tasks, so that they reach the page past its card.
    """
    folder = tmp_path_factory.mktemp("offered")
    folders = {"odd_task": write_offered(folder, "odd_task")}
    folders |= {name: write_offered(folder, name, task) for name, (task, _) in MAKERS.items()}
    folders |= {"new_task": write_offered(folder, "new_task")}
    folders |= {"squad_dcn": resolve("squad_dcn"), "broken": write_offered(folder, "broken")}

    def load_any(place):
        return Servable(place) if place.name == "squad_dcn" else load(place)

    with mock.patch.object(models, "read_card", read_odd_card):
        app = make_explorer(folders, load_any, Limits(maximum_bytes=40_000))
    opened = listen("127.0.0.1", 0)
    server = make_server(app, timeout_seconds=20)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    yield f"http://127.0.0.1:{opened.getsockname()[1]}/"
    server.should_exit = True
    thread.join(60)
    opened.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window.

    Raises:
        SkipTest: There is none on this machine; nothing else is left out.
    """
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise unittest.SkipTest(f"no browser is installed: none of {', '.join(BROWSERS)}")
    with driver.sync_playwright() as playwright:
        # As root, as in a container, Chromium has no sandbox.
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser, address):
    """Gives `open_page(**parameters)` -> a page whose answer is drawn; what it did wrong fails.

    Parameters: `width`, `scheme`, `inputs`, `wait` (for a drawn answer), `accept` (errors of the
    console that are wanted), and what the address says else.
    """
    pages, faults = [], []

    def open_it(width=1280, scheme="light", wait=True, accept=None, inputs=None, **state):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.set_default_timeout(TIMEOUT)
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if refused(said, accept) else None)
        page.on("request", lambda asked: faults.append(asked.url) if elsewhere(asked.url) else None)
        go_to(page, address, inputs, state)
        if wait:
            page.wait_for_selector("#said.done")
        return page

    def refused(said, accept):
        return said.type in ("error", "warning") and not (accept and accept in said.text)

    def elsewhere(url):
        return not url.startswith((address, f"blob:{address}"))

    yield open_it
    for page in pages:
        page.close()
    assert faults == []


def go_to(page, address, inputs, state):
    """Opens an address as the page writes it."""
    given = {**state, **{f"in.{name}": text for name, text in (inputs or {}).items()}}
    page.goto(f"{address}#{urlencode(given)}")
