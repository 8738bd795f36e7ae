"""Describes a server of models in the words of OpenAPI, from the signatures and the cards' axes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zoo.models.core.axes import Axes, Axis, Features, Grid, Listed, Slots, Steps
from zoo.serving.padding import axes_of, texts_of

if TYPE_CHECKING:
    from zoo.serving.servable import Servable, Signature, TensorInfo

_STRING = {"$ref": "#/components/schemas/String"}
_NUMBER = {"$ref": "#/components/schemas/Number"}
_SCHEMAS = {
    "Error": {
        "type": "object",
        "required": ["error"],
        "properties": {"error": {"type": "string"}},
    },
    "String": {
        "description": "Text, or bytes that are not UTF-8",
        "oneOf": [
            {"type": "string"},
            {
                "type": "object",
                "required": ["b64"],
                "properties": {"b64": {"type": "string", "contentEncoding": "base64"}},
                "additionalProperties": False,
            },
        ],
    },
    "Number": {
        "description": "In answers also NaN, Infinity and -Infinity, as TensorFlow Serving does",
        "type": "number",
    },
}
_GET = {
    "/healthz": "Whether the server answers: all models are loaded before its port opens",
    "/metrics": "Counts in Prometheus' text format",
    "/openapi.json": "This description",
    "/v1/models": "The models and their states",
}


def describe_api(servables: Mapping[str, "Servable"], version: str) -> dict[str, Any]:
    """Describes all addresses of a server.

    Args:
        servables: Name in the address -> what answers.
        version: Of the interface.

    Returns:
        A document of OpenAPI 3.1, ready for JSON.
    """
    paths: dict[str, Any] = {
        path: {"get": _operation(summary, _get_content(path))} for path, summary in _GET.items()
    }
    for name, servable in sorted(servables.items()):
        place = f"/v1/models/{quote(name, safe='')}"
        paths[place] = {"get": _operation(f"State of {name}", _json({"type": "object"}))}
        about = f"Signatures of {name}, as TensorFlow Serving describes them"
        paths[f"{place}/metadata"] = {"get": _operation(about, _json({"type": "object"}))}
        paths[f"{place}:predict"] = {"post": _predict(name, servable)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Attention model zoo", "version": version},
        "paths": paths,
        "components": {"schemas": _SCHEMAS},
    }


def _get_content(path: str) -> dict[str, Any]:
    if path == "/metrics":
        return {"text/plain": {"schema": {"type": "string"}}}
    return _json({"type": "object"})


def _predict(name: str, servable: "Servable") -> dict[str, Any]:
    """Describes predictions: a schema for each signature and each of the two forms."""
    requests, answers = [], []
    for signature_name, signature in servable.signatures.items():
        answered = _outputs(signature, servable.axes)
        named = {"signature_name": {"const": signature_name}}
        required = [] if signature_name == "serving_default" else ["signature_name"]
        forms = [("inputs", _object(_inputs(signature)), {"outputs": _object(answered, some=True)})]
        if _by_row(signature):
            forms[:0] = [("instances", _rows_in(signature), {"predictions": _rows_out(answered)})]
        for form, inputs, outputs in forms:
            wanted = {"type": "array", "minItems": 1, "items": {"enum": [*answered]}}
            requests.append(
                {
                    "title": f"{signature_name}, {form}",
                    "type": "object",
                    "required": [*required, form],
                    "properties": named | {form: inputs, "outputs": wanted},
                }
            )
            answers.append({"title": f"{signature_name}, {form}", **_object(outputs)})
    body = {"required": True, "content": _json({"oneOf": requests})}
    return _operation(f"Ask {name}", _json({"anyOf": answers})) | {"requestBody": body}


def _by_row(signature: "Signature") -> bool:
    """Whether all that a signature takes and gives has an axis of rows."""
    return all(one.batched for one in (*signature.inputs.values(), *signature.outputs.values()))


def _rows_in(signature: "Signature") -> dict[str, Any]:
    row = _object({name: _array(info, 1) for name, info in signature.inputs.items()})
    return {"type": "array", "minItems": 1, "items": _or_alone(row)}


def _inputs(signature: "Signature") -> dict[str, Any]:
    return {name: _array(info) for name, info in signature.inputs.items()}


def _outputs(signature: "Signature", axes: Mapping[str, Axes] | None) -> dict[str, Any]:
    names = frozenset(signature.outputs)
    return {
        name: {
            "description": _shape(info, axes_of(name, names, axes)),
            **_array(info),
        }
        for name, info in signature.outputs.items()
    }


def _rows_out(outputs: Mapping[str, Any]) -> dict[str, Any]:
    rows = {name: _row(schema) for name, schema in outputs.items()}
    return {"type": "array", "items": _or_alone(_object(rows, some=True))}


def _row(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describes a row of an output."""
    return {"description": schema["description"], **schema["items"]}


def _or_alone(row: dict[str, Any]) -> dict[str, Any]:
    """An object with named values, or the one value of which the name is left out."""
    return {"anyOf": [row, *row["properties"].values()]}


def _array(info: "TensorInfo", skip: int = 0) -> dict[str, Any]:
    """Describes nested lists.

    Args:
        info: Type and shape.
        skip: First axes that are left out.
    """
    kinds = {"string": _STRING, "bool": {"type": "boolean"}}
    number = {"type": "integer"} if "int" in info.dtype else _NUMBER
    schema: dict[str, Any] = dict(kinds.get(info.dtype, number))
    for size in reversed(info.shape[skip:]):
        schema = {"type": "array", "items": schema}
        if size is not None:
            schema |= {"minItems": size, "maxItems": size}
    return schema


def _shape(info: "TensorInfo", axes: Axes) -> str:
    """Names the axes of an output: `float32 (rows, target steps, source tokens)`."""
    meanings = [_meaning(axis) for _, axis in texts_of(axes)]
    sizes = ["any" if size is None else str(size) for size in info.shape]
    if info.batched:
        sizes[0] = "rows"
    if meanings:
        sizes[len(sizes) - len(meanings) :] = meanings
    return f"{info.dtype} ({', '.join(sizes)})"


def _meaning(axis: Axis) -> str:
    if isinstance(axis, Slots):
        return f"slots {axis.count}"
    words = {Steps: "steps", Grid: "cells", Features: "features", Listed: "list"}
    sentinel = " + 1" if getattr(axis, "sentinel", False) else ""
    return f"{axis.of} {words.get(type(axis), 'tokens')}{sentinel}"


def _object(properties: Mapping[str, Any], *, some: bool = False) -> dict[str, Any]:
    """Describes an object with all of these members and no others; or with some of them."""
    required = {} if some else {"required": [*properties]}
    closed = {"additionalProperties": False}
    return {"type": "object", **required, "properties": dict(properties), **closed}


def _operation(summary: str, content: dict[str, Any]) -> dict[str, Any]:
    error = {"description": "Refused", "content": _json({"$ref": "#/components/schemas/Error"})}
    return {
        "summary": summary,
        "responses": {"200": {"description": "OK", "content": content}, "default": error},
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
