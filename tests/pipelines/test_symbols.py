"""Pipelines of algorithms on symbols: strings in, strings out."""

import io
import sys

import numpy as np
import pytest

import zoo
from tests.contracts.subjects import build
from zoo.cli.main import main
from zoo.models.core.registry import find_model
from zoo.pipelines.results import SymbolAnswer
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.symbols.endpoint import SymbolEndpoint
from zoo.text.symbols import SymbolCodec


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An untrained Neural GPU."""
    found = tmp_path_factory.mktemp("symbols") / "machine"
    endpoint = SymbolEndpoint(build(find_model("NeuralGPU")), SymbolCodec("abcdefg"))
    record = DataRecord("sample", "train", "test")
    told = {"metrics": {"loss": 1.0}, "seed": 0, "seconds": 0.0}
    export_endpoint(found, endpoint, task="symbols", data=record, **told)
    return found


def test_answers_are_those_of_the_signature(folder):
    machine = zoo.pipeline(folder)
    texts = ["abc", "", "gfeab"]
    outputs = machine.servable.ask({"symbols": texts})
    for row, (text, result) in enumerate(zip(texts, machine(texts, batch_size=2), strict=True)):
        assert isinstance(result, SymbolAnswer)
        assert result.answer.encode() == outputs["answer"][row]
        chances = outputs["probabilities"][row, : len(text)]
        np.testing.assert_allclose(result.probabilities, chances, rtol=1e-5)
        assert result.score == pytest.approx(chances.min(initial=1.0) if text else 0.0)
        assert result.tokens["symbols"] == tuple(text)
        size = len(text)
        np.testing.assert_allclose(
            result.attention["change"], outputs["attention_change"][row, :size, :size], atol=1e-6
        )
    assert machine(symbols="abc").answer == machine(texts)[0].answer


def test_the_command_line_reads_a_text_a_line(folder, capsys, monkeypatch):
    class Lines:
        buffer = io.BytesIO(b"abc\ngfeab\n")

        @staticmethod
        def isatty():
            return False

    monkeypatch.setattr(sys, "stdin", Lines)
    monkeypatch.setattr("sys.argv", ["zoo", "run", str(folder)])
    main()
    expected = [one.answer for one in zoo.pipeline(folder)(["abc", "gfeab"])]
    assert capsys.readouterr().out.splitlines() == expected
