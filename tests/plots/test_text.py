"""Fonts for any script, and the direction in which it is written."""

import pytest

from zoo.plots import text
from zoo.plots.text import as_text, drawable_text, font_families, reads_right_to_left


@pytest.fixture
def only_fonts(monkeypatch):
    """Lets only the named fonts be installed beside those of Matplotlib's settings."""
    installed = text._installed()

    def choose(*names):
        chosen = tuple(entry for entry in installed if entry.name in names)
        monkeypatch.setattr(text, "_installed", lambda: chosen)

    text._other_family.cache_clear()
    yield choose
    text._other_family.cache_clear()


def test_a_character_is_looked_for_in_all_installed_fonts(only_fonts):
    only_fonts("STIXGeneral")
    own = text._fonts()[1]
    stix = text._installed()[0].fname
    character = chr(next(code for code in sorted(text._characters(stix) - own) if code > 0x2000))
    assert drawable_text(f"a{character}", 9) == f"a{character}"
    assert font_families([f"a{character}"]) == [*font_families(), "STIXGeneral"]
    assert "STIXGeneral" not in font_families(["abc"])


def test_what_no_font_has_is_a_box(only_fonts):
    only_fonts()
    assert drawable_text("埃菲爾鐵塔 x", 9) == "□ x"
    assert font_families(["埃"]) == font_families()


def test_fonts_that_only_stand_in_are_not_used():
    names = {entry.name for entry in text._installed()}
    assert "DejaVu Sans" in names
    assert not names & {"Last Resort High-Efficiency", "cmr10", "cmex10", "STIXSizeOneSym"}


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["שלום", "!"], True),
        (["العربية".encode(), b"2014"], True),
        (["a", "word"], False),
        (["1", "?"], False),
        ([], False),
        (["שלום", "in an English sentence"], False),
    ],
)
def test_the_direction_of_most_letters_counts(tokens, expected):
    assert reads_right_to_left(tokens) == expected


def test_bytes_are_utf_8():
    assert as_text("é".encode()) == "é"
    assert as_text(b"\xff") == "\N{REPLACEMENT CHARACTER}"
