"""Use of a SavedModel in a process that has only TensorFlow; run as a script.

    python child.py

Reads a list of requests from each line of its input, as JSON, and writes their answers as a line.
Each request names a `folder`, a `signature` and its `inputs`, string or number arrays. The answer
to each holds the outputs of both loaders, `current` and `v1`. Strings are bytes in Latin-1.
"""

import functools
import json
import sys

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  # registers the tokenizers' operations


@functools.lru_cache(1)  # requests to one folder come one after another
def load_now(folder):
    return tf.saved_model.load(folder)


@functools.lru_cache(1)
def load_v1(folder):
    graph = tf.Graph()
    with graph.as_default():
        session = tf.compat.v1.Session()
        return session, tf.compat.v1.saved_model.loader.load(session, ["serve"], folder)


def with_current_loader(folder, signature, inputs):
    serve = load_now(folder).signatures[signature]
    return serve(**{name: tf.convert_to_tensor(value) for name, value in inputs.items()})


def with_v1_loader(folder, signature, inputs):
    session, loaded = load_v1(folder)
    definition = loaded.signature_def[signature]
    fetches = {name: output.name for name, output in definition.outputs.items()}
    feeds = {definition.inputs[name].name: value for name, value in inputs.items()}
    return session.run(fetches, feeds)


def as_array(value):
    if "strings" in value:
        texts = [text.encode("latin-1") for text in value["strings"]]
        return np.array([*texts, None], dtype=object)[:-1].reshape(value["shape"])
    return np.array(value["numbers"], value["dtype"])


def as_json(value):
    value = np.asarray(value)
    if value.dtype.kind == "O":
        flat = [text.decode("latin-1") for text in value.ravel()]
        return {"shape": value.shape, "strings": flat}
    return {"shape": value.shape, "dtype": value.dtype.name, "numbers": value.ravel().tolist()}


def answer(requests):
    answers = []
    for request in requests:
        inputs = {name: as_array(value) for name, value in request["inputs"].items()}
        asked = request["folder"], request["signature"], inputs
        outputs = {"current": with_current_loader(*asked), "v1": with_v1_loader(*asked)}
        answers.append(
            {
                loader: {name: as_json(value) for name, value in values.items()}
                for loader, values in outputs.items()
            }
        )
    return {"answers": answers, "imports_zoo": "zoo" in sys.modules}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201
