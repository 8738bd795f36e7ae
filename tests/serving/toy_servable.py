"""Servables that answer at once: one in plain Python, and one that is a SavedModel."""

import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

from zoo.serving.servable import Signature, TensorInfo

STRING = TensorInfo("string", (None,))


class Echo:
    """Gives back texts with their words; can be held up, and counts what it was asked at once.

    Signature `beam` gives N copies; a text that is "bad" is an error of the client, "broken" one of
    the server.
    """

    axes = None  # its outputs have the names that tell
    signatures = {  # noqa: RUF012
        "serving_default": Signature(
            {"text": STRING}, {"answer": STRING, "text_tokens": TensorInfo("string", (None, None))}
        ),
        "beam": Signature(
            {
                "beam_width": TensorInfo("int32", ()),
                "length_penalty": TensorInfo("float32", ()),
                "text": STRING,
            },
            {"score": TensorInfo("float32", (None, None))},
        ),
        "pair": Signature({"context": STRING, "question": STRING}, {"answer": STRING}),
        "ranked": Signature(
            {"candidates": TensorInfo("string", (None, None)), "document": STRING},
            {"answer": STRING},
        ),
    }

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.free = threading.Event()
        self.free.set()
        self.busy = threading.Event()

    def ask(self, inputs, signature="serving_default"):
        self.busy.set()
        assert self.free.wait(20)
        first = inputs.get("text", inputs.get("context", inputs.get("document")))
        self.asked.append(len(first))
        if b"bad" in first:
            raise ValueError("text must not be bad")
        if b"broken" in first:
            raise KeyError("broken")
        if signature == "beam":
            width = int(inputs["beam_width"])
            scores = [[len(text) * float(inputs["length_penalty"])] * width for text in first]
            return {"score": np.array(scores, np.float32).reshape(len(first), width)}
        if signature == "pair":
            rows = zip(first, inputs["question"], strict=True)
            return {"answer": objects([context + question for context, question in rows])}
        if signature == "ranked":
            return {"answer": objects([row[0] for row in inputs["candidates"]])}
        return words_of(first)


def objects(values) -> np.ndarray:
    return np.array([*values, None], object)[:-1]


def words_of(texts) -> dict[str, np.ndarray]:
    """The texts, and their words as the zoo's servables give tokens."""
    words = [text.split() for text in texts]
    widest = max(1, *map(len, words)) if words else 1
    padded = np.empty((len(words), widest), object)
    padded[:] = b""
    for row, own in zip(padded, words, strict=True):
        row[: len(own)] = own
    lengths = np.array([len(own) for own in words], np.int32)
    return {"answer": objects(texts), "text_tokens": padded, "text_length": lengths}


def save_toy(folder: Path) -> Path:
    """A SavedModel that gives each text back with its words and their lengths, and its number."""

    class Toy(tf.Module):
        @tf.function(
            input_signature=[tf.TensorSpec([None], tf.string, name="text")], autograph=False
        )
        def serve(self, text):
            words = tf.strings.split(text)
            columns = tf.maximum(words.bounding_shape(axis=1), 1)
            tokens = words.to_tensor("", shape=tf.stack([tf.size(text, tf.int64), columns]))
            return {
                "answer": tf.strings.join(["<", text, ">"]),
                "number": tf.strings.to_hash_bucket_fast(text, 1 << 30),
                "text_tokens": tokens,
                "text_length": tf.cast(words.row_lengths(), tf.int32),
                "attention_text": tf.cast(tf.strings.length(tokens), tf.float32),
            }

        @tf.function(
            input_signature=[
                tf.TensorSpec([None], tf.string, name="text"),
                tf.TensorSpec([], tf.int32, name="beam_width"),
            ],
            autograph=False,
        )
        def beam(self, text, beam_width):
            said = ["beam_width must be positive, got", beam_width]
            check = tf.debugging.Assert(beam_width > 0, said)
            with tf.control_dependencies([check]):
                return {"translation": tf.tile(text[:, None], [1, beam_width])}

    toy = Toy()
    signatures = {"serving_default": toy.serve, "beam": toy.beam}
    tf.saved_model.save(toy, str(folder), signatures=signatures)
    return folder
