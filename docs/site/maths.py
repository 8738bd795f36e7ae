"""Equations as MathML, which browsers draw without a script."""

import html
import re

from latex2mathml.converter import convert

_EQUATION = re.compile(
    r'<(?:span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</(?:span|div)>', re.DOTALL
)


class CannotRender(ValueError):
    """An equation holds a command that is not known."""


def render(page: str) -> str:
    """Replaces the equations of a page by MathML."""
    return _EQUATION.sub(lambda found: equation(found[1] or found[2], bool(found[2])), page)


def equation(latex: str, block: bool) -> str:
    """Converts an equation, as HTML, to MathML.

    Raises:
        CannotRender: if a command in it is unknown.
    """
    latex = html.unescape(latex).strip()
    try:
        written = convert(latex, display="block" if block else "inline")
    except Exception as error:  # of many kinds
        raise CannotRender(f"{latex!r} cannot be converted: {error!r}") from error
    if "\\" in written:
        raise CannotRender(f"{latex!r} has an unknown command")
    return written
