"""Requests of other pages are refused; those of programs and of the server's own pages are not."""

import pytest
from starlette.testclient import TestClient

from tests.serving.toy_servable import Echo
from zoo.serving.origins import allowed_hosts, allowed_origins, shown_host
from zoo.serving.server import make_app

PREDICT = "/v1/models/echo:predict"
STATUS = "/v1/models/echo"
BODY = b'{"instances": ["a"]}'
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def client():
    hosts = allowed_hosts("127.0.0.1", ["Models.example.org"])
    with TestClient(make_app({"echo": Echo()}, hosts=hosts), "http://127.0.0.1:8501") as client:
        yield client


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8501", "localhost", "LOCALHOST:1", "[::1]:8501", "[::1]", "models.example.org:80"],
)
def test_the_servers_own_names_are_answered(client, host):
    assert client.post(PREDICT, content=BODY, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["rebound.example.net", "127.0.0.1.example.net:8501", "[::2]:8501", "localhost.", "[::1"],
)
def test_a_name_that_was_made_to_lead_here_is_not(client, host):
    for answer in (
        client.get(STATUS, headers={"Host": host}),
        client.post(PREDICT, content=BODY, headers={"Host": host}),
    ):
        assert answer.status_code == 400
        assert "--allowed-hosts" in answer.json()["error"]
        assert "predictions" not in answer.json()


def test_a_program_needs_no_header_and_no_type(client):
    curl = {"Content-Type": "application/x-www-form-urlencoded"}  # as `curl -d` says
    for headers in ({}, curl, JSON):
        answer = client.post(PREDICT, content=BODY, headers=headers)
        assert answer.status_code == 200
        assert answer.json()["predictions"][0]["answer"] == "a"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("origin", ["http://example.net", "null", "http://127.0.0.1:3000", ""])
def test_another_origin_is_refused(client, origin):
    for headers in (JSON, {"Content-Type": "text/plain"}):
        answer = client.post(PREDICT, content=BODY, headers={"Origin": origin, **headers})
        assert answer.status_code == 403
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get(STATUS, headers={"Origin": origin}).status_code == 403


def test_a_page_of_its_own_has_to_send_json(client):
    own = {"Origin": "http://127.0.0.1:8501"}
    assert client.post(PREDICT, content=BODY, headers=own | JSON).status_code == 200
    parameter = {"Content-Type": "application/json; charset=utf-8"}
    assert client.post(PREDICT, content=BODY, headers=own | parameter).status_code == 200
    answer = client.post(PREDICT, content=BODY, headers=own | {"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert answer.json() == {"error": "Content-Type must be application/json, got text/plain"}


def test_requests_of_other_sites_are_refused_but_links_are_followed(client):
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert client.get(STATUS, headers=foreign | {"Sec-Fetch-Dest": "image"}).status_code == 403
    assert client.get(STATUS, headers=foreign).status_code == 403
    link = foreign | {"Sec-Fetch-Dest": "document"}
    assert client.get(STATUS, headers=link).status_code == 200
    assert client.post(PREDICT, content=BODY, headers=link).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin"}
    assert client.post(PREDICT, content=BODY, headers=own).status_code == 200


def test_hosts_are_those_of_this_machine_the_address_and_the_named_ones():
    assert allowed_hosts("192.0.2.7", ["A.b"])[-2:] == ("192.0.2.7", "a.b")
    assert "localhost" in allowed_hosts("192.0.2.7")
    for everywhere in ("0.0.0.0", "::", ""):
        with pytest.raises(ValueError, match="allowed_hosts must name the hosts by which"):
            allowed_hosts(everywhere)
        assert allowed_hosts(everywhere, ["*"])[-1] == "*"
    with TestClient(make_app({"echo": Echo()}, hosts=allowed_hosts("::", ["*"]))) as client:
        assert client.get(STATUS).status_code == 200  # of testserver
    assert (shown_host("::1"), shown_host("127.0.0.1")) == ("[::1]", "127.0.0.1")


FRIEND = "https://app.example.org"


@pytest.fixture
def sharing():
    """A server that pages of one other origin may ask."""
    options = {"hosts": allowed_hosts("127.0.0.1"), "origins": allowed_origins([FRIEND.upper()])}
    app = make_app({"echo": Echo()}, **options)
    with TestClient(app, "http://127.0.0.1:8501", raise_server_exceptions=False) as client:
        yield client


def test_a_page_of_an_allowed_origin_may_ask_and_read_the_answer(sharing):
    page = {"Origin": FRIEND, "Sec-Fetch-Site": "cross-site"}
    before = {**page, "Access-Control-Request-Method": "POST"}
    may = sharing.options(PREDICT, headers=before)
    assert (may.status_code, may.content) == (204, b"")
    assert may.headers["access-control-allow-methods"] == "GET, POST"
    assert "Content-Type" in may.headers["access-control-allow-headers"]
    bodies = [(BODY, 200), (b"{}", 400), (b'{"instances": ["broken"]}', 500)]
    answers = [(sharing.post(PREDICT, content=b, headers=page | JSON), s) for b, s in bodies]
    answers.append((sharing.get(STATUS, headers=page), 200))
    for answer, status in [(may, 204), *answers]:
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == FRIEND
        assert answer.headers["vary"] == "Origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-credentials" not in answer.headers
    text = sharing.post(PREDICT, content=BODY, headers=page | {"Content-Type": "text/plain"})
    assert text.status_code == 415


def test_other_origins_and_hosts_stay_refused_beside_an_allowed_origin(sharing):
    before = {"Access-Control-Request-Method": "POST"}
    for origin in ("https://app.example.org.evil.net", "http://app.example.org", "null"):
        for answer in (
            sharing.options(PREDICT, headers={"Origin": origin} | before),
            sharing.post(PREDICT, content=BODY, headers={"Origin": origin} | JSON),
        ):
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers
            assert answer.headers["vary"] == "Origin"
    rebound = {"Host": "rebound.example.net", "Origin": FRIEND}
    assert sharing.options(PREDICT, headers=rebound | before).status_code == 400
    assert sharing.get(STATUS, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert "access-control-allow-origin" not in sharing.get(STATUS).headers


def test_without_the_flag_no_header_lets_other_pages_read(client):
    for headers in ({}, {"Origin": "http://127.0.0.1:8501"}, {"Origin": FRIEND}):
        answer = client.get(STATUS, headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "vary" not in answer.headers
    before = {"Origin": FRIEND, "Access-Control-Request-Method": "POST"}
    assert client.options(PREDICT, headers=before).status_code == 403


def test_allowed_origins_are_origins_or_all():
    assert allowed_origins(["*"]) == {"*"}
    with TestClient(make_app({"echo": Echo()}, origins=allowed_origins(["*"]))) as client:
        answer = client.get(STATUS, headers={"Origin": "http://any.example:81"})
        assert answer.headers["access-control-allow-origin"] == "http://any.example:81"
    for wrong in ("app.example.org", "https://app.example.org/", "https://a b", ""):
        with pytest.raises(ValueError, match="allow_origins must be origins such as"):
            allowed_origins([wrong])
