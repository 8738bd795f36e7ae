"""Penn Treebank tokenisation of raw text, as in cloze data.

The rules are patterns and replacements that mean the same to Python's `re` and TensorFlow's
`regex_replace`, so that questions made from books and served models are tokenised alike. Tokenised
text stays unchanged, except in rare cases (a sentence that ends in a single letter).

Double quotes become `` and '', round brackets -LRB- and -RRB-; `n't`, `'s`, `'ll` ... are tokens;
abbreviations keep their full stop, and so do initials.
"""

import re

_TITLES = (
    "Mr|Mrs|Ms|Messrs|Mme|Mlle|Dr|St|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|Jr|Sr|Esq|Bros|vs|viz|etc"
)

PENN_RULES: tuple[tuple[str, str], ...] = (
    ("\u00a0", " "),
    ("\u201c|\u201e", " `` "),
    ("\u201d", " '' "),
    ("\u2018", " ` "),
    ("\u2019", "'"),
    ("\u2014|--+", " -- "),
    ("\u2026|[.][.][.]+", " ... "),
    (r'(^|[\s(\[{-])"', r"\1 `` "),
    ('"', " '' "),
    (r"\(", " -LRB- "),
    (r"\)", " -RRB- "),
    (r"([\[\]])", r" \1 "),
    (r"([;?!$%&#])", r" \1 "),
    (r"([,:])([^0-9])", r" \1 \2"),  # not between digits
    (r"([^0-9])([,:])", r"\1 \2 "),
    (r"([,:])$", r" \1"),
    (r"([A-Za-z])([nN]'[tT])\b", r"\1 \2"),
    (r"([A-Za-z])('(?:s|m|d|re|ve|ll|S|M|D|RE|VE|LL))\b", r"\1 \2"),
    (r"\b([Cc])annot\b", r"\1an not"),
    (r"([^.\s])\.(['`\s]|$)", r"\1 . \2"),
    (rf"\b({_TITLES}) \.", r"\1."),
    (r"\b([A-HJ-Z]) \. ", r"\1. "),  # initials; "I" more often ends a sentence
    (r"\b((?:[A-Za-z]\.)+[A-Za-z]) \.", r"\1."),
    (r"([^\sA-Za-z'`]|s)'(\s|$)", r"\1 ' \2"),  # but not that of "goin'" or "an'"
    (r"(^|\s)'([A-Z][a-z])", r"\1` \2"),
    (r"(^|\s)` (T(?:is|was)|Em|Til)\b", r"\1'\2"),
)
"""Patterns and replacements, applied in this order."""

_COMPILED = [(re.compile(pattern, re.ASCII), new) for pattern, new in PENN_RULES]


def penn_tokens(text: str) -> list[str]:
    """Cuts text into tokens."""
    for pattern, new in _COMPILED:
        text = pattern.sub(new, text)
    return text.split()
