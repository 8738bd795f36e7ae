"""Docstrings of the project as Markdown: they are plain text with code in backticks."""

import re
from itertools import groupby

import griffe

_SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes):$")
_CODE = re.compile(r"(``.+?``|`.+?`)")
_ITEM = re.compile(r" {4}(?:[^\s:`=]+ ){0,5}[^\s:`=]+: \S| {5}")


def as_markdown(text: str) -> str:
    """Sets apart indented blocks, which are code, tables or lists, and escapes ``<s>``."""
    lines: list[str] = []
    section = False
    for indented, group in groupby(text.splitlines(), lambda line: line.startswith(" ")):
        block = list(group)
        if not indented:
            lines += map(_escape, block)
            section = section if not any(block) else bool(_SECTION.match(block[-1]))
        elif section:
            lines += map(_escape, block)
        else:
            lines += ["", *_as_list(block)] if lines[-1][:1] not in ("", "-", "|") else block
    return "\n".join(lines)


def _as_list(block: list[str]) -> list[str]:
    """Makes a list of a block such as ``biases: none; dropout: on word vectors.``."""
    if not block[-1].endswith(".") or not all(map(_ITEM.match, block)):
        return block
    return [_escape(line[4:] if line.startswith(" " * 5) else f"- {line[4:]}") for line in block]


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
