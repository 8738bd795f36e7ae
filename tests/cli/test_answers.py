"""Questions of the command line and of standard input, and what comes out."""

import gzip
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from zoo.cli import answers
from zoo.cli.main import main
from zoo.serving.cards import read_card
from zoo.serving.load import resolve

TABLE = "adult_features"
TRANSLATOR = "multi30k_rnnsearch_en_de"
ENGLISH = "A man in a red shirt is sleeping."
GERMAN = "Ein Mann in einem roten Hemd schläft."
CONTEXT = "The lamp of the lighthouse was repaired by a clockmaker, Ida Moreau."


@pytest.fixture
def context_file(tmp_path):
    (tmp_path / "context.txt").write_text(CONTEXT, encoding="utf-8")
    return tmp_path / "context.txt"


def test_texts_are_translated_a_line_each(zoo_command, monkeypatch):
    asked = []
    monkeypatch.setattr(answers, "resolve", lambda name: asked.append(name) or resolve(name))
    code, said = zoo_command("run", TRANSLATOR, ENGLISH, "")
    assert code is None
    assert said.out.splitlines() == [GERMAN, ""]
    assert asked == [TRANSLATOR]  # which may ask a hub or an index


def test_lines_of_standard_input_are_translated(zoo_command):
    lines = [ENGLISH.encode(), b"", b"\xff\xfe", *[b"A dog."] * 40, ENGLISH.encode()]
    code, said = zoo_command("run", TRANSLATOR, lines=b"\r\n".join(lines))
    assert code is None
    found = said.out.splitlines()
    assert len(found) == len(lines)
    assert (found[0], found[1], found[-1]) == (GERMAN, "", GERMAN)
    assert len({*found[3:-1]}) == 1


def test_an_option_of_the_search_gives_the_n_best(zoo_command):
    _, said = zoo_command("run", TRANSLATOR, ENGLISH, "--beam-width", "3")
    scores, texts = zip(*(line.split("\t") for line in said.out.splitlines()), strict=True)
    assert GERMAN in texts
    assert len({*texts}) == 3
    assert sorted(map(float, scores), reverse=True) == list(map(float, scores))


def test_json_holds_all_outputs_without_the_padding_of_others(zoo_command):
    _, said = zoo_command("run", TRANSLATOR, "A dog.", ENGLISH, "--json")
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert rows[1]["translation"] == GERMAN
    for row in rows:
        assert len(row["source_tokens"]) == row["source_length"]
        weights = np.array(row["attention_alignment"])
        assert weights.shape == (row["target_length"], row["source_length"])
        np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-4)


def test_numbers_that_json_lacks_are_null(zoo_command):
    """An empty text has one translation: the scores of two more are minus infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    code, said = zoo_command("run", TRANSLATOR, "", "--beam-width", "3", "--json")
    assert code is None
    assert json.loads(said.out, parse_constant=refuse)["score"] == [0.0, None, None]
    row = {"a": np.float32(0.5), "b": np.float32("nan"), "c": np.array([[1, np.inf]]), "d": b"x"}
    found = json.loads(answers._as_json(row), parse_constant=refuse)
    assert found == {"a": 0.5, "b": None, "c": [[1, None]], "d": "x"}


def test_a_reader_answers_from_a_file(zoo_command, context_file):
    question = ["--question", "Who repaired the lamp of the lighthouse?"]
    _, said = zoo_command("run", "squad_dcn", *question, "--context-file", context_file)
    assert said.out == "Ida Moreau\n"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["context.txt", "context.txt.gz"])
def test_offsets_fit_the_bytes_of_the_file(zoo_command, tmp_path, mark, end, name):
    lines = ["The lighthouse stood dark.", "Its lamp was", "repaired by Ida", "Moreau.", ""]
    content = mark + end.join(lines).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    question = ["--question", "Who repaired the lamp?"]
    _, said = zoo_command("run", "squad_dcn", *question, "--context-file", path, "--json")
    row = json.loads(said.out)
    assert row["answer"] == f"Ida{end}Moreau"
    assert content[row["start"] : row["end"]] == row["answer"].encode()
    assert content[row["end_per_iteration"][-1] - 6 :].startswith(b"Moreau")
    assert content[row["start_per_iteration"][-1] :].startswith(b"Ida")
    assert row["context_tokens"][0] == "The"


def test_a_broken_off_file_is_named(zoo_command, tmp_path):
    path = tmp_path / "context.txt.gz"
    path.write_bytes(gzip.compress(CONTEXT.encode())[:-9])
    code, _ = zoo_command("run", "squad_dcn", "--question", "Who?", "--context-file", path)
    assert code.startswith(f"error: --context-file: {path}: not a complete gzip file")


def test_a_byte_order_mark_is_no_part_of_standard_input(zoo_command):
    mark = b"\xef\xbb\xbf"
    text = b"the cat sat on the\r\nthe cat"
    plain = zoo_command("run", "wikitext_lstmn", "--json", lines=text)
    assert zoo_command("run", "wikitext_lstmn", "--json", lines=mark + text) == plain
    both = json.dumps({"question": "Who repaired the lamp?", "context": CONTEXT}).encode()
    _, said = zoo_command("run", "squad_dcn", lines=mark + both + b"\r\n")
    assert said.out == "Ida Moreau\n"
    who = ["--question", "Who repaired the lamp?", "--json"]
    _, said = zoo_command("run", "squad_dcn", *who, lines=mark + f"{CONTEXT}\n".encode() * 2)
    rows = [json.loads(line) for line in said.out.splitlines()]
    first = CONTEXT.index("Ida")
    assert [row["start"] for row in rows] == [first + 3, first]  # counted from the line's beginning


def test_a_byte_order_mark_is_no_part_of_a_document(zoo_command, tmp_path):
    text = b"Nell met a fox .\r\nNell fed the fox .\r\nThe fox thanked her .\r\n"
    answers = []
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "document.txt").write_bytes(mark + text)
        query = ["--query", "XXXXX fed the fox .", "--candidates", "Nell", "--candidates", "fox"]
        document = ["--document-file", tmp_path / "document.txt", "--json"]
        _, said = zoo_command("run", "cloze_aoa", *query[:2], *document)
        answers.append(json.loads(said.out))
    assert answers[0] == answers[1]
    assert answers[0]["document_tokens"][0] == "Nell"


def test_what_is_missing_comes_from_standard_input(zoo_command, context_file):
    who = "Who repaired the lamp of the lighthouse?"
    _, said = zoo_command(
        "run", "squad_dcn", "--context-file", context_file, lines=f"{who}\n{who}".encode()
    )
    assert said.out == "Ida Moreau\n" * 2
    both = json.dumps({"question": who, "context": CONTEXT}).encode()
    _, said = zoo_command("run", "squad_dcn", lines=both)
    assert said.out == "Ida Moreau\n"


@pytest.mark.parametrize(
    ("arguments", "lines", "message"),
    [
        (["squad_dcn", "a text"], b"", "does not take TEXT: it takes --context, --question"),
        (["squad_dcn", "--query", "x"], b"", "does not take --query"),
        ([TRANSLATOR, "--question", "x"], b"", "does not take --question: it takes TEXT; or "),
        ([TRANSLATOR, "x", "--beam-width", "0"], b"", "beam_width must be at least 1, got 0"),
        (["squad_dcn"], b"who?", "line 1 must be a JSON object with context, question"),
        (["squad_dcn"], b"{}", "line 1 must be a JSON object with context, question"),
        (["squad_dcn"], b'{"question": 1, "context": ""}', "line 1: question must be text"),
        (["squad_dcn", "--context-file", "no/file"], b"", "No such file"),
        (
            ["squad_dcn", "--context-file", "/bin/true"],
            b"",
            "--context-file: /bin/true: line 1 is not UTF-8",
        ),
        (["squad_dcn", "--context", "a", "--context-file", "b"], b"", "must not be given both"),
    ],
)
def test_what_a_model_cannot_answer_is_one_line(arguments, lines, message, zoo_command):
    code, said = zoo_command("run", *arguments, lines=lines)
    assert code.startswith("error: ")
    assert message in code
    assert "\n" not in code
    assert said.out == ""


def test_a_picture_is_drawn(zoo_command, tmp_path, context_file):
    path = tmp_path / "attention.png"
    code, said = zoo_command("picture", TRANSLATOR, ENGLISH, "--out", path)
    assert (code, said.out.strip()) == (None, str(path))
    assert path.read_bytes().startswith(b"\x89PNG")
    question = ["--question", "Who repaired it?", "--context-file", context_file]
    zoo_command("picture", "squad_dcn", *question, "--out", tmp_path / "reading.svg")
    assert "<svg" in (tmp_path / "reading.svg").read_text(encoding="utf-8")


def test_all_heads_are_drawn_where_a_model_gives_them(zoo_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _ = zoo_command("picture", "multi30k_transformer_en_de", ENGLISH, "--heads")
    assert code is None
    width, height = struct.unpack(">II", Path("attention.png").read_bytes()[16:24])
    assert width > 2 * height  # three grids of four layers and four heads, side by side
    code, _ = zoo_command("picture", TRANSLATOR, ENGLISH, "--heads", "--out", "none.png")
    assert f"{TRANSLATOR} has no signature heads" in code
    assert not Path("none.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "b"], "examples of a picture must be one, got several"),
        ([], "examples of a picture must be one, got none"),
        ([""], "its source has no token to draw"),
        (["a", "--out", "x.doc"], "path must end in one of"),
        (["a", "--beam-width", "2"], "not of a ranked list"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(arguments, message, zoo_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _ = zoo_command("picture", TRANSLATOR, *arguments)
    assert message in code
    assert not list(tmp_path.iterdir())


def test_next_words_come_with_their_probabilities(zoo_command):
    _, said = zoo_command("run", "wikitext_lstmn", "The army of the")
    parts = said.out.strip().split(", ")
    assert len(parts) == 10
    (unknown,) = [part for part in parts if part.startswith("<unk>")]
    assert unknown.startswith("<unk> (any other word: ")
    shares = [float(part.rpartition(" ")[2].strip("(%)")) for part in parts]
    assert shares == sorted(shares, reverse=True)
    assert 10 < sum(shares) <= 100


def test_a_language_model_writes(zoo_command):
    def written(*options):
        code, said = zoo_command("run", "wikitext_lstmn", "In 1911 the", *options)
        assert code is None, code
        return said.out.strip()

    greedy = written("--generate", 12)
    assert greedy == written("--generate", 12, "--temperature", 0) != ""
    assert "<unk>" not in greedy
    assert "<unk>" in written("--generate", 12, "--forbid-unknown", "False")
    drawn = {written("--generate", 12, "--seed", seed) for seed in range(3)}
    assert len(drawn) > 1
    assert greedy not in drawn
    assert written("--generate", 12, "--top-k", 1) == greedy


def test_what_a_continuation_lacks_is_named(zoo_command):
    code, _ = zoo_command("run", "wikitext_lstmn", "In 1911 the", "--top-k", "3")
    assert code == "error: --generate must be given: the model has no default for it"
    code, _ = zoo_command("run", "sst_lstmn", "In 1911 the", "--generate", "3")
    assert "does not take --generate" in code
    code, _ = zoo_command("run", "wikitext_lstmn", "a", "--generate", "0")
    assert "new_tokens must be a number above 0, got 0" in code
    code, _ = zoo_command("picture", "wikitext_lstmn", "a", "--generate", "3")
    assert "a picture is drawn of the model's own answer" in code


def test_rows_of_a_table_are_json_objects_whose_numbers_may_be_texts(zoo_command):
    row = read_card(resolve(TABLE)).example.inputs
    texts = {name: str(value) for name, value in row.items()}
    gaps = row | {"age": None, "sex": None, "capital_gain": ""}
    words = row | {"age": " ? ", "sex": "?", "capital_gain": "NA"}
    lines = [json.dumps(one).encode() for one in (row, texts, gaps, words)]
    code, said = zoo_command("run", TABLE, "--json", lines=b"\n".join(lines))
    assert code is None
    first, second, third, fourth = map(json.loads, said.out.splitlines())
    assert first == second
    assert third == fourth
    missing = dict(zip(third["row_features"], third["weights"], strict=True))
    gone = [name for name, weight in missing.items() if not weight]
    assert gone == ["age", "capital-gain", "occupation", "sex"]  # one of them by the example
    code, said = zoo_command("run", TABLE, lines=lines[0])
    assert said.out == f"{first['label']}\n"


@pytest.mark.parametrize(
    "value", ["old", True, [1], 10**400, math.inf, "1e400", "inf", "1_000", "3\u0668", "0x10"]
)
def test_a_number_that_is_none_is_named_with_its_line(zoo_command, value):
    row = read_card(resolve(TABLE)).example.inputs | {"age": value}
    code, _ = zoo_command("run", TABLE, lines=json.dumps(row).encode())
    assert "line 1: age must be a number, got" in code


def test_a_name_that_is_twice_in_a_line_is_refused(zoo_command):
    row = json.dumps(read_card(resolve(TABLE)).example.inputs)
    code, _ = zoo_command("run", TABLE, lines=f'{{"age": 20, {row[1:]}'.encode())
    assert "line 1 must be a JSON object with age, " in code
    assert "(a name is there twice)" in code


def test_symbols_are_texts(zoo_command):
    for given in (["0111", "10"], []):
        code, said = zoo_command("run", "reverse_neural_gpu", *given, lines=b"0111\n10")
        assert (code, said.out) == (None, "1110\n01\n")
    code, _ = zoo_command("run", "reverse_neural_gpu", "--question", "0111")
    assert code == "error: reverse_neural_gpu does not take --question: it takes TEXT"


def test_standard_input_may_be_closed(zoo_command):
    for given, written in ((["01"], "10\n"), ([], "")):
        code, said = zoo_command("run", "reverse_neural_gpu", *given, lines=None)
        assert (code, said.out, said.err) == (None, written, "")


def test_closed_streams_are_opened(monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    monkeypatch.setattr(sys, "argv", ["zoo", "--version"])
    main()
    assert sys.stdin.read() == ""


def test_the_answers_before_a_bad_line_are_written_and_the_line_is_named(zoo_command):
    refused = "serving_default: symbols must be some of 01, got"
    for text, shown in ((b"abc", "abc"), (b"\xff", r"\xff (not UTF-8: symbols)")):
        lines = b"01\n110\n" + text + b"\n0\n"
        code, said = zoo_command("run", "reverse_neural_gpu", lines=lines)
        assert (code, said.out) == (f"error: line 3: {refused} {shown}", "10\n011\n")
    code, said = zoo_command("run", "reverse_neural_gpu", "01", "a", "0")
    assert (code, said.out) == (f"error: text 2: {refused} a", "10\n")
    code, said = zoo_command("run", "reverse_neural_gpu", "a")
    assert (code, said.out) == (f"error: {refused} a", "")
    vectors = b"[[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]\n[[0, 1]]"
    code, said = zoo_command("run", "copy_ntm", lines=vectors)
    assert code.startswith("error: line 2: ")
    assert len(said.out.splitlines()) == 1
    code, said = zoo_command("run", "copy_ntm", lines=vectors.replace(b"[[0, 1]]", b"0"))
    assert code.startswith("error: line 2 must be a JSON list of vectors")
    assert len(said.out.splitlines()) == 1


def test_pictures_come_from_files_alone(zoo_command):
    for name in ("mnist_glimpse", "flickr8k_caption_soft"):
        code, _ = zoo_command("run", name, lines=b"a.png")
        assert code == "error: --image must be given"


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("babi_structured", "--question, --story"),
        (TABLE, "a JSON object with age, capital_gain, "),
        ("mnist_glimpse", "--image"),
        ("cloze_aoa", "--document, --query; or --candidates, --document, --query"),
    ],
)
def test_the_inputs_that_a_model_takes_are_told_as_they_are_given(zoo_command, name, inputs):
    code, _ = zoo_command("run", name, "--premise", "x")
    assert code.startswith(f"error: {name} does not take --premise: it takes {inputs}")
    assert code.count("--image") == (name == "mnist_glimpse")
    assert code.endswith(" on each line of standard input") == (name == TABLE)


def test_sequences_of_vectors_are_lists_of_any_length(zoo_command):
    example = read_card(resolve("copy_ntm")).example.inputs
    short, long = example["vectors"][:3], example["vectors"][: example["length"]]
    lines = b"\n".join(json.dumps(one).encode() for one in (short, long))
    code, said = zoo_command("run", "copy_ntm", lines=lines)
    assert code is None
    assert [len(line.split(" ")) for line in said.out.splitlines()] == [len(short), len(long)]
    _, said = zoo_command("run", "copy_ntm", "--json", lines=lines)
    for row, vectors in zip(map(json.loads, said.out.splitlines()), (short, long), strict=True):
        assert len(row["bits"]) == len(row["probabilities"]) == len(vectors)
        assert len(row["attention_write"][0]) == len(vectors)  # of the one head
    asked = ["".join(str(round(bit)) for bit in vector[:8]) for vector in long[1:4]]
    assert row["bits"][-3:] == asked  # a mark, three vectors, a mark, and three places to copy to


@pytest.mark.parametrize(
    "line",
    [
        "[[NaN, 1]]",
        "[[1e999]]",
        "[" * 5000,
        "[[1" + "0" * 400 + "]]",
        "0 1",
        "[]",
        "[[0, 1], [1]]",
        '[["0"]]',
        "[[true]]",
        "[[1], null]",
        '{"vectors": []}',
    ],
)
def test_a_line_that_is_no_sequence_of_vectors_is_named(zoo_command, line):
    code, _ = zoo_command("run", "copy_ntm", lines=line.encode())
    assert code.startswith("error: line 1 must be a JSON list of vectors of one size, such as [[")
    assert code.endswith(f"got {line[:60]!r}")


def test_a_sequence_of_vectors_is_drawn(zoo_command, tmp_path):
    line = json.dumps(read_card(resolve("copy_ntm")).example.inputs["vectors"]).encode()
    path = tmp_path / "machine.png"
    code, said = zoo_command("picture", "copy_ntm", "--out", path, lines=line)
    assert (code, said.out.strip()) == (None, str(path))
    assert path.stat().st_size > 5_000


def test_what_a_picture_of_all_heads_does_not_take_is_named(zoo_command, tmp_path):
    options = ["--heads", "--seed", "3", "--out", tmp_path / "a.png"]
    code, _ = zoo_command("picture", "multi30k_transformer_en_de", ENGLISH, *options)
    assert code == "error: seed must be left out with --heads"


def test_what_a_model_of_vectors_takes_is_told(zoo_command):
    code, _ = zoo_command("run", "copy_ntm", "0110")
    assert code == (
        "error: copy_ntm does not take TEXT: it takes vectors, a JSON list of them on each line of "
        "standard input"
    )


def test_a_reader_of_stories_answers(zoo_command, tmp_path):
    example = read_card(resolve("babi_structured")).example.inputs
    story = "\n".join(example["story_sentences"])
    (tmp_path / "story.txt").write_text(story, encoding="utf-8")
    asked = ["--question", example["question"]]
    answers = [
        zoo_command("run", "babi_structured", *asked, *told)[1].out
        for told in (["--story", story], ["--story-file", tmp_path / "story.txt"])
    ]
    assert answers == ["garden\n"] * 2
    _, said = zoo_command("run", "babi_structured", *asked, lines=b"Mary went to the garden.\n")
    assert said.out == "garden\n"
