"""Makes the site: pages that are not Markdown in docs/, links between all, equations, diagrams.

The pages come from README.md, which is the front page, CONTRIBUTING.md and CHANGELOG.md, from
notebooks, from docstrings, and from the source files that pages link to.
"""

import re
from pathlib import PurePosixPath
from typing import Any

import diagrams
import generated
import maths
import notebooks
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from places import FRONT, INDEX, MADE_OF, PICTURES, ROOT, lead_to_site, linked_files, origin, place

ICON = "zoo/explorer/assets/icon.svg"
RECIPES = "recipes.md"
_MENTIONED = re.compile(r"<code>((?:docs|recipes|tests|zoo)/[\w/]+\.(?:md|py))</code>")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Has diagrams drawn while the site is built."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "mermaid", "class": "diagram", "format": diagrams.draw}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages made of other files, and puts the pages of folders into the navigation."""
    for uri, path in (*MADE_OF.items(), ("site/icon.svg", ICON)):
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    made = [*generated.pages(ROOT), *notebooks.pages(ROOT / "docs")]
    for uri, content in made:
        files.append(File.generated(config, uri, content=content))
    for page in files.documentation_pages():
        for path in linked_files(page.content_string, origin(page.src_uri)):
            _add(path, files, config)
    uris = [file.src_uri for file in files.documentation_pages()]
    config.nav = _expanded(config.nav, uris)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to files of the repository to their pages on the site."""
    uri, repository = page.file.src_uri, config.extra["repository"]
    markdown = lead_to_site(markdown, origin(uri), uri, repository)
    if uri == INDEX:
        page.meta["hide"] = ["navigation"]
        cards = lead_to_site((ROOT / FRONT).read_text("utf-8"), FRONT, uri, repository)
        text, picture, rest = markdown.partition("\n![")
        markdown = f"{text}\n{cards}{picture}{rest}"
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Writes equations as MathML; files that docstrings mention become links."""
    try:
        html = maths.render(html)
    except maths.EquationError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error
    if not page.file.src_uri.startswith(("reference/", RECIPES)):
        return html

    def linked(found: re.Match[str]) -> str:
        path = PurePosixPath(found[1])
        recipe = path.parts[0] == "recipes"
        shown = files.get_file_from_path(RECIPES if recipe else place(found[1], ""))
        if shown is None:
            return found[0]
        address = shown.url_relative_to(page.file) + (f"#{path.stem}" if recipe else "")
        return f'<a href="{address}">{found[0]}</a>'

    return _MENTIONED.sub(linked, html)


def _add(path: str, files: Files, config: MkDocsConfig) -> None:
    """Copies a picture, and shows any other file on a page of its own."""
    source = ROOT / path
    picture = source.suffix in PICTURES
    uri = path if picture else f"source/{path}.md"
    if not source.is_file() or files.get_file_from_path(uri):
        return  # MkDocs reports a link to a missing file
    if picture:
        files.append(File.generated(config, uri, abs_src_path=str(source)))
    elif not config.extra["repository"]:
        files.append(File.generated(config, uri, content=generated.source_page(path, source)))


def _expanded(entries: list[Any], uris: list[str]) -> list[Any]:
    """Puts the pages of a folder into the navigation where it names the folder."""
    expanded = []
    for entry in entries:
        title, value = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if isinstance(value, list):
            value = _expanded(value, uris)
        elif value.endswith("/"):
            value = sorted(
                (uri for uri in uris if uri.rpartition("/")[0] == value[:-1]),
                key=lambda uri: (not uri.endswith("README.md"), uri),
            )
        if value:
            expanded.append({title: value} if title else value)
    return expanded
