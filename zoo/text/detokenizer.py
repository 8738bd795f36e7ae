# ruff: noqa: RUF001 - this file is about the quotation marks that look alike
r"""Joins the words of `zoo.text.tokenizer` into text, with or without spaces between them.

Tokens do not record the spaces between them, so the rules follow writing conventions: punctuation
attaches to the word before it, brackets and quotation marks enclose, hyphens join, and apostrophes
join in elisions. A text with other conventions comes back changed.

The rules are regular expressions, applied one after the other in the graph. Initially, single
spaces separate all tokens; rules only remove spaces.
"""

from collections.abc import Iterator

import tensorflow as tf

Rule = tuple[str, str]  # pattern and replacement

_BEFORE = r"(^|[^\pL])"  # \b would know ASCII only
_AFTER = r"($|[^\pL])"
_IDEOGRAPH = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}\x{3001}\x{3002}\x{300C}-\x{300F}\x{FF01}-\x{FF1F}]"
)
_CONJUNCTION = r"(und|oder|bzw|sowie)"  # German: "Vor- und Nachteile", "Hut und -band"
_ELIDED = (
    r"[cdjlmnqst]|qu|jusqu|lorsqu|puisqu|quelqu|presqu|aujourd|un|all|dall|dell|nell|quest|sull"
)

_PUNCTUATION: tuple[Rule, ...] = (
    (r"([!?]) ([!?])", r"\1\2"),
    (r"([!?]) ([!?])", r"\1\2"),  # again: matches do not overlap
    (r" ([,.…])", r"\1"),
    (r"([¿¡]) ", r"\1"),
)
# Enclosing marks. German closes with the mark that English opens with, so German pairs come first.
_ENCLOSING: tuple[Rule, ...] = (
    (r"([„‚])(?: ([^„“”‚‘’]*))? ([“”‘’])", r"\1\2\3"),
    (r"“(?: ([^“”]*))? ”", r"“\1”"),
    (r"‘(?: ([^‘’]*))? ’", r"‘\1’"),
    (r'"(?: ([^"]*))? "', r'"\1"'),
    (r"([(\[{]) ", r"\1"),
    (r" ([)\]}])", r"\1"),
)
_GUILLEMETS: tuple[Rule, ...] = (
    (r"«(?: ([^«»]*))? »", r"«\1»"),
    (r"»(?: ([^«»]*))? «", r"»\1«"),
    (r"‹(?: ([^‹›]*))? ›", r"‹\1›"),
    (r"›(?: ([^‹›]*))? ‹", r"›\1‹"),
)
# French and Italian elide before the apostrophe, English after it; other apostrophes may enclose.
_APOSTROPHES: tuple[Rule, ...] = (
    (rf"(?i)(^|[^\pL'’])({_ELIDED}) (['’]) (\pL)", r"\1\2\3\4"),
    (rf"(?i)(\pL) (['’]) (t|d|m|re|ve|ll){_AFTER}", r"\1\2\3\4"),
    (rf"(?i) (['’]s){_AFTER}", r"\1\2"),
    (r"'(?: ([^']*))? '", r"'\1'"),
    (r"(s|S) (['’])( |$)", r"\1\2\3"),
    (r"(\pL) (['’]) (\pL)", r"\1\2\3"),
)
_JOINERS: tuple[Rule, ...] = (
    (r" - ?([,.;])", r"-\1"),
    (rf"(\pL) - {_CONJUNCTION} ", r"\1- \2 "),
    (rf"{_BEFORE}{_CONJUNCTION} - (\pL)", r"\1\2 -\3"),
    (r"(\S) - (\S)", r"\1-\2"),
    (r"(\S) - (\S)", r"\1-\2"),
    (r" ([/_]) ", r"\1"),
    (r"(\pN) – (\pN)", r"\1–\2"),
    (r"(\pN) ?: (\pN)", r"\1:\2"),
    (r"([#$£€¥]) (\pN)", r"\1\2"),
    (rf"{_BEFORE}(\p{{Lu}}) & (\p{{Lu}}){_AFTER}", r"\1\2&\3\4"),
    (rf"({_IDEOGRAPH}) ({_IDEOGRAPH})", r"\1\2"),
    (rf"({_IDEOGRAPH}) ({_IDEOGRAPH})", r"\1\2"),
)


def _rules(language: str | None) -> Iterator[Rule]:
    """Yields the rules in their order."""
    yield from _PUNCTUATION
    yield from _ENCLOSING
    yield from _APOSTROPHES
    yield from _JOINERS
    if language != "fr":  # which sets these off
        yield r" ([;:!?])", r"\1"
        yield from _GUILLEMETS
    if language not in ("de", "fr"):
        yield r"(\pN) ([%‰])", r"\1\2"


def detokenize(tokens: tf.Tensor, language: str | None = None) -> tf.Tensor:
    """Joins words into text.

    Args:
        tokens: (rows, tokens) tf.string, valid UTF-8; empty ones are ignored.
        language: ISO 639-1 code. "fr" keeps the space before `; : ! ?` and inside guillemets; "fr"
            and "de" keep the space before a percent sign. All other rules apply to all languages.

    Returns:
        (rows,) tf.string.
    """
    text = tf.strings.reduce_join(tokens, axis=1, separator=" ")
    text = tf.strings.strip(tf.strings.regex_replace(text, "  +", " "))
    for pattern, rewrite in _rules(language):
        text = tf.strings.regex_replace(text, pattern, rewrite)
    return text
