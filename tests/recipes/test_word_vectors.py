import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from recipes.word_vectors import Settings, main, read_texts, split, tokenise
from zoo.data.cloze_format import Question, write_cbt
from zoo.text.vectors import read_vectors


@pytest.fixture
def data_dir(tmp_path):
    """Writes one tiny file a known data set."""
    folder = tmp_path / "data"
    for name in ("squad", "wikitext-2", "imdb"):
        (folder / name).mkdir(parents=True)
    question = {"id": "1", "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]}
    paragraphs = [{"context": "Ada sang.", "qas": [question, {**question, "id": "2"}]}]
    squad = {"version": "1.1", "data": [{"title": "Ada", "paragraphs": paragraphs}]}
    (folder / "squad/train-v1.1.json").write_text(json.dumps(squad))
    (folder / "wikitext-2/wiki.train.tokens").write_text(
        " \n = Boats = \n \n A well @-@ built <unk> for 1 @,@ 200 men , 2 @.@ 5 m long . \n",
        encoding="utf-8",
    )
    with gzip.open(folder / "imdb/train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"text": "Good.<br /><br />Really.", "label": 1}) + "\n")
    return folder


def test_known_texts(data_dir):
    assert read_texts("squad", data_dir) == ["Ada sang.", "Who?", "Who?"]
    (paragraph,) = read_texts("wikitext-2", data_dir)
    assert " ".join(paragraph.split()) == "A well-built for 1,200 men , 2.5 m long ."
    assert read_texts("imdb", data_dir)[0].split() == ["Good.", "Really."]


def test_reviews_are_read_from_the_published_folders_too(tmp_path):
    for folder, text in {"pos": "Good.<br />", "neg": "Bad."}.items():
        (tmp_path / "aclImdb/train" / folder).mkdir(parents=True)
        (tmp_path / "aclImdb/train" / folder / "0_7.txt").write_text(text)
    assert [text.strip() for text in read_texts("imdb", tmp_path)] == ["Good.", "Bad."]


def test_sentences_of_overlapping_documents_count_once(tmp_path):
    lines = [f"Ada sang {number} times ." for number in range(22)]
    for kind, first in (("ne", 0), ("cn", 2)):
        document = "\n".join(lines[first : first + 20])
        question = Question(document, "XXXXX slept .", "Ada", ["Ada", "sang"])
        write_cbt(tmp_path / f"{kind}_train.txt", [question, question])
    assert read_texts("cloze", tmp_path) == lines


def test_text_files(tmp_path):
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text("one two\n\n \nthré\u2028e\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_texts(str(plain), None) == ["one two", "thré\u2028e"]
    assert read_texts(str(packed), None) == read_texts(str(plain), None)
    plain.write_bytes("\ufeffone two\r\n\r\n \r\nthré\u2028e\r\n".encode())
    assert read_texts(str(plain), None) == read_texts(str(packed), None)


def test_errors_name_the_text(tmp_path, data_dir):
    known = "squad, wikitext-2, imdb, cloze, multi30k, sick, cad-nli, flickr8k"
    with pytest.raises(ValueError, match=f"texts must be {known} or a file, got 'glove'"):
        read_texts("glove", data_dir)
    with pytest.raises(FileNotFoundError, match=r"train\.jsonl or .*: not found in .*nowhere"):
        read_texts("imdb", tmp_path / "nowhere")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=r"latin\.txt: line 1 is not UTF-8: byte 0xe9"):
        read_texts(str(tmp_path / "latin.txt"), None)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"one two\n" * 99)[:-9])
    with pytest.raises(ValueError, match=r"cut\.gz: not a complete gzip file"):
        read_texts(str(tmp_path / "cut.gz"), None)
    for line, message in {
        "{": "is not valid JSON",
        "[]": r"must be an object, got \[\]",
        '{"text": 1}': "'label' must be text, got nothing",
        '{"label": 1}': "'text' must be text, got nothing",
    }.items():
        with gzip.open(data_dir / "imdb/train.jsonl.gz", "wt") as file:
            file.write(f'{{"text": "Good.", "label": 1}}\n{line}\n')
        with pytest.raises(ValueError, match=rf"train\.jsonl\.gz: line 2:? {message}"):
            read_texts("imdb", data_dir)


def test_sentences_are_folded_tokens():
    texts = ["The CAT's.", "", *["word " * 2500], "É"]
    sentences = tokenise(texts, "test")
    assert sentences[0] == ["the", "cat", "'s", "."]
    assert [len(sentence) for sentence in sentences] == [4, 1000, 1000, 500, 1]
    assert sentences[-1] == ["é"]


def test_tokens_between_spaces_keep_their_case():
    assert split(["The CAT 's .", "", "word " * 1001]) == [
        ["The", "CAT", "'s", "."],
        ["word"] * 1000,
        ["word"],
    ]


def test_words_used_alike_get_similar_vectors(tmp_path):
    """Two groups of words that never meet: the nearest neighbour is of the same group."""
    random = np.random.default_rng(0)
    groups = [[f"{kind}{i}" for i in range(6)] for kind in ("animal", "city")]
    lines = [" ".join(random.choice(groups[i % 2], 8)) for i in range(2000)]
    (tmp_path / "texts.txt").write_text("\n".join([*lines, "rare Rare"]))
    settings = Settings(
        output=tmp_path / "vectors.txt",
        texts=(str(tmp_path / "texts.txt"),),
        dimensions=8,
        epochs=3,
        window=3,
        subsample=0.0,
        workers=1,
    )
    result = main(settings)
    words, matrix = read_vectors(settings.output)
    assert result.words == len(words) == 12
    assert result.tokens == 2000 * 8 + 2
    assert sorted(words) == sorted(groups[0] + groups[1])
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    similarity = unit @ unit.T - 2 * np.eye(12)
    nearest = [words[i] for i in similarity.argmax(axis=1)]
    assert [word[:4] for word in words] == [word[:4] for word in nearest]

    main(settings)
    np.testing.assert_array_equal(read_vectors(settings.output).matrix, matrix)


def test_too_little_text(tmp_path):
    (tmp_path / "texts.txt").write_text("only once\n")
    settings = Settings(output=tmp_path / "out.txt", texts=(str(tmp_path / "texts.txt"),))
    with pytest.raises(ValueError, match="texts must hold a word 3 times, got none"):
        main(settings)
    assert not settings.output.exists()


def test_unwritable_output_is_found_before_training(tmp_path):
    settings = Settings(output=tmp_path / "missing" / "out.txt", texts=("never read",))
    with pytest.raises(
        FileNotFoundError, match=r"output must be in a folder that exists, got .*missing"
    ):
        main(settings)
    with pytest.raises(ValueError, match=f"output must be a file, got the folder {tmp_path}"):
        main(Settings(output=tmp_path, texts=("never read",)))


def test_missing_gensim_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    # Before the texts are read, which are not there.
    with pytest.raises(ModuleNotFoundError, match=r"pip install \.\[vectors\]"):
        main(Settings(output=tmp_path / "out.txt", texts=(str(tmp_path / "texts.txt"),)))


def test_command_line_fails_in_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "recipes.word_vectors", "--output", "x", "--texts", "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: texts must be squad")
    assert "Traceback" not in done.stderr
