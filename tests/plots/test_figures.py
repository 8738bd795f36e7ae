"""Files of pictures appear whole, in the format that their ending says."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import zoo
from zoo.plots import alignment, save_figure
from zoo.plots.figures import pick_row, window_around


@pytest.mark.parametrize(
    ("name", "signature"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_figures_are_written_in_the_format_of_their_ending(tmp_path, name, signature):
    path = save_figure(alignment([[1.0]], ["a"], ["b"]), tmp_path / name)
    assert path.read_bytes().startswith(signature)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in one of .*png.*, got '.*a\.doc'"):
        save_figure(alignment([[1.0]], ["a"], ["b"]), tmp_path / "a.doc")


def test_a_picture_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"old")
    figure = alignment([[1.0]], ["a"], ["b"])

    def fail(partial, **_):
        partial.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="no space left"):
        save_figure(figure, tmp_path / "a.png")
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"old"


def test_no_pyplot_is_loaded():
    """Its figures stay in memory until they are closed, and it may ask for a display."""
    code = "import sys, zoo.plots; print('matplotlib.pyplot' in sys.modules)"
    root = Path(zoo.__file__).parents[1]
    child = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True)
    assert child.stdout.strip() == b"False"


def test_a_row_is_picked_with_its_length():
    result = {"text_length": [3, 0], "score": np.array([[1.0, 2.0], [3.0, 4.0]])}
    picked, length = pick_row(result, 0, "text")
    assert length == 3
    assert picked["score"].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="row must be in a batch of 2, got -1"):
        pick_row(result, -1, "text")
    with pytest.raises(ValueError, match="row 1: its text has no token to draw"):
        pick_row(result, 1, "text")


@pytest.mark.parametrize(
    ("middle", "length", "expected"),
    [(0, 3, (0, 3)), (2, 20, (0, 5)), (10, 20, (8, 13)), (19, 20, (15, 20)), (4, 5, (0, 5))],
)
def test_a_window_is_as_wide_as_allowed_and_within_the_text(middle, length, expected):
    assert window_around(middle, length, 5) == slice(*expected)
