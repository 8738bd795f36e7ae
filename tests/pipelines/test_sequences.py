"""Pipelines of learnt algorithms: sequences of vectors in, bits out."""

import numpy as np
import pytest

import zoo
from tests.contracts.subjects import build
from zoo.models.core.registry import find_model
from zoo.pipelines.results import Bits
from zoo.serving.cards import DataRecord
from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint
from zoo.tasks.shared.endpoints import export_endpoint

TOLD = {"metrics": {"loss": 1.0}, "seed": 0, "seconds": 0.0}
RECORD = DataRecord("sample", "train", "test")


def machine(folder, name):
    endpoint = AlgorithmEndpoint(build(find_model(name)))
    export_endpoint(folder, endpoint, task="algorithms", data=RECORD, **TOLD)
    return zoo.pipeline(folder)


@pytest.fixture(scope="module")
def copier(tmp_path_factory):
    return machine(tmp_path_factory.mktemp("machine") / "model", "NeuralTuringMachine")


def test_an_algorithm_gives_bits_at_each_step(copier):
    generator = np.random.default_rng(0)
    sequences = [generator.normal(size=(steps, 5)).astype("float32") for steps in (4, 2, 1)]
    padded = np.zeros((3, 4, 5), "float32")
    for row, one in enumerate(sequences):
        padded[row, : len(one)] = one
    outputs = copier.servable.ask({"vectors": padded, "length": [4, 2, 1]})
    results = copier(sequences, batch_size=2)
    for row, (found, one) in enumerate(zip(results, sequences, strict=True)):
        steps = len(one)
        assert type(found) is Bits
        assert [bits.encode() for bits in found.bits] == outputs["bits"][row, :steps].tolist()
        chances = outputs["probabilities"][row, :steps]
        np.testing.assert_allclose(found.probabilities, chances, rtol=1e-4)
        assert found.score == pytest.approx(np.maximum(chances, 1 - chances).mean(), rel=1e-4)
        weights = outputs["attention_read"][row, :, :steps]
        np.testing.assert_allclose(found.attention["read"].weights, weights, rtol=1e-4, atol=1e-6)
        assert len(found.plot().axes) >= 6
    assert "data:image/png;base64," in results[1]._repr_html_()
    alone = copier(vectors=sequences[1].tolist())
    assert alone.bits == results[1].bits
    assert [one.bits for one in copier(padded[:1])] == [results[0].bits]


def test_a_model_without_memory_has_bits_and_no_picture(tmp_path):
    found = machine(tmp_path / "model", "LSTMTransducer")([[0.5] * 5] * 2)
    assert len(found.bits) == 2
    assert found.attention == {}
    assert "<img" not in found._repr_html_()


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, r"inputs of model must be vectors, got 0 and \[\]"),
        (([[1.0] * 5],), {"vectors": [[1.0] * 5]}, r"got 1 and \['vectors'\]"),
        ((3,), {}, "vectors must be a sequence of vectors or a list of these, got int '3'"),
        ((np.array(3.0),), {}, "vectors must be a sequence of vectors or .*, got ndarray '3.0'"),
        (({((1.0,) * 5,)},), {}, "vectors must be a sequence of vectors or .*, got set"),
        (([[10**400] * 5],), {}, r"vectors\[0\] must be numbers of the shape \(steps, size\)"),
        (([1.0, 2.0],), {}, r"vectors\[0\] must be numbers of the shape \(steps, size\), got '1"),
        (([[["a"] * 5]],), {}, r"vectors\[0\] must be numbers of the shape"),
        (([[[1.0] * 5], [[1.0] * 4]],), {}, r"the same size in all sequences, got \[4, 5\]"),
        (([[1.0] * 4],), {}, r"vectors must have the shape \(None, None, 5\), got \(1, 1, 4\)"),
    ],
)
def test_other_sequences_are_refused(copier, given, named, message):
    with pytest.raises(ValueError, match=message):
        copier(*given, **named)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_vectors_that_are_not_finite_are_refused(copier, value):
    """One would stay in the memory, and every later step be wrong."""
    sequences = np.zeros((2, 3, 5))
    sequences[1, 2, 4] = value
    with pytest.raises(ValueError, match=r"vectors\[1\] must be finite numbers, got .* at 2"):
        copier(sequences)
