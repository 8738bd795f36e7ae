"""Models that answer in a way that a runner does not know are not exported for it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from zoo.portable.described import describe
from zoo.portable.runner import writing
from zoo.portable.tokenizers import _joined_by_spaces


@pytest.mark.parametrize(
    ("task", "tokenizer", "message"),
    [
        ("cloze", {"readings": 8}, "readings must be 1 in a portable export, got 8"),
        ("translation", {"convention": "input"}, "convention must be predicted .*, got input"),
        ("translation", {"dictionary": True}, "dictionary must be False .*, got True"),
    ],
)
def test_answers_in_a_way_that_the_runner_does_not_know_are_refused(task, tokenizer, message):
    model = SimpleNamespace(input_kinds=dict)
    assert describe(Path("mine"), SimpleNamespace(task=task, tokenizer={}), model) == {}
    with pytest.raises(ValueError, match=f"^mine: {message}"):
        describe(Path("mine"), SimpleNamespace(task=task, tokenizer=tokenizer), model)


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["a", "dog", "Straße"], True),
        (["a", "dog", "."], False),
        (["一", "只", "狗"], False),
        (["イヌ", "dog"], False),
        (["１", "dog"], False),
    ],
)
def test_words_are_joined_only_where_a_space_stands_between_any_two(words, known, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\n".join(["<pad>", "<unk>", "<s>", "</s>", *words]) + "\n", encoding="utf-8")
    assert _joined_by_spaces(path) == known


def test_a_word_beyond_those_that_are_read_is_not_copied(monkeypatch):
    """Three of six words are read; the unknown one is aligned most with `</s>`, then with c."""
    found = SimpleNamespace(tokens=[1], score=0.0, alignment=[np.array([0.1, 0.0, 0.3, 0.6])])
    monkeypatch.setattr(writing, "_find", lambda *_: [found])
    model = SimpleNamespace(
        manifest={"limits": {"maximum_source_tokens": 4}},
        tokens=lambda ids, _: ["<unk>"] * len(ids),
        decode=" ".join,
    )
    given = {"text": ([4, 5, 6, 7, 8, 9], [*"abcdef"], None)}
    assert writing.translate(model, given)["translation"] == "c"
