"""Files of the repository, and where the site has them.

On GitHub a link such as ``../zoo/files.py`` or ``../README.md#results`` leads to a file of the
repository. On the site README.md is the front page, pictures are copied to the same path, and other
files are shown on pages below ``source/``, or in the repository if its address is known.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = "index.md"
FRONT = "docs/site/front.md"
MADE_OF = {INDEX: "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
"""Page -> the file outside docs/ that it is made of."""
PICTURES = {".jpg", ".png", ".svg"}

_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)(?=[)#])")


def origin(uri: str) -> str:
    """Returns the file of the repository that a page of the site is made of."""
    return MADE_OF.get(uri, f"docs/{uri}")


def linked_files(text: str, path: str) -> Iterator[str]:
    """Yields the files outside docs/ that the text of the file ``path`` links to."""
    for part in _FENCED.split(text)[::2]:
        for link in _LINK.findall(part):
            target = _target(link, path)
            if not target.startswith("docs/") and target not in MADE_OF.values():
                yield target


def lead_to_site(text: str, path: str, uri: str, repository: str) -> str:
    """Rewrites the links of a file for a page of the site.

    Args:
        text: Markdown of the file ``path``.
        path: place of the file in the repository.
        uri: place of the page on the site.
        repository: address of the repository, or "".
    """

    def leads(found: re.Match[str]) -> str:
        shown = place(_target(found[1], path), repository)
        outside = repository and shown.startswith(repository)
        return shown if outside else posixpath.relpath(shown, posixpath.dirname(uri) or ".")

    parts = _FENCED.split(text)
    parts[::2] = [_LINK.sub(leads, part) for part in parts[::2]]
    return "".join(parts)


def _target(link: str, path: str) -> str:
    """Returns the file that a link of the file ``path`` leads to; of a package, its title page."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    for title in ("__init__.py", "README.md"):
        if (ROOT / target / title).is_file():
            return f"{target}/{title}"
    return target


def place(path: str, repository: str) -> str:
    """Returns the page, picture or address that shows a file."""
    pages = {made_of: page for page, made_of in MADE_OF.items()}
    if path in pages:
        return pages[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/").replace(".ipynb", ".md")
    if Path(path).suffix in PICTURES:
        return path
    return f"{repository}/blob/main/{path}" if repository else f"source/{path}.md"
