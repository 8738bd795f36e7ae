"""Raw text to tokens, alike in Python and in the graph."""

import pytest
import tensorflow as tf

from zoo.data.penn import PENN_RULES, penn_tokens

TEXTS = {
    '"Wait," said Ada.': "`` Wait , '' said Ada .",
    "She said: \u201cI don\u2019t know\u2014ask Tom.\u201d": (
        "She said : `` I do n't know -- ask Tom . ''"
    ),
    "Mr. Brown and Mrs. O. Smith can't, they'll see": (
        "Mr. Brown and Mrs. O. Smith ca n't , they 'll see"
    ),
    "It's Ada's (old) hat--or [hers]?": "It 's Ada 's -LRB- old -RRB- hat -- or [ hers ] ?",
    "At 10:30, 1,000 men... and more\u2026": "At 10:30 , 1,000 men ... and more ...",
    "the boys' den; we cannot go!": "the boys ' den ; we can not go !",
    "'Come,' he said. 'Tis late": "` Come , ' he said . 'Tis late",
    "It was I. At 5 p.m. in the U.S. they": "It was I . At 5 p.m. in the U.S. they",
    "XXXXX's hat, said XXXXX.": "XXXXX 's hat , said XXXXX .",
    "@entity12 met @entity3": "@entity12 met @entity3",
    "I was goin' home an' \u2018Tis late": "I was goin' home an' 'Tis late",
    "LET 'S go , `` Tis late , etc.": "LET 'S go , `` Tis late , etc.",
    "well-known\u00a0things": "well-known things",
    "": "",
    " \t\n": "",
}


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_cut_as_the_treebank_does(text):
    assert " ".join(penn_tokens(text)) == TEXTS[text]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_stay_as_they_are(text):
    assert " ".join(penn_tokens(TEXTS[text])) == TEXTS[text]


def test_the_rules_mean_the_same_to_tensorflow():
    strings = tf.constant([*TEXTS, *TEXTS.values()])
    for pattern, new in PENN_RULES:
        strings = tf.strings.regex_replace(strings, pattern, new)
    tokens = [" ".join(text.decode().split()) for text in strings.numpy()]
    assert tokens == [*TEXTS.values()] * 2
