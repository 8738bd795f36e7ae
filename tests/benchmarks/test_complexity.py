"""Layers by length: what is measured, where it ends, how it is told."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import zoo.benchmarks.complexity as benchmark
from recipes.benchmark import main
from zoo.benchmarks.complexity import (
    LAYERS,
    USES,
    LayerComplexity,
    draw,
    foretold,
    growth_exponent,
    make_call,
    make_layer,
    markdown,
    measure_point,
)
from zoo.quiet import LEVEL
from zoo.training.json_files import read_json

TINY = LayerComplexity(lengths=(8, 16), width=4, num_heads=2, window=5, calls=1, clock="cpu")
TABLES = ["forward, ms", "forward, MB", "forward and backward, ms", "forward and backward, MB"]


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_keeps_the_shape_and_learns(layer):
    apply, weights = make_layer(TINY, layer)
    inputs = tf.random.stateless_normal((1, 7, 4), (0, 0))
    with tf.GradientTape() as tape:
        outputs = apply(inputs)
    assert outputs.shape == inputs.shape
    assert weights
    for gradient in tape.gradient(outputs, weights, output_gradients=inputs):
        assert np.abs(gradient).max() > 0


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("layer", LAYERS)
def test_one_function_serves_every_length(layer, use, monkeypatch):
    """Else a figure would hold the time and the memory of making a graph."""
    traces = []

    def counted(settings, name):
        apply, weights = make_layer(settings, name)
        return lambda inputs: traces.append(inputs.shape) or apply(inputs), weights

    monkeypatch.setattr(benchmark, "make_layer", counted)
    call = make_call(TINY, layer, use)
    for length in (1, 8, 33):
        call(tf.ones((1, length, 4)))
    assert [tuple(shape) for shape in traces] == [(1, None, 4)]


def test_a_point_has_a_time_and_the_memory_above_what_there_was_before():
    milliseconds, megabytes = measure_point(TINY, "restricted", "forward", 16)
    assert milliseconds > 0
    assert megabytes >= 0


@pytest.fixture
def pretended(monkeypatch):
    """Figures as they would be: quadratic for self-attention, else linear; what was asked for."""
    asked = []

    def measured(settings, layer, use, length):
        asked.append((layer, use, length))
        power = 2 if layer == "self-attention" else 1
        return 0.5 * length**power, (USES.index(use) + 1) * 2.0 * length**power

    monkeypatch.setattr(benchmark, "measure_in_child", measured)
    return asked


LONG = LayerComplexity(lengths=(1, 10, 100), memory_limit=25)


def test_self_attention_ends_where_it_would_take_more_memory_than_the_limit(pretended):
    lines = []
    figures = LONG.measure(lines.append)
    assert list(figures) == TABLES
    for name, table in figures.items():
        assert list(table) == list(LAYERS)
        for layer, line in table.items():
            expected = [1, 10, 100]
            if layer == "self-attention":  # 20,000 and 40,000 MB at 100
                expected = [1, 10, 100][: 3 if name.startswith("forward,") else 2]
            assert list(line) == expected, name
    assert len(pretended) == len(lines) - 1 == 2 * len(LAYERS) * 3 - 1
    assert "self-attention, forward, n = 10: 50 ms, 200.0 MB" in lines
    skipped = "self-attention, forward and backward, n = 100: not measured, about 40,000 MB"
    assert skipped in lines


def test_the_table_says_what_was_not_measured_and_how_figures_grow(pretended):
    figures = LONG.measure()
    header, rule, row, other = markdown(LONG, TABLES[3], figures[TABLES[3]]).splitlines()[:4]
    assert header == "| forward and backward, MB | 1 | 10 | 100 | grows as |"
    assert rule == "| --- | --- | --- | --- | --- |"
    assert row == "| self-attention | 4.00 | 400 | over 25 GB | n^2.00 |"
    assert other == "| restricted | 4.00 | 40.0 | 400 | n^1.00 |"
    table = {"recurrent": {1: 0.2, 10: 0.0}}
    assert "| under 1 | under 1 | over 25 GB |  |" in markdown(LONG, "forward, MB", table)
    table = {"recurrent": {1: 0.01234, 10: 99.97, 100: 12345.6}}
    assert "| 0.0123 | 100 | 12,346 | n^2.09 |" in markdown(LONG, "forward, ms", table)


def test_only_what_was_measured_foretells():
    assert foretold({}, 100, 2) == 0.0
    assert foretold({10: (1.0, 1.0), 20: (1.0, 5.0)}, 40, 2) == 20.0
    assert growth_exponent({8: 3.0}) is None
    assert growth_exponent({8: 0.0, 16: 1.0}) is None
    np.testing.assert_allclose(growth_exponent({2: 9.0, 16: 1.0, 8: 4.0}), -2.0)


def test_the_picture_has_a_line_a_layer_and_none_of_what_is_too_little(pretended):
    figures = LONG.measure()
    figures["forward, MB"]["recurrent"] = {1: 0.0, 10: 0.5, 100: 2.0}
    figure = draw(LONG, figures)
    assert [axes.get_title() for axes in figure.axes] == TABLES
    for axes in figure.axes:
        assert [line.get_label() for line in axes.get_lines()] == list(LAYERS)
    line = figure.axes[1].get_lines()[2]
    np.testing.assert_array_equal(line.get_xdata(), [100])
    figures["forward, MB"] = {"recurrent": {1: 0.0}}
    assert [axes.get_title() for axes in draw(LONG, figures).axes if axes.axison] == [
        name for name in TABLES if name != "forward, MB"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": ()}, r"lengths must be one or more, positive and ascending, got \(\)"),
        ({"lengths": (4, 2)}, r"lengths must be .*, got \(4, 2\)"),
        ({"lengths": (0, 2)}, r"lengths must be .*, got \(0, 2\)"),
        ({"calls": 0}, "calls must be at least 1, got 0"),
        ({"width": 6, "num_heads": 4}, "num_heads must be a divisor of width, 6, got 4"),
        ({"window": 4}, "window must be an odd number, got 4"),
    ],
)
def test_settings_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        LayerComplexity(**change).measure()


def test_a_process_that_is_killed_is_named(monkeypatch):
    class Killed:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, *_):
            raise benchmark.BrokenProcessPool("terminated abruptly")

    monkeypatch.setattr(benchmark, "ProcessPoolExecutor", Killed)
    message = re.escape("the process that measured self-attention, forward, n = 8, was killed")
    with pytest.raises(ChildProcessError, match=message):
        main(TINY)


def test_command_measures_in_children_prints_tables_and_draws(tmp_path):
    flags = ["--lengths", "8", "--layers", "restricted", "--width=4", "--num-heads=2", "--window=5"]
    flags += ["--calls=1", "--threads=1", "--run-dir", str(tmp_path / "run")]
    command = [sys.executable, "-m", "recipes.benchmark", "complexity", *flags]
    environment = {name: value for name, value in os.environ.items() if name != LEVEL}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True, env=environment
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.endswith("| 8 | grows as |")] == [
        f"| {name} | 8 | grows as |" for name in TABLES
    ]
    assert lines[-1] == str(tmp_path / "run" / "complexity.png")
    assert (tmp_path / "run" / "complexity.png").read_bytes().startswith(b"\x89PNG")
    result = read_json(tmp_path / "run" / "result.json")
    assert result["settings"]["window"] == 5
    assert list(result["figures"]) == TABLES
    assert result["figures"]["forward, ms"]["restricted"]["8"] > 0
    assert lines[0].startswith("restricted, forward, n = 8: ")
