"""The examples of the documentation run as they stand there, and do what the text says."""

import functools
import io
import json
import re
import shlex
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from starlette.testclient import TestClient

from zoo.attention.scores import AdditiveScore, GeneralScore
from zoo.cli.main import main
from zoo.cli.serve import Serve, load_named, make_served_app
from zoo.serving import servable
from zoo.serving.cards import read_card
from zoo.serving.codecs import load_codecs
from zoo.serving.load import list_models, load_servable, resolve

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MIGRATION = ROOT / "docs" / "migration.md"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_RELATIVE_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")
_SHELL = re.compile(r"^```bash\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)

SOURCE = np.array([[5, 9, 7, 0], [8, 0, 0, 0]], "int32")
TARGET = np.array([[2, 4, 6], [2, 5, 0]], "int32")
NEXT = np.array([[4, 6, 3], [5, 3, 0]], "int32")


def examples(page: Path) -> dict[str, str]:
    """The python code of each section of a page."""
    _, *parts = _HEADING.split(page.read_text(encoding="utf-8"))
    sections = zip(parts[::2], parts[1::2], strict=True)
    return {title: "\n".join(_PYTHON.findall(text)) for title, text in sections}


def run(code: str) -> dict[str, Any]:
    """Runs an example; returns the names that it defines."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "example", "exec"), names)
    return names


def broken_links(page: Path) -> list[str]:
    """Relative links of a page, outside its examples, that lead nowhere."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return [link for link in _RELATIVE_LINK.findall(text) if not (page.parent / link).exists()]


@pytest.mark.parametrize(
    "page",
    [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_relative_links_lead_to_files(page):
    assert not broken_links(page)


def test_every_page_is_reached_from_the_readme():
    reached, open_pages = set(), [README]
    while open_pages:
        page = open_pages.pop()
        reached.add(page)
        links = _RELATIVE_LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
        linked = {(page.parent / link).resolve() for link in links if link.endswith(".md")}
        open_pages += linked - reached
    pages = {*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "architectures").glob("*.md")}
    assert not pages - reached


def test_the_rule_of_links_knows_a_broken_one(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "[a](page.md#part) [b](https://x.org) [c](#part)\n![d\ne](gone.png)\n"
        "```\n[f](gone.md)\n```\n[g](gone.md#part)\n"
    )
    assert broken_links(page) == ["gone.png", "gone.md"]


def test_every_family_has_a_page():
    families = {path.parent.name for path in (ROOT / "zoo" / "models").glob("*/__init__.py")}
    pages = {path.stem for path in (ROOT / "docs" / "architectures").glob("*.md")}
    assert len(families) > 1
    assert families - {"core"} <= pages


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    return examples(MIGRATION)


def assert_is_attention(weights):
    """Rows sum to one over the source's real words."""
    assert weights.shape == (*TARGET.shape, SOURCE.shape[1])
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(weights > 0, np.broadcast_to(SOURCE[:, None] > 0, weights.shape))


def test_the_table_of_models_marks_those_that_are_shipped():
    rows = (ROOT / "docs" / "which_model.md").read_text(encoding="utf-8").splitlines()
    marked = {re.search(r"`(\w+)`", row)[1] for row in rows if "(shipped" in row}
    folders = (ROOT / "saved_models").glob("*/model_card.json")
    classes = {read_card(path.parent).model_class.removeprefix("zoo>") for path in folders}
    assert marked == classes


def table_of(page: Path, heading: str) -> list[list[str]]:
    """The cells of the rows of the first table of a section, without its two lines of header."""
    section = page.read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_comparison_of_models_has_the_figures_and_times_of_the_readme():
    figures = {row[2]: row[4] for row in table_of(README, "Results")}
    compared = table_of(ROOT / "docs" / "which_model.md", "Data, time and results")
    assert len(compared) == len(figures)
    for model, _, training, result in compared:
        (figure,) = re.findall(r"\[([^]]+)\]\(", result)
        wanted = [trained for here, trained in figures.items() if here.endswith(figure)]
        assert len(wanted) == 1, model
        minutes = {re.search(r"\d+ min\b", text)[0] for text in (training, wanted[0])}
        assert len(minutes) == 1, model


def test_the_readme_counts_the_models_of_each_format():
    """A format has a row of its own, or one below another format of the same model."""
    rows = table_of(ROOT / "docs" / "portable.md", "Equality, size and time")
    names, name = {"ONNX": set(), "LiteRT": set()}, ""
    for model, kind, *_ in rows:
        name = re.search(r"`(\w+)`", model)[1] if model else name
        names[kind].add(name)
    assert names["ONNX"] == {*list_models()}
    assert len(names["LiteRT"]) == 9
    text = " ".join(README.read_text(encoding="utf-8").split())
    assert "runs every shipped model, LiteRT nine of them" in text


def test_the_readme_counts_the_shipped_models():
    (count,) = re.findall(r"\b(\d+) are trained,", README.read_text(encoding="utf-8"))
    assert int(count) == len(list_models())


def test_every_section_with_an_example_is_run(sections):
    assert [title for title, code in sections.items() if code] == [
        "An attention decoder in 20 lines",
        "A step at a time, in place of `AttentionWrapper`",
        "Keep trained weights",
    ]


def test_links_lead_to_sections(sections):
    text = MIGRATION.read_text(encoding="utf-8")
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in sections}
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert links
    assert links <= anchors


def test_the_decoder_trains_returns_its_weights_and_survives_saving(sections, tmp_path):
    code = sections["An attention decoder in 20 lines"]
    assert sum(bool(line.strip()) for line in code.splitlines() if "import" not in line) <= 20
    model = run(code)["model"]
    history = model.fit([SOURCE, TARGET], {"logits": NEXT}, epochs=3, verbose=0).history["loss"]
    assert history[-1] < history[0]
    outputs = model.predict([SOURCE, TARGET], verbose=0)
    assert_is_attention(outputs["attention"])
    model.save(tmp_path / "decoder.keras")
    copy = keras.models.load_model(tmp_path / "decoder.keras")
    for name, actual in copy([SOURCE, TARGET]).items():
        np.testing.assert_allclose(actual, outputs[name], rtol=1e-5, atol=1e-6)


def test_the_example_of_the_readme_attends():
    names = run(examples(README)["Attention in a model of your own"])
    inputs = [names[name] for name in ("states", "annotations", "mask")]
    model = keras.Model(inputs, [names["contexts"], names["weights"]])
    generator = np.random.default_rng(4)
    states = generator.normal(size=(*TARGET.shape, 64))
    annotations = generator.normal(size=(*SOURCE.shape, 128))
    contexts, weights = model.predict([states, annotations, SOURCE > 0], verbose=0)
    assert contexts.shape == (*TARGET.shape, 128)
    assert_is_attention(weights)


def test_the_readmes_questions_to_shipped_models_are_answered(capsys):
    names = run(examples(README)["Ask a shipped model"])
    (shown,) = re.findall(r"^```text\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)
    assert capsys.readouterr().out == shown
    assert names["answer"].answer == "Ida Moreau"


def test_the_readmes_reader_learns_from_five_examples(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = examples(README)["Train on your own data"]
    assert sum(bool(line.strip()) for line in code.splitlines()) == 8
    names = run(code)
    assert names["reader"].card.task == "reading"
    assert capsys.readouterr().out.splitlines()[-1] == "gate"
    question = {"question": tf.constant(["Which part failed?"])}
    context = {"context": tf.constant(["After the inspection the gate of unit 3 was replaced."])}
    assert (tmp_path / "my_reader" / "attention.png").is_file()
    serve = load_servable("./my_reader").signatures["serving_default"]
    assert serve(**question, **context)["answer"].numpy()[0] == b"gate"


def test_the_tour_asks_for_three_translations_and_trains_a_classifier(capsys):
    page = ROOT / "docs" / "tour.md"
    sections = examples(page)
    run(sections["1. Ask a shipped model"])
    assert len(capsys.readouterr().out.splitlines()) == 3
    run(sections["5. Attention in a model of your own"])
    assert f"```text\n{capsys.readouterr().out}```" in page.read_text(encoding="utf-8")


PIPELINE = ROOT / "docs" / "pipeline.md"


def test_the_examples_of_pipelines_are_answered(capsys):
    (preface, *_) = _PYTHON.findall(PIPELINE.read_text(encoding="utf-8"))
    run(preface)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Ein Mann in einem roten Hemd schläft. (")
    assert second == "Ida Moreau Ida Moreau"


def test_the_example_of_a_pipeline_trains_scores_and_ships_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run(examples(PIPELINE)["Train on strings"])
    losses = names["history"]["loss"]
    assert losses[-1] < losses[0]
    before, after = capsys.readouterr().out.splitlines()[-2:]
    assert before.startswith(f"{after} ")
    assert read_card(tmp_path / "my_translator").data.name == "own sentences"
    assert (tmp_path / "my_translator" / "attention.png").is_file()


def test_the_example_of_searches_finds_what_was_learned():
    names = run(examples(PIPELINE)["Search for models of one's own"])
    written = [*names["digits"][0, ::-1], 3]
    for found in ("best", "beams"):
        assert names[found].tokens[0, 0].numpy()[:4].tolist() == written
    assert names["drawn"].tokens.shape[:2] == (2, 1)
    assert names["beams"].tokens.shape[:2] == (2, 2)


def test_the_example_of_new_words_gives_the_reader_their_vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(examples(SERVING)["Keras again"])
    assert len(names["vocabulary"]) == names["reader"].vocabulary_size == len(names["words"]) + 2
    rows = names["reader"].embedding.table.numpy()[-2:].astype("float32")
    np.testing.assert_allclose(rows, names["vectors"], atol=1e-3)  # stored in half precision


def test_the_example_of_a_shipped_translator_trains_and_exports_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(examples(SERVING)["A translator for sentences of your own"])
    first, last = names["history"].history["loss"]
    assert last < first
    serve = load_servable("./my_translator").signatures["serving_default"]
    answer = serve(text=tf.constant(["A dog runs."]))["translation"].numpy()[0].decode()
    assert answer.startswith("Ein Hund")
    sides = zip(load_codecs("./my_translator"), names["codecs"], strict=True)
    assert all(one.vocabulary_size == other.vocabulary_size for one, other in sides)


def test_the_examples_of_a_folder_alone_are_answered(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    (preface, *_) = _PYTHON.findall(SERVING.read_text(encoding="utf-8"))
    for code in (preface, examples(SERVING)["Translation"]):
        assert "zoo" not in code
        run(code)
    first, best = capsys.readouterr().out.splitlines()
    assert first == "Oslo"
    assert best.startswith("['Ein Mann liest.', ")


def test_the_examples_of_blocks_by_themselves_build_models():
    names = run(examples(ROOT / "docs" / "architecture.md")["Transformer blocks by themselves"])
    texts = np.array([[5, 9, 7, 0]]), np.array([[5, 9, 8, 0]])
    assert names["classifier"](texts[0]).shape == (1, 2)
    first, other = map(names["language_model"], texts)
    np.testing.assert_array_equal(first[:, :2], other[:, :2])
    assert (first[:, 2] != other[:, 2]).numpy().any()


def test_the_example_of_restricted_self_attention_attends_near_by():
    names = run(examples(ROOT / "docs" / "complexity.md")["Restricted self-attention"])
    model = keras.Model([names["inputs"], names["mask"]], [names["outputs"], names["band"]])
    values = np.random.default_rng(5).normal(size=(2, 40, 64))
    mask = np.arange(40) < np.array([[40], [3]])
    outputs, band = model.predict([values, mask], verbose=0)
    assert outputs.shape == values.shape
    weights = np.array(names["scatter_band"](band))
    assert weights.shape == (2, 4, 40, 40)
    positions = np.arange(40)
    near = np.abs(positions - positions[:, None]) <= 15
    seen = np.broadcast_to((near & mask[:, None])[:, None], weights.shape)
    np.testing.assert_array_equal(weights > 0, seen)


def test_the_example_of_a_reader_with_a_tape_reads_back():
    reader = run(examples(ROOT / "docs" / "lstmn.md")["The layer in a model of your own"])["reader"]
    values = np.random.default_rng(5).normal(size=(2, 30, 64))
    mask = np.arange(30) < np.array([[30], [3]])
    hidden, read_beside = reader.predict([values, mask], verbose=0)
    assert hidden.shape == (2, 30, 32)
    np.testing.assert_allclose(read_beside.sum(axis=-1), mask, atol=1e-5)
    steps = np.arange(30)
    ago = steps[:, None] - np.append(steps, -1)  # slot 0 comes before the first word
    seen = np.broadcast_to((ago > 0) & (ago <= 20) & mask[:, :, None], read_beside.shape)
    np.testing.assert_array_equal(read_beside > 0, seen)


def test_the_loop_attends_and_feeds_its_inputs(sections):
    cls = run(sections["A step at a time, in place of `AttentionWrapper`"])["FeedingDecoder"]
    generator, decoder = np.random.default_rng(1), cls(units=6)
    words = generator.normal(size=(*TARGET.shape, 5)).astype("float32")
    annotations = generator.normal(size=(*SOURCE.shape, 4)).astype("float32")
    features, weights = decoder(words, annotations, SOURCE > 0)
    assert features.shape == (*TARGET.shape, 6)
    assert_is_attention(weights.numpy())
    assert len(decoder.trainable_weights) == 3 + 1 + 1
    kernel = decoder.cell.kernel.numpy()
    kernel[words.shape[-1] :] = 0.0  # what is fed is not read any more
    decoder.cell.kernel.assign(kernel)
    others, _ = decoder(words, annotations, SOURCE > 0)
    np.testing.assert_array_equal(others[:, 0], features[:, 0])
    assert (np.abs(np.array(others) - features)[:, 1:].max(axis=-1) > 0).all()


@pytest.mark.parametrize("normalized", [False, True])
def test_additive_weights_carry_over(sections, normalized):
    convert = run(sections["Keep trained weights"])["additive_weights"]
    generator = np.random.default_rng(2)
    W, U, v, b = (generator.normal(size=shape) for shape in ((5, 3), (4, 3), (3,), (3,)))
    query, keys, g = generator.normal(size=5), generator.normal(size=(6, 4)), 1.7
    if normalized:
        expected = np.tanh(query @ W + keys @ U + b) @ (g * v / np.sqrt(np.sum(v * v)))
        weights = convert(W, U, v, g, b)
    else:
        expected, weights = np.tanh(query @ W + keys @ U) @ v, convert(W, U, v)
    score = AdditiveScore(3, use_bias=normalized, dtype="float64")
    assert_scores(score, weights, query, keys, expected)


@pytest.mark.parametrize("g", [1.0, 0.3])
def test_general_weights_carry_over(sections, g):
    convert = run(sections["Keep trained weights"])["general_weights"]
    generator = np.random.default_rng(3)
    kernel, query, keys = (generator.normal(size=shape) for shape in ((4, 5), (5,), (6, 4)))
    expected = g * (keys @ kernel @ query)
    assert_scores(GeneralScore(dtype="float64"), convert(kernel, g), query, keys, expected)


def assert_scores(score, weights, query, keys, expected):
    score.build((None, None, query.size), (None, None, keys.shape[-1]))
    score.set_weights(weights)
    actual = score(query[None, None], score.prepare(keys[None]))
    np.testing.assert_allclose(actual[0, 0], expected, rtol=1e-9)


def shell_blocks(page: Path, heading: str) -> list[tuple[list[str], str]]:
    """The lines of each block of shell commands of a section, and the output below it if any."""
    _, *parts = _HEADING.split(page.read_text(encoding="utf-8"))
    text = dict(zip(parts[::2], parts[1::2], strict=True))[heading]
    return [(block.splitlines(), output) for block, output in _SHELL.findall(text)]


_loaded = functools.cache(servable.Servable)


@pytest.fixture
def loaded_once(monkeypatch):
    """Commands load a model only if no other test of this file has."""
    monkeypatch.setattr(servable, "Servable", lambda name: _loaded(resolve(name).resolve()))


@pytest.fixture
def shell(loaded_once, monkeypatch, capsys, tmp_path):
    """Runs a line such as `printf ... | python -m zoo ...` in this process; gives its output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    pairs = {
        "en": "Two dogs run.\nA man sleeps.\n",
        "de": "Zwei Hunde rennen.\nEin Mann schläft.\n",
    }
    for name, text in (pairs | {"wa": "1 1 1 S\n1 2 2 S\n2 1 1 S\n"}).items():
        (tmp_path / f"pairs.{name}").write_text(text, encoding="utf-8")

    def run_line(line: str) -> str:
        words, given = shlex.split(line), ""
        if words[0] == "printf":
            given, words = words[1].replace("\\n", "\n"), words[words.index("|") + 1 :]
        words = words[: words.index(">")] if ">" in words else words
        assert words[:3] == ["python", "-m", "zoo"] or words[0] == "zoo"
        arguments = words[3:] if words[0] == "python" else words[1:]
        monkeypatch.setattr(sys, "argv", ["zoo", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        with pytest.raises(SystemExit) if "--tyro" in line else nullcontext():
            main()
        return capsys.readouterr().out

    return run_line


COMMANDS = ROOT / "docs" / "command_line.md"


@pytest.mark.parametrize(
    "heading", ["What there is", "Ask a model", "Draw what it looked at", "Export", "Completion"]
)
def test_the_commands_of_the_page_do_what_it_says(heading, shell, tmp_path):
    blocks = shell_blocks(COMMANDS, heading)
    assert blocks
    for lines, output in blocks:
        said = "".join(map(shell, lines))
        assert said
        assert not output or said == output
    if heading == "Draw what it looked at":
        assert (tmp_path / "attention.png").is_file()
    if heading == "Export":
        assert read_card(tmp_path / "models" / "squad_dcn" / "1").task == "reading"
    if heading == "Completion":
        assert "complete" in said


def test_the_pictures_of_the_page_are_drawn(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run(examples(COMMANDS)["Draw what it looked at"])
    drawn = {path.stem for path in tmp_path.glob("*.png")}
    assert drawn == {"alignment", "heads", "document", "tape"}


SERVING = ROOT / "docs" / "serving.md"
MODELS = ROOT / "docs" / "models.md"


def test_the_examples_of_models_publish_warn_and_complete_a_card(
    shell, tmp_path, monkeypatch, capsys
):
    ((lines, _),) = shell_blocks(MODELS, "Publish")
    assert "published/squad_dcn.tar.gz" in "".join(map(shell, lines))
    assert (tmp_path / "published" / "index.json").is_file()
    shutil.copytree(resolve("sst_lstmn"), "my_model")
    run(examples(MODELS)["Cards"])
    assert read_card("my_model").licence == "CC BY 4.0"
    run(examples(MODELS)["Unknown words"])
    told = capsys.readouterr().out.strip()
    assert f"warning: example 1: {told}\n" in MODELS.read_text(encoding="utf-8")


def test_the_requests_of_the_page_are_answered(loaded_once):
    (started, _), (asked, _) = shell_blocks(SERVING, "A server")
    (line,) = started
    names = shlex.split(line)[4:]
    assert {*names} <= {*list_models()}
    assert (Serve.host, Serve.port) == ("127.0.0.1", 8501)
    app = make_served_app(Serve(tuple(names)), load_named(names))
    with TestClient(app, base_url="http://127.0.0.1:8501") as client:
        status, metadata, *answers = (curl(client, line) for line in asked)
    assert status["model_version_status"][0]["state"] == "AVAILABLE"
    assert "serving_default" in metadata["metadata"]["signature_def"]["signature_def"]
    read, translated, best = answers
    assert read["predictions"][0]["answer"] == "Ada Moreau"
    assert len(translated["outputs"]["translation"]) == 1
    assert len(best["outputs"]["translation"][0]) == 3


def test_the_continuation_of_the_page_is_answered(loaded_once):
    ((lines, _),) = shell_blocks(SERVING, "Language models")
    with TestClient(make_served_app(Serve(), load_named(["wikitext_lstmn"]))) as client:
        told = curl(client, lines[0])["outputs"]
    assert told["continuation"][0].strip()
    assert told["generated_length"] == [len(told["generated_tokens"][0])]


def curl(client: TestClient, line: str) -> Any:
    """Does what curl does with a line of the page."""
    words = shlex.split(line)
    body = words[words.index("-d") + 1] if "-d" in words else None
    answer = client.request("GET" if body is None else "POST", words[-1], content=body)
    assert answer.status_code == 200, answer.text
    return json.loads(answer.content)


def test_the_request_of_the_readme_is_answered(loaded_once):
    ((lines, _),) = shell_blocks(README, "Serve it")
    with TestClient(make_served_app(Serve(), load_named(["squad_dcn"]))) as client:
        told = curl(client, lines[-1])
    assert told["predictions"][0]["answer"] == "Ada Moreau"


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        (SERVING, "The same folder under TensorFlow Serving"),
        (README, "Serve it"),
    ],
)
def test_the_folders_of_tensorflow_serving_are_those_of_its_configuration(
    path, heading, shell, tmp_path
):
    ((lines, _),) = shell_blocks(path, heading)
    lines = [line for line in lines if line.split()[0] not in ("docker", "curl")]
    for line in lines:
        shell(line)
    page = path.read_text(encoding="utf-8").partition(f"## {heading}")[2]
    configured = re.findall(r'name: "(\w+)" base_path: "/(\S+)"', page)
    assert len(configured) == len(lines)
    for name, place in configured:
        assert place == f"models/{name}"
        assert (tmp_path / place / "1" / "saved_model.pb").is_file()


def test_the_page_of_structures_asks_a_translator_and_a_reader(capsys):
    run(examples(ROOT / "docs" / "architectures" / "structured.md")["Ask it"])
    assert capsys.readouterr().out == "[[2. 2. 2.]]\n(1, 2, 2)\n"


def test_the_page_of_rows_asks_the_shipped_model(capsys):
    code = examples(ROOT / "docs" / "architectures" / "feature_attention.md")["Ask it"]
    answer = run(code)["answer"]
    label, weights = capsys.readouterr().out.splitlines()
    assert label == f"{answer.label} {round(answer.score, 2)}"
    assert weights.split() == [max(answer.weights, key=answer.weights.get), "0.0"]
