"""Docstrings of the project as Markdown: they are plain text with code in backticks."""

import re

import griffe

_SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes):$")
_CODE = re.compile(r"(``.+?``|`.+?`)", re.DOTALL)


def as_markdown(text: str) -> str:
    """Sets apart indented blocks, which are code or tables, and escapes tags such as ``<s>``."""
    lines: list[str] = []
    section = False
    for line in text.splitlines():
        indented = line.startswith(" ")
        if line and not indented:
            section = bool(_SECTION.match(line))
        opened = bool(lines) and lines[-1] and not lines[-1].startswith((" ", "-", "*", "|"))
        if indented and not section and opened:
            lines.append("")
        lines.append(line if indented and not section else _escape(line))
    return "\n".join(lines)


def _escape(line: str) -> str:
    """Escapes what Markdown would take for a tag, outside code."""
    parts = _CODE.split(line)
    parts[::2] = [re.sub(r"<(?=[\w/])", "&lt;", part) for part in parts[::2]]
    return "".join(parts)


class PlainDocstrings(griffe.Extension):
    """Lets mkdocstrings read the docstrings of the project as Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrites the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
