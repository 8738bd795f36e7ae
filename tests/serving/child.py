"""What a server does with a SavedModel, in a process that has only TensorFlow: run as a script.

    python child.py REQUEST.json ANSWER.json

Each request names a `folder` and its `inputs`, string or number arrays. The answer to each holds
the outputs of both loaders, `current` and `v1`. Strings are bytes in Latin-1.
"""

import functools
import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  # registers the tokenizers' operations


@functools.cache
def with_current_loader(folder):
    signature = tf.saved_model.load(folder).signatures["serving_default"]

    def serve(inputs):
        return signature(**{name: tf.convert_to_tensor(value) for name, value in inputs.items()})

    return serve


@functools.cache
def with_v1_loader(folder):
    graph = tf.Graph()
    with graph.as_default():
        session = tf.compat.v1.Session()
        loaded = tf.compat.v1.saved_model.loader.load(session, ["serve"], folder)
    signature = loaded.signature_def["serving_default"]
    fetches = {name: output.name for name, output in signature.outputs.items()}

    def serve(inputs):
        feeds = {signature.inputs[name].name: value for name, value in inputs.items()}
        return session.run(fetches, feeds)

    return serve


def as_array(value):
    if "strings" in value:
        return np.array([text.encode("latin-1") for text in value["strings"]], dtype=object)
    return np.array(value["numbers"], value["dtype"])


def as_json(value):
    value = np.asarray(value)
    if value.dtype.kind == "O":
        flat = [text.decode("latin-1") for text in value.ravel()]
        return {"shape": value.shape, "strings": flat}
    return {"shape": value.shape, "dtype": value.dtype.name, "numbers": value.ravel().tolist()}


def main(request_path, answer_path):
    answers = []
    for request in json.loads(Path(request_path).read_text()):
        inputs = {name: as_array(value) for name, value in request["inputs"].items()}
        outputs = {
            "current": with_current_loader(request["folder"])(inputs),
            "v1": with_v1_loader(request["folder"])(inputs),
        }
        answers.append(
            {
                loader: {name: as_json(value) for name, value in values.items()}
                for loader, values in outputs.items()
            }
        )
    imports_zoo = "zoo" in sys.modules
    Path(answer_path).write_text(json.dumps({"answers": answers, "imports_zoo": imports_zoo}))


if __name__ == "__main__":
    main(*sys.argv[1:])
