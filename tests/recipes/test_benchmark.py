"""The benchmarks run, in tiny sizes, and print a table."""

import dataclasses
import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recipes.benchmark import main
from zoo.benchmarks import load as load_benchmark
from zoo.benchmarks.answers import AnswerSpeed
from zoo.benchmarks.attention import AttentionSpeed
from zoo.benchmarks.classification import SIZES, ClassificationSpeed
from zoo.benchmarks.load import ServerLoad
from zoo.benchmarks.lstmn import BY_LENGTH, WHOLE_STEP, TapeSpeed
from zoo.benchmarks.steps import ROWS, StepSpeed
from zoo.benchmarks.structures import StructureSpeed
from zoo.benchmarks.translation import TranslationSpeed, measure_row, row_names
from zoo.models.core.registry import find_model, models
from zoo.quiet import LEVEL
from zoo.serving.load import resolve

TINY = {"preset": "tiny", "vocabulary_size": 13, "batch_size": 4, "steps": 2, "maximum_length": 3}


def test_every_translation_model_has_a_row():
    names = {row.split(",")[0] for row in row_names()}
    assert names == {name for name, entry in models().items() if entry.task == "translation"}
    for name in names:
        assert TranslationSpeed().preset in find_model(name).cls.PRESETS, name


@pytest.mark.parametrize("row", ["LuongTranslator, local", "RNNsearch"])
def test_a_row_holds_speeds_and_memory(row):
    figures = measure_row(TranslationSpeed(**TINY, calls=2, clock="cpu"), row)
    assert list(figures) == [
        "training target tokens/s",
        "greedy, 1 a batch, sentences/s",
        "greedy, 32 a batch, sentences/s",
        "beam 5, 1 a batch, sentences/s",
        "beam 5, 32 a batch, sentences/s",
        "peak memory, MB",
    ]
    assert all(value > 0 for value in figures.values())


def test_an_unknown_row_is_named():
    with pytest.raises(ValueError, match=r"models must be some of \[.*\], got \['Nobody'\]"):
        main(TranslationSpeed(models=("Nobody",)))


def test_command_measures_in_a_process_a_model_and_prints_a_table():
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    command = [sys.executable, "-m", "recipes.benchmark", "translation", *flags, "--calls=2"]
    command += ["--models", "RNNencdec", "--threads=1"]
    environment = {name: value for name, value in os.environ.items() if name != LEVEL}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True, env=environment
    )
    assert done.stderr == ""
    header, row = done.stdout.splitlines()[-2:]
    assert "training target tokens/s" in header
    assert "peak memory, MB" in header
    assert row.startswith("RNNencdec ")


def test_a_server_answers_rightly_under_load(capsys, monkeypatch):
    monkeypatch.setattr(load_benchmark, "_WARM_UP", 0.2)
    monkeypatch.setattr(load_benchmark, "_TEXTS", 20)
    seconds = 1
    table = main(ServerLoad(seconds=seconds))
    assert set(table) == {"squad_dcn", "multi30k_transformer_en_de"}
    for row in table.values():
        assert row["answers"] > 64
        assert row["wrong"] == row["failed"] == 0
        assert 0 < row["median, ms"] <= row["99 %, ms"]
        assert 0 < row["answers/s"] < row["answers"] / seconds
    assert "share of direct" in capsys.readouterr().out


def test_a_model_is_asked_where_the_server_serves_it(tmp_path):
    (tmp_path / "my model").symlink_to(resolve("sst_lstmn"), target_is_directory=True)
    with load_benchmark.serving(str(tmp_path / "my model")) as (port, path):
        assert path == "/v1/models/my%20model:predict"
        with load_benchmark._Connection(port, path) as connection:
            status, _, _ = connection.ask(json.dumps({"instances": ["good"]}).encode())
    assert status == 200


def test_a_server_that_closes_connections_is_not_taken_for_one_that_answers():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close_all():
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=close_all, daemon=True)
        thread.start()
        told = load_benchmark._Told()
        port = server.getsockname()[1]
        load_benchmark._ask_for(0.3, port, "/v1/models/x:predict", [{"text": "a"}], ["b"], 2, told)
    assert told.failed > 0
    assert (told.seconds, told.wrong, told.refused) == ([], 0, 0)


@pytest.mark.parametrize("answer", ["right", "wrong", "right, but longer"])
def test_every_answer_is_compared(answer):
    body = json.dumps({"predictions": [{"score": 1.0, "answer": answer}]}, separators=(",", ":"))
    reply = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    told = load_benchmark._Told()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            while self.request.recv(4096):
                self.request.sendall(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port, questions = server.server_address[1], [{"text": "a"}]
        load_benchmark._ask_for(0.2, port, "/v1/models/x:predict", questions, ["right"], 2, told)
        server.shutdown()
    assert told.failed == told.refused == 0 < len(told.seconds)
    assert told.wrong == (0 if answer == "right" else len(told.seconds))


def test_attention_by_length_of_the_source(capsys):
    settings = AttentionSpeed(lengths=(5, 8), batch_size=2, steps=2, calls=1)
    table = main(settings)
    assert set(table) == {
        f"{mechanism}, {use}, ms a step"
        for mechanism in ("global", "local_m", "local_p")
        for use in ("decoding", "training")
    }
    assert all(list(row) == ["S = 5", "S = 8"] and min(row.values()) > 0 for row in table.values())
    assert "S = 8" in capsys.readouterr().out


def test_a_tape_by_length_and_window_and_beside_an_lstm(capsys):
    sizes = {"embedding_dim": 3, "hidden_dim": 4, "vocabulary_size": 9, "segment_length": 5}
    settings = TapeSpeed(
        lengths=(4, 6), windows=(2,), batch_size=2, carried_slots=2, steps=1, calls=1, **sizes
    )
    tables = main(settings)
    assert list(tables) == [BY_LENGTH, WHOLE_STEP]
    assert list(tables[BY_LENGTH]) == ["window 2", "window all"]
    assert all(list(row) == ["T = 4", "T = 6"] for row in tables[BY_LENGTH].values())
    assert list(tables[WHOLE_STEP]) == ["Keras LSTM", "LSTMN", "LSTMN, carried"]
    assert tables[WHOLE_STEP]["Keras LSTM"]["times the LSTM's"] == 1.0
    assert all(min(row.values()) > 0 for table in tables.values() for row in table.values())
    printed = capsys.readouterr().out
    assert f"{WHOLE_STEP}:" in printed
    assert "T = 6" in printed


@pytest.mark.parametrize("name", SIZES)
def test_classifiers_have_speeds_of_training_and_inference(name, capsys):
    sizes = {"text_words": 5, "pair_batch_size": 3, "text_batch_size": 3, "vocabulary_size": 9}
    table = main(ClassificationSpeed(models=(name,), **sizes, steps=2, rounds=2, clock="cpu"))
    assert list(table) == [name]
    assert list(table[name]) == ["training, examples/s", "inference, examples/s"]
    assert all(value > 0 for value in table[name].values())
    assert name in capsys.readouterr().out


def test_an_unknown_classifier_is_named():
    with pytest.raises(ValueError, match=r"models must be some of \[.*\], got \['Nobody'\]"):
        main(ClassificationSpeed(models=("Nobody",)))


def test_images_and_memories_have_speeds_of_training_and_inference(capsys):
    rows = ("glimpses, 28 x 28, one scale", "memory, batch 1")
    table = main(StepSpeed(rows=rows, batch_size=2, steps=1, rounds=1, clock="cpu"))
    assert list(table) == list(rows)
    for figures in table.values():
        assert list(figures) == ["training, examples/s", "inference, examples/s"]
        assert min(figures.values()) > 0
    assert "memory, batch 1" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"rows must be some of \[.*\], got \['none'\]"):
        main(StepSpeed(rows=("none",)))


def test_every_row_of_steps_has_a_model_that_can_be_built():
    assert {row.model for row in ROWS.values()} <= set(models())
    for row in ROWS.values():
        models()[row.model].cls(**row.sizes)


def test_structures_have_times_of_marginals_and_gradients(capsys):
    table = main(StructureSpeed(chain_length=3, words=(2,), calls=1, rounds=1, clock="cpu"))
    assert list(table) == [
        "chain of 3, marginals",
        "chain of 3, marginals of pairs",
        "tree of 2 words, marginals",
    ]
    for figures in table.values():
        assert list(figures) == ["forward, ms", "with gradient, ms"]
        assert min(figures.values()) > 0
    assert "tree of 2 words" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["flickr8k_caption_soft", "squad_dcn"])
def test_a_shipped_model_is_asked_the_example_of_its_card_or_a_long_text(name, capsys):
    folder = Path("saved_models") / name
    width = 2 if name == "flickr8k_caption_soft" else None
    settings = AnswerSpeed(folder, words=20, batch_size=2, calls=1, beam_width=width, clock="cpu")
    figures = main(settings)
    assert list(figures) == [
        "milliseconds, batch of 1",
        "milliseconds, batch of 2",
        "throughput of the batch over one",
    ]
    assert min(figures.values()) > 0
    assert "milliseconds, batch of 2: " in capsys.readouterr().out
    if name == "squad_dcn":
        figures = main(dataclasses.replace(settings, batch_size=1))
        assert list(figures) == ["milliseconds, batch of 1", "throughput of the batch over one"]
        assert figures["throughput of the batch over one"] == 1


@pytest.mark.parametrize("name", ["sick_decomposable", "squad_dcn"])
def test_a_model_without_a_search_has_no_beam(name):
    with pytest.raises(ValueError, match="beam_width must be None for a model without a search"):
        main(AnswerSpeed(Path("saved_models") / name, beam_width=3))
