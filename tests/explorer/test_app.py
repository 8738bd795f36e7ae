"""The application behind the page: its addresses, headers and answers, without a browser."""

import configparser
import re
import time
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.explorer.offered import write_offered
from tests.serving.toy_servable import Echo
from zoo.explorer.app import make_explorer
from zoo.explorer.examples import EXAMPLES
from zoo.serving.limits import Limits

ROOT = Path(__file__).resolve().parents[2]


class Thirds(Echo):
    """Numbers with more decimals than can be seen."""

    def ask(self, inputs, signature="serving_default"):
        answer = super().ask(inputs, signature)
        rows = len(answer["answer"])
        return answer | {"third": np.full((rows, 2), 1 / 3, np.float32)}


@pytest.fixture
def client(tmp_path):
    folders = {name: write_offered(tmp_path, name) for name in ("echo", "other")}
    app = make_explorer(folders, lambda folder: Thirds(), Limits(maximum_bytes=500))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def loaded(client, name):
    deadline = time.monotonic() + 20
    while (told := client.get(f"/models/{name}").json())["state"] != "ready":
        assert time.monotonic() < deadline, told
        time.sleep(0.01)
    return told


def test_the_page_names_only_files_that_are_there(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    found = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert {"/assets/main.js", "/assets/style.css"} <= {*found}
    seen = set()
    while found:
        place = found.pop()
        if place in seen:
            continue
        seen.add(place)
        file = client.get(place)
        assert file.status_code == 200, place
        assert file.headers["x-content-type-options"] == "nosniff"
        imports = re.findall(r'from "\./(\w+\.js)"', file.text)
        found += [f"/assets/{name}" for name in imports]
    kinds = {place.rpartition(".")[2] for place in seen}
    assert kinds == {"css", "js", "svg"}
    assert client.get("/assets/words.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/assets/none.js").status_code == 404
    assert client.get("/assets/../app.py").status_code == 404


def test_an_installed_package_has_all_files_of_the_page():
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg")
    patterns = config["options.package_data"]["zoo.explorer"].split()
    files = [path.name for path in (ROOT / "zoo" / "explorer" / "assets").iterdir()]
    assert "index.html" in files
    for name in files:
        assert any(fnmatch(f"assets/{name}", pattern) for pattern in patterns), name


def test_the_browser_is_told_to_run_and_reach_nothing_else(client):
    for place in ("/", "/assets/main.js", "/models", "/nowhere"):
        policy = client.get(place).headers["content-security-policy"]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
        assert "unsafe" not in policy


def test_no_script_and_no_style_stands_in_the_page_and_no_text_becomes_html(client):
    page = client.get("/").text
    assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:", page)
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page) == [""]
    scripts = sorted((ROOT / "zoo" / "explorer" / "assets").glob("*.js"))
    assert len(scripts) > 20
    for path in scripts:
        script = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script
        )
        assert not re.search(r"https?://(?!www\.w3\.org/)", script)


def test_models_are_told_and_loaded_when_somebody_asks(client):
    told = client.get("/models").json()
    assert [model["name"] for model in told["models"]] == ["echo", "other"]
    assert {model["state"] for model in told["models"]} == {"waiting"}
    assert told["examples"] == EXAMPLES
    request = {"instances": ["a"]}
    assert client.post("/v1/models/echo:predict", json=request).status_code == 404
    assert loaded(client, "echo")["signature"] == "serving_default"
    assert client.post("/v1/models/echo:predict", json=request).status_code == 200
    assert client.get("/models").json()["models"][1]["state"] == "waiting"


def test_numbers_have_as_many_decimals_as_are_seen(client):
    loaded(client, "echo")
    answer = client.post("/v1/models/echo:predict", json={"instances": ["a b"]})
    assert answer.json()["predictions"][0]["third"] == [0.3333, 0.3333]
    assert "0.3333]" in answer.text


def test_errors_are_one_line(client):
    loaded(client, "echo")
    for answer, status, message in [
        (client.get("/models/none"), 404, "there is no model 'none' here"),
        (client.get("/none"), 404, "Malformed request: GET /none"),
        (client.post("/models"), 405, "Malformed request"),
        (client.post("/v1/models/echo:predict", json={"instances": ["a" * 500]}), 413, "at most"),
        (client.post("/v1/models/echo:predict", json={"instances": ["bad"]}), 400, "not be bad"),
    ]:
        assert answer.status_code == status
        assert message in answer.json()["error"]
        assert "\n" not in answer.json()["error"]
