"""The parts of a model that the contracts look for."""

from typing import ClassVar

import keras
import pytest
from keras import ops

from tests.contracts import subjects
from tests.contracts.subjects import build, padding_tables, path_of
from tests.contracts.tasks import TASKS
from tests.toys.classes import Classifier
from zoo.models.core.inputs import Tokens
from zoo.models.core.registry import find_model
from zoo.models.core.targets import Targets


class Lexicon(Classifier):
    """A bag of words whose layers have misleading names; `seen`: padding is read by mistake."""

    INPUTS: ClassVar = {"text": Tokens()}
    TARGETS: ClassVar = Targets(tokens="text")

    def __init__(self, seen=False, **kwargs):
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.words = keras.layers.Embedding(23, 4, name="lexicon")
        self.decide = keras.layers.Dense(3, name="embedding")

    def build(self, *_):
        self.words.build((None, None))
        self.decide.build((None, 4))
        self.built = True

    def call(self, inputs, training=False):
        text = inputs["text"]
        real = ops.cast(text != 0, "float32")[..., None]
        read = ops.sum(self.words(text) * real, axis=1)
        if self.seen:
            read = read + self.words(ops.zeros_like(text))[:, 0]
        return {"logits": self.decide(read), "attention": {}}


def test_embedding_tables_are_known_by_the_kind_of_their_layer():
    model = Lexicon()
    model.build()
    (table,) = padding_tables(model, TASKS["classification"])
    assert table is model.words.embeddings


def test_a_table_whose_padding_is_read_is_no_matrix_of_a_softmax(monkeypatch):
    # Else the lexicon of the test before is known, which has the same weights.
    monkeypatch.setattr(subjects, "_classes_too", {})
    model = Lexicon(seen=True)
    model.build()
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        padding_tables(model, TASKS["classification"])


@pytest.mark.parametrize(
    ("name", "option", "separate", "tied"),
    [
        ("Transformer", "shared_embeddings", ["source_embedding", "target_embedding"], []),
        ("LSTMNLanguageModel", "tie_embeddings", ["embedding"], []),
        ("RNNsearch", None, ["source_embedding", "target_embedding"], None),
        ("Rows", None, [], None),  # of categories, which are never padded
    ],
)
def test_a_table_that_is_the_matrix_of_the_softmax_too_is_no_table_of_padding(
    name, option, separate, tied
):
    for value, expected in ((False, separate), (True, tied)):
        if expected is None:
            continue
        model = build(find_model(name), **({option: value} if option else {}))
        found = [path_of(model, table) for table in padding_tables(model)]
        assert found == [f"{layer}/table" for layer in expected]
