"""The pages of the site that are not Markdown in docs/, and links between them.

On GitHub a link such as ``../zoo/files.py`` or ``../README.md#results`` leads to a file of the
repository. Here such files become part of the site: README.md is its front page, pictures are
copied, and source files are shown on a page of their own, unless ``extra.repository`` in mkdocs.yml
says where the repository is.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

import diagrams
import generated
import maths
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
ICON = "zoo/explorer/assets/icon.svg"
PICTURES = {".png", ".svg", ".jpg"}
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)\s#]*)(?=[)#])")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Draws diagrams while the site is built."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "mermaid", "class": "diagram", "format": diagrams.draw}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages made of other files, and puts the pages of folders into the navigation."""
    for path, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "site/icon.svg", abs_src_path=str(ROOT / ICON)))
    for uri, content in generated.pages(ROOT):
        files.append(File.generated(config, uri, content=content))
    for page in files.documentation_pages():
        for path in _linked(page):
            _add(path, files, config)
    config.nav = _expanded(config.nav, sorted(file.src_uri for file in files.documentation_pages()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to files of the repository to their pages on the site."""
    origin = _origin(page.file)

    def leads(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), found[2]))
        return found[1] + _place(path, page.file.src_uri, config)

    parts = _FENCED.split(markdown)
    parts[::2] = [_LINK.sub(leads, part) for part in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Writes equations as MathML."""
    try:
        return maths.render(html)
    except maths.CannotRender as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


def _origin(file: File) -> str:
    """Returns the file of the repository that a page was made of."""
    named = {uri: path for path, uri in PAGES.items()}
    return named.get(file.src_uri, f"docs/{file.src_uri}")


def _linked(page: File) -> list[str]:
    """Lists the files of the repository, outside docs/, that a page links to."""
    text = _FENCED.sub("", page.content_string)
    folder = posixpath.dirname(_origin(page))
    paths = (posixpath.normpath(posixpath.join(folder, link)) for _, link in _LINK.findall(text))
    return [path for path in paths if not path.startswith("docs/") and path not in PAGES]


def _source(path: str) -> str:
    """Returns the file that stands for ``path``: of a package, its title page."""
    title = f"{path}/__init__.py"
    return title if (ROOT / title).is_file() else path


def _add(path: str, files: Files, config: MkDocsConfig) -> None:
    """Copies a picture, and shows any other file on a page of its own."""
    path = _source(path)
    source = ROOT / path
    picture = source.suffix in PICTURES
    uri = path if picture else f"source/{path}.md"
    if files.get_file_from_path(uri) or not source.is_file():
        return  # what is missing is reported as a broken link
    if picture:
        files.append(File.generated(config, uri, abs_src_path=str(source)))
    elif not config.extra["repository"]:
        files.append(File.generated(config, uri, content=generated.source_page(path, source)))


def _place(path: str, uri: str, config: MkDocsConfig) -> str:
    """Returns a link, from the page ``uri``, to the place of a file of the repository."""
    if path in PAGES:
        place = PAGES[path]
    elif path.startswith("docs/"):
        folder = (ROOT / path).is_dir()
        place = path.removeprefix("docs/") + ("/README.md" if folder else "")
    elif Path(path).suffix in PICTURES:
        place = path
    elif config.extra["repository"]:
        return f"{config.extra['repository']}/blob/main/{path}"
    else:
        place = f"source/{_source(path)}.md"
    return posixpath.relpath(place, posixpath.dirname(uri) or ".")


def _expanded(entries: Any, uris: list[str]) -> list[Any]:
    """Puts the pages of a folder into the navigation where it names the folder."""
    expanded: list[Any] = []
    for entry in entries:
        ((title, value),) = entry.items()
        if isinstance(value, list):
            value = _expanded(value, uris)
        elif value.endswith("/"):
            value = _folder(value, uris)
        if value:
            expanded.append({title: value})
    return expanded


def _folder(folder: str, uris: list[str]) -> list[Any]:
    """Lists the pages of a folder, its index first, and its subfolders as sections."""
    inside = [uri for uri in uris if uri.startswith(folder)]
    pages = [uri for uri in inside if "/" not in uri.removeprefix(folder)]
    pages.sort(key=lambda uri: (not uri.endswith("README.md"), uri))
    subfolders = sorted({uri.removeprefix(folder).split("/")[0] for uri in inside} - {
        uri.removeprefix(folder) for uri in pages
    })
    sections = [
        {name.capitalize(): _folder(f"{folder}{name}/", uris)} for name in subfolders
    ]
    return [*pages[:1], *sections, *pages[1:]]
