"""The documentation site: it builds without a warning, is complete, and needs no other host."""

import ast
import importlib
import json
import logging
import posixpath
import re
import sys
from html import unescape
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "docs" / "site"
PAGES = [
    *(path for path in (ROOT / "docs").rglob("*.md") if path.parent != SITE),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
ELSEWHERE = {"README.md": "", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
# Of an element or a style sheet; links that a reader may follow are no part of it.
_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*?\b(?:src|srcset|data)=\"([^\"]+)"
    r"|<link\b(?![^>]*rel=\"(?:prev|next|canonical))[^>]*?\bhref=\"([^\"]+)"
    r"|@import\s+[\"']?([^\"';]+)|url\([\"']?([^\"')]+)"
)


@pytest.fixture(scope="module")
def config():
    return load_config(str(SITE / "mkdocs.yml"), strict=True)


@pytest.fixture(scope="module")
def site(config, tmp_path_factory):
    """Builds the site, and fails on any warning, such as one of a broken link."""
    config.site_dir = str(tmp_path_factory.mktemp("site"))
    imported = ours()
    build(config)
    assert ours() == imported  # docstrings are read, not run
    return Path(config.site_dir)


@pytest.fixture
def part(monkeypatch):
    """Imports a module of the site's own."""
    monkeypatch.syspath_prepend(str(SITE))
    return importlib.import_module


def ours() -> set[str]:
    return {name for name in sys.modules if name.split(".")[0] in ("zoo", "recipes")}


def page(site: Path, place: str) -> str:
    return (site / place / "index.html").read_text(encoding="utf-8")


def place_of(path: Path) -> str:
    """Returns the folder of the page of a Markdown file."""
    name = path.relative_to(ROOT).as_posix()
    place = ELSEWHERE.get(name, name.removeprefix("docs/").removesuffix(".md"))
    return place.removesuffix("/README")


def plain(text: str) -> str:
    """Drops tags and marks."""
    return " ".join(re.sub(r"<[^>]+>|[`*]|¶", "", unescape(text)).split())


def public_names() -> list[str]:
    stub = ast.parse((ROOT / "zoo" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return [alias.name for node in imports for alias in node.names]


def test_whatever_is_broken_would_be_a_warning(config):
    assert config.strict
    levels = {**config.validation.links, **config.validation.nav}
    assert set(levels.values()) == {logging.WARNING}


def test_every_page_of_the_documentation_is_there(site):
    for path in PAGES:
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        (shown,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page(site, place_of(path)))
        assert plain(shown) == plain(title), path


def test_the_front_page_shows_the_explorer_a_call_and_its_output(site):
    front = page(site, "")
    assert "explorer_translation.png" in front
    assert "zoo.pipeline" in plain(front)
    assert "Ida Moreau, characters 57 to 67" in plain(front)
    assert (site / "explorer_translation.png").is_file()
    assert (site / "site" / "icon.svg").is_file()


def test_every_public_name_has_an_entry(site):
    index = page(site, "reference")
    assert len(public_names()) > 30
    for name in public_names():
        (link,) = re.findall(rf'<a [^>]*href="([^"]+)"[^>]* id="zoo\.{name}"', index)
        path, _, anchor = link.partition("#")
        place = posixpath.normpath(posixpath.join("reference", path))
        assert f'id="{anchor}"' in page(site, place), name


def test_docstrings_are_documented_with_their_shapes(site):
    attend = plain(page(site, "reference/attention"))
    assert "e (B, Q, S)" in attend
    assert "bool (B, S), or (B, Q, S) where it depends on the query" in attend


def test_every_recipe_is_listed_with_its_first_line(site):
    listed = plain(page(site, "recipes"))
    recipes = [path for path in (ROOT / "recipes").glob("*.py") if path.stem != "__init__"]
    assert len(recipes) > 10
    for path in recipes:
        first = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).partition("\n")[0]
        assert f"{path.stem} {plain(first)}" in listed


def test_every_architecture_is_in_the_list_of_them():
    folder = ROOT / "docs" / "architectures"
    links = re.findall(r"\]\((\w+\.md)", (folder / "README.md").read_text(encoding="utf-8"))
    assert {path.name for path in folder.glob("*.md")} == {"README.md", *links}


def test_nothing_is_loaded_from_another_host(site):
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    assert len(files) > 50
    for path in files:
        text = path.read_text(encoding="utf-8")
        places = ["".join(found) for found in _LOADED.findall(text)]
        assert not [place for place in places if re.match(r"(?:\w+:)?//", place)], path
        assert 'class="mermaid"' not in text  # the theme would load a script for it


def test_the_rule_knows_what_is_loaded():
    text = (
        '<script async src="https://a.org/x.js"></script><link rel="stylesheet" href="//b.org/y">'
        '<a href="https://c.org"></a><link rel="next" href="https://d.org"> url(https://e.org/f)'
    )
    found = ["".join(one) for one in _LOADED.findall(text)]
    assert found == ["https://a.org/x.js", "//b.org/y", "https://e.org/f"]


def test_equations_are_written_as_mathml(site):
    written = list((ROOT / "docs").rglob("*.md"))
    displayed = {path: path.read_text(encoding="utf-8").count("$$") // 2 for path in written}
    assert sum(displayed.values()) > 20
    for path, count in displayed.items():
        if path.parent != SITE:
            text = page(site, place_of(path))
            assert text.count('<div class="equation">') == count, path
            assert "arithmatex" not in text
            assert not re.search(r"<math[^>]*>(?:(?!</math>).)*\\", text, re.DOTALL)
    rnnsearch = page(site, "architectures/rnnsearch")
    assert "<msub><mi>z</mi><mi>j</mi></msub><mo>=</mo><mi>σ</mi>" in unescape(rnnsearch)
    assert rnnsearch.count('display="inline"') > 30


def test_an_equation_that_cannot_be_converted_is_an_error(part):
    maths = part("maths")
    assert maths.as_mathml("x_1 &lt; 2", "inline").count("<msub>") == 1
    with pytest.raises(ValueError, match=r"nonsuch.*unknown command"):
        maths.as_mathml(r"\nonsuch x", "inline")
    with pytest.raises(ValueError, match="cannot be converted"):
        maths.as_mathml("x_", "inline")


def test_the_map_of_layers_is_drawn_from_the_lowest_to_the_highest(site):
    text = plain(page(site, "architecture"))
    titles = ["4 · applications", "3 · uses", "2 · one folder per paper", "0 · functions"]
    assert sorted(titles, key=text.index) == titles


def test_a_line_that_no_map_of_layers_has_is_refused(part):
    with pytest.raises(ValueError, match="got 'a ==> b'"):
        part("diagrams").draw("flowchart BT\na ==> b\n", "mermaid", "diagram", {}, None)


def test_links_to_the_repository_lead_to_the_site(part):
    text = (
        "[a](../zoo/files.py) [b](../zoo/attention/) [c](../README.md#results) [d](tour.md)\n"
        "![e](../saved_models/squad_dcn/attention.png) [f](notebooks/x.ipynb) [g](#h) [i](https://j)\n"
        "```\n[k](../zoo/files.py)\n```\n[l](architectures/)"
    )
    places = part("places")
    assert places.lead_to_site(text, "docs/devices.md", "devices.md", "") == (
        "[a](source/zoo/files.py.md) [b](source/zoo/attention/__init__.py.md) "
        "[c](index.md#results) [d](tour.md)\n"
        "![e](saved_models/squad_dcn/attention.png) [f](notebooks/x.md) [g](#h) [i](https://j)\n"
        "```\n[k](../zoo/files.py)\n```\n[l](architectures/README.md)"
    )
    assert list(places.linked_files(text, "docs/devices.md")) == [
        "zoo/files.py",
        "zoo/attention/__init__.py",
        "saved_models/squad_dcn/attention.png",
    ]
    away = places.lead_to_site(
        "[a](../../zoo/files.py)", "docs/b/c.md", "b/c.md", "https://d.org/e"
    )
    assert away == "[a](https://d.org/e/blob/main/zoo/files.py)"


def test_docstrings_become_markdown(part):
    text = """Reads `<s>`, not </s>.

Read:
    a.py   <b>
Choices:
    biases: none, as
        in <s>;
    dropout: none.

Args:
    x: <s> (B, T).

        More of <s>.
"""
    assert (
        part("docstrings").as_markdown(text)
        == """Reads `<s>`, not &lt;/s>.

Read:

    a.py   <b>
Choices:

- biases: none, as
    in &lt;s>;
- dropout: none.

Args:
    x: &lt;s> (B, T).

        More of &lt;s>."""
    )


def test_files_that_docstrings_mention_are_links(site):
    text = page(site, "reference/models/rnnsearch")
    for place, name in [
        ("../../../architectures/rnnsearch/", "docs/architectures/rnnsearch.md"),
        ("../../../source/tests/references/rnnsearch.py/", "tests/references/rnnsearch.py"),
        ("../../../recipes/#multi30k_rnnsearch", "recipes/multi30k_rnnsearch.py"),
    ]:
        assert f'<a href="{place}"><code>{name}</code></a>' in text
    assert 'id="multi30k_rnnsearch"' in page(site, "recipes")


def test_notebooks_become_pages_with_their_outputs(part, tmp_path):
    def code(*outputs):
        return {"cell_type": "code", "source": ["x = 1\n", "x"], "outputs": list(outputs)}

    stream = {"output_type": "stream", "text": ["read\n"]}
    picture = {"output_type": "display_data", "data": {"image/png": "QUJD\n", "text/plain": "<>"}}
    table = {"output_type": "execute_result", "data": {"text/html": ["<p>\n", "\n", "1</p>"]}}
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Text"]},
        code(stream, picture, table),
    ]
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "one.ipynb").write_text(json.dumps({"cells": cells}))
    ((uri, text),) = part("notebooks").pages(tmp_path)
    assert uri == "notebooks/one.md"
    assert text.startswith('# Title\n\n<a href="../one.ipynb" download>')
    assert "</a>\n\nText\n\n```python" in text
    assert "```python\nx = 1\nx\n```\n\n```text\nread\n```\n\n" in text
    assert 'src="data:image/png;base64,QUJD"' in text
    assert text.endswith('<div class="output"><p>\n1</p></div>\n')
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no"}
    with pytest.raises(ValueError, match="got ValueError: no"):
        part("notebooks")._cell(code(error))
