"""Every text of every picture may hold any characters: nothing is a formula or breaks the file."""

import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.text import Text

from tests.plots.test_attention import SCRIPTS, weights
from zoo.plots import (
    Heads,
    Shaded,
    alignment,
    document,
    growth_by_size,
    heads,
    save_figure,
    scores_by_length,
    words_over_image,
)

FORBIDDEN = "".join(map(chr, [*range(32), 0x7F, 0x85, 0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFF]))
ODD = [f"$\\frac{{{one}$ -->]]> &lt; {FORBIDDEN}" for one in ("שלום", "\ud800", "埃菲")]
NUMBERS = [1.0] * len(ODD)


def pictures():
    tokens = [*SCRIPTS, *ODD]
    square = weights(len(tokens), len(tokens))
    shaded = Shaded(np.ones(len(tokens)), tokens)
    grid = Heads(square[None, None], tokens, tokens)
    sized = {name: {1: 1.0, 2: 4.0} for name in ODD}
    names = {"title": ODD[0], "note": ODD[1]}
    return {
        "alignment": alignment(square, tokens, tokens, title=ODD[0]),
        "caption": words_over_image(
            np.ones((8, 8)), tokens, np.ones((len(tokens), 4)), (2, 2), title=ODD[0]
        ),
        "document": document(dict.fromkeys(ODD, shaded), marked=ODD[1], title=ODD[2]),
        "heads": heads(dict.fromkeys(ODD[:2], grid), title=ODD[2]),
        "growth": growth_by_size(dict.fromkeys(ODD, sized), size_name=ODD[0], **names),
        "scores": scores_by_length(
            ODD,
            dict.fromkeys(ODD, NUMBERS),
            score_name=ODD[0],
            length_name=ODD[1],
            **names,
        ),
    }


@pytest.fixture(scope="module")
def drawn():
    return pictures()


@pytest.mark.parametrize("name", ["alignment", "caption", "document", "heads", "growth", "scores"])
def test_any_text_is_written_as_it_is(drawn, name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of characters without a glyph, too
        path = save_figure(drawn[name], tmp_path / "picture.svg")
        save_figure(drawn[name], tmp_path / "picture.png", dpi=30)
    ET.parse(path)
    found = [text for text in drawn[name].findobj(Text) if "frac" in text.get_text()]
    assert found
    assert not any(text.get_parse_math() for text in found)
    assert not {*"".join(text.get_text() for text in found)} & {*FORBIDDEN.replace("\n", "")}
