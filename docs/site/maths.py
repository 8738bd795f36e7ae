"""Equations as MathML, which browsers draw without a script."""

import html
import re

from latex2mathml.converter import convert

_EQUATION = re.compile(
    r'<(?:span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</(?:span|div)>', re.DOTALL
)
# By itself the left bar of a norm grows with its content, and the right one does not if it has an
# index.
_BAR = re.compile(r"<mo>(&#x02016;|&#x0007C;)</mo>")


class EquationError(ValueError):
    """An equation holds a command that is not known."""


def render(page: str) -> str:
    """Replaces the equations of a page by MathML."""
    return _EQUATION.sub(_replaced, page)


def _replaced(found: re.Match[str]) -> str:
    """Converts one equation; lines may break at the wide spaces of a displayed one."""
    inline, block = found.groups()
    if inline is not None:
        return as_mathml(inline, "inline")
    parts = block.split(r"\qquad")
    return f'<div class="equation">{"".join(as_mathml(part, "block") for part in parts)}</div>'


def as_mathml(latex: str, display: str) -> str:
    """Converts an equation, as HTML, to MathML.

    Raises:
        EquationError: if it cannot be read, or a command in it is unknown.
    """
    latex = html.unescape(latex).strip()
    try:
        written = convert(latex, display=display)
    except Exception as error:  # of many kinds
        raise EquationError(f"{latex!r} cannot be converted: {error!r}") from error
    if "\\" in written:
        raise EquationError(f"{latex!r} has an unknown command")
    return _BAR.sub(r'<mo stretchy="false">\1</mo>', written)
