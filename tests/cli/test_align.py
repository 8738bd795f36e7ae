"""`align`: links of given translations, and their error rate."""

from pathlib import Path

import pytest

from zoo.cli.align import Align
from zoo.metrics.alignment import aer, read_pharaoh
from zoo.metrics.symmetrisation import flip_links, symmetrise

MODEL = "multi30k_rnnsearch_en_de"
ENGLISH = ["A dog runs .", "Two men play football ."]
GERMAN = ["Ein Hund rennt .", "Zwei Männer spielen Fußball ."]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    sides = {"source": tmp_path / "pairs.en", "target": tmp_path / "pairs.de"}
    for path, lines in zip(sides.values(), (ENGLISH, GERMAN), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return sides


def test_links_and_their_error_rate(files, tmp_path: Path, capsys) -> None:
    Align(MODEL, **files)()
    printed = capsys.readouterr().out
    found = read_pharaoh(printed.splitlines())
    lengths = [(4, 4), (5, 5)]
    assert [len(one.sure) for one in found] == [target for _, target in lengths]
    diagonal = [{(n, n) for n in range(source)} for source, _ in lengths]
    assert aer(diagonal, found, lengths) < 0.5  # both sentences have the same order
    out = tmp_path / "out.align"
    Align(MODEL, **files, out=out)()
    assert capsys.readouterr().out == f"{out}\n"
    assert out.read_text() == printed
    Align(MODEL, **files, gold=out)()
    assert capsys.readouterr().out == "alignment error rate: 0.00 %\n"
    gold = tmp_path / "gold.wa"
    gold.write_text("".join(f"{p} {n} {n}\n" for p in (1, 2) for n in range(1, 5)))
    rate = aer([one.sure for one in found], read_pharaoh(["0-0 1-1 2-2 3-3"] * 2))
    for first in (None, 1):  # as usual in a file with a link a line
        Align(MODEL, **files, gold=gold, gold_first=first)()
        assert capsys.readouterr().out == f"alignment error rate: {100 * rate:.2f} %\n"


def test_links_of_both_directions_are_joined(files, tmp_path: Path, capsys) -> None:
    """There is no translator of the other direction here; any has links to join."""
    turned = {"source": files["target"], "target": files["source"]}
    results = []
    for given, options in (
        (files, {}),
        (turned, {}),
        (files, {"backward": MODEL, "method": "intersection"}),
    ):
        Align(MODEL, **given, **options)()
        lines = capsys.readouterr().out.splitlines()
        results.append([one.sure for one in read_pharaoh(lines)])
    forward, backward, joined = results
    wanted = [
        symmetrise(a, flip_links(b), "intersection") for a, b in zip(forward, backward, strict=True)
    ]
    assert joined == wanted
    assert any(wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "union"}, "backward must be given with method, got method union alone"),
        ({"gold_first": 0}, "gold must be given with gold_first, got gold_first 0 alone"),
        ({"drop_outside": True}, "gold must be given with drop_outside, got drop_outside alone"),
    ],
)
def test_options_that_would_change_nothing_are_refused(options, message, files) -> None:
    with pytest.raises(ValueError, match=message):
        Align(MODEL, **files, **options)()


@pytest.mark.parametrize("threshold", ["5", "1.0001", "0", "-1", "nan", "inf"])
def test_a_threshold_that_no_weight_or_every_one_reaches_is_refused(threshold, files, zoo_command):
    options = ["--source", files["source"], "--target", files["target"]]
    code, said = zoo_command("align", MODEL, *options, "--threshold", threshold)
    message = f"error: threshold must be above 0 and at most 1, got {float(threshold)}"
    assert (code, said.out) == (message, "")


def test_a_threshold_links_all_words_with_so_large_a_weight(files, capsys) -> None:
    counts = []
    for threshold in (0.01, 0.5, 1.0):
        Align(MODEL, **files, threshold=threshold)()
        lines = capsys.readouterr().out.splitlines()
        counts.append(sum(len(one.sure) for one in read_pharaoh(lines)))
    assert counts[0] > counts[1] > counts[2]


def test_what_cannot_be_aligned_is_refused(files, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must hold a translator, got a model whose task"):
        Align("squad_dcn", **files)()
    files["target"].write_text("Ein Hund rennt .\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"pairs\.de must have 2 lines, as .*, got 1"):
        Align(MODEL, **files)()
