"""The description of a server is one that its requests and answers agree with."""

import pytest
from starlette.testclient import TestClient

from tests.serving.toy_servable import Echo
from zoo.models.core.axes import Steps, Tokens
from zoo.serving.servable import Signature, TensorInfo
from zoo.serving.server import make_app

PREDICT = "/v1/models/echo:predict"


@pytest.fixture(scope="module")
def client(toy):
    with TestClient(make_app({"echo": Echo(), "a b": Echo(), "toy": toy})) as client:
        yield client


@pytest.fixture(scope="module")
def described(client):
    return client.get("/openapi.json").json()


def agrees(value, schema, root):
    """Whether a value is one that a schema describes; knows the words that the zoo uses."""
    if "$ref" in schema:
        parts = schema["$ref"].removeprefix("#/").split("/")
        place = root
        for part in parts:
            place = place[part]
        return agrees(value, place, root)
    for word, wanted in (("oneOf", lambda n: n == 1), ("anyOf", lambda n: n > 0)):
        if word in schema and not wanted(sum(agrees(value, one, root) for one in schema[word])):
            return False
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": int | float}
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        return False
    if isinstance(value, list):
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        items = schema.get("items", {})
        return least <= len(value) <= most and all(agrees(one, items, root) for one in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        closed = schema.get("additionalProperties", True) is False
        return (
            {*schema.get("required", [])} <= value.keys()
            and not (closed and value.keys() - known.keys())
            and all(agrees(one, known.get(name, {}), root) for name, one in value.items())
        )
    return True


def schemas(described, path):
    """Finds the schemas of requests and of their answers."""
    operation = described["paths"][path]["post"]
    contents = operation["requestBody"], operation["responses"]["200"]
    return [one["content"]["application/json"]["schema"] for one in contents]


BEAM = {"text": ["abc"], "beam_width": 2, "length_penalty": 0.5}
BODIES = [
    {"instances": ["a b", {"b64": "/w=="}]},
    {"instances": [{"text": "a b"}]},
    {"instances": ["a b"], "outputs": ["answer"]},
    {"inputs": {"text": ["a"]}, "signature_name": "serving_default"},
    {"inputs": BEAM, "signature_name": "beam"},
    {"instances": [{"context": "a", "question": "b"}], "signature_name": "pair"},
]


@pytest.mark.parametrize("body", BODIES[:4])
def test_requests_and_answers_are_as_described(client, described, body):
    path = "/v1/models/toy:predict"
    request, answer = schemas(described, path)
    assert agrees(body, request, described)
    told = client.post(path, json=body)
    assert told.status_code == 200
    assert agrees(told.json(), answer, described)


@pytest.mark.parametrize("body", BODIES)
def test_all_forms_of_requests_are_described(client, described, body):
    assert agrees(body, schemas(described, PREDICT)[0], described)
    assert client.post(PREDICT, json=body).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"instances": []},
        {"instances": [1]},
        {"instances": ["a"], "outputs": ["nothing"]},
        {"inputs": BEAM},
        {"instances": [BEAM], "signature_name": "beam"},
        {"inputs": BEAM | {"beam_width": "2"}, "signature_name": "beam"},
        {"inputs": {"text": ["a"], "more": 1}},
        {},
    ],
)
def test_what_the_server_refuses_is_not_described(client, described, body):
    assert client.post(PREDICT, json=body).status_code == 400
    assert not agrees(body, schemas(described, PREDICT)[0], described)


def test_all_addresses_are_described_and_are_there(client, described):
    assert described["openapi"].startswith("3.1")
    for path, operations in described["paths"].items():
        for method in operations:
            answer = client.request(method, path, json={} if method == "post" else None)
            assert answer.status_code in (200, 400), path
    assert "/v1/models/a%20b:predict" in described["paths"]
    operators = {"/healthz", "/metrics", "/openapi.json", "/v1/models"}
    assert operators <= described["paths"].keys()


def test_axes_of_the_card_are_told():
    class Translator(Echo):
        axes = {"attention_alignment": (Steps("target"), Tokens("source", sentinel=True))}  # noqa: RUF012
        signatures = {  # noqa: RUF012
            "serving_default": Signature(
                {"text": TensorInfo("string", (None,))},
                {"attention_alignment": TensorInfo("float32", (None, None, None))},
            )
        }

    with TestClient(make_app({"echo": Translator()})) as client:
        described = client.get("/openapi.json").json()
    _, answer = schemas(described, PREDICT)
    by_name = answer["anyOf"][1]["properties"]["outputs"]["properties"]["attention_alignment"]
    assert by_name["description"] == "float32 (rows, target steps, source tokens + 1)"
    assert by_name["items"]["items"]["items"] == {"$ref": "#/components/schemas/Number"}
