"""Invisible characters: those that the case folding of Unicode removes, and no others."""

import sys

import tensorflow as tf
import tensorflow_text as tf_text

from zoo.portable.runner import words
from zoo.text.invisible import IN_GRAPHS, drop_invisible

SURROGATES = range(0xD800, 0xE000)
ALL = [f"a{chr(code)}b" for code in range(1, sys.maxunicode + 1) if code not in SURROGATES]


def test_they_are_those_that_case_folding_removes():
    normal = tf_text.normalize_utf8(tf.constant(ALL), "NFKC")
    expected = (tf_text.case_fold_utf8(normal) == "ab").numpy()
    assert expected.sum() == 4174
    assert [drop_invisible(text) == "ab" for text in ALL] == expected.tolist()
    in_graph = tf.strings.regex_replace(tf.constant(ALL), IN_GRAPHS, "") == "ab"
    assert in_graph.numpy().tolist() == expected.tolist()
    assert [words._INVISIBLE.sub("", text) == "ab" for text in ALL] == expected.tolist()
