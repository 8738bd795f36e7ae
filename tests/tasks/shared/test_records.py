"""A card names a data set only if the checksum of every file that was read is the known one."""

import importlib
import json
import logging
import math
import struct
import typing
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.recipes.test_cloze_aoa import write_set
from zoo.data.download import RemoteFile
from zoo.data.known_importance import NAMES as GENERATED
from zoo.data.labelled_lines import SETS
from zoo.data.mnist import FILES
from zoo.serving.cards import DataRecord
from zoo.tasks.captioning.data import SceneSizes, load_flickr8k, load_scenes
from zoo.tasks.classification.data import (
    load_counterfactual,
    load_sick,
    load_snli,
    load_sst,
    load_texts,
)
from zoo.tasks.cloze.data import load_cloze_data, with_cut_questions
from zoo.tasks.images.data import load_images
from zoo.tasks.language_model.data import load_language_model_data
from zoo.tasks.reading.data import load_reading_data
from zoo.tasks.shared.records import file_sums
from zoo.tasks.stories.data import load_stories
from zoo.tasks.tabular.data import load_table
from zoo.tasks.translation.data import load_translation_data
from zoo.tasks.translation.enja import load_enja_data
from zoo.tasks.translation.tatoeba import load_tatoeba_data

ROOT = Path(__file__).resolve().parents[3]
LOGGER = logging.getLogger("tests.records")

PAIR = {"gold_label": "neutral", "sentence1": "A cat.", "sentence2": "It ran."}
PAIRS = json.dumps(PAIR)
TABLE = "\t".join(PAIR) + "\n" + "\t".join(PAIR.values()) + "\n"
SICK = "sentence_A\tsentence_B\tentailment_judgment\nA cat.\tIt ran.\tNEUTRAL\n"
PERSONS = 4 * (14 * "cat, " + "<=50K\n")
REVIEWS = "".join(f'{{"text": "{n} cats", "label": {n % 2}}}\n' for n in range(8))
ANSWERED = {"id": "1", "question": "Who?", "answers": [{"text": "cat", "answer_start": 2}]}
SQUAD = {"data": [{"title": "", "paragraphs": [{"context": "A cat ran.", "qas": [ANSWERED]}]}]}


def with_another_animal(content: bytes) -> bytes:
    return content.replace(b"cat", b"dog")


class Reader(NamedTuple):
    """One way in which recipes read data."""

    data: str
    """Value of `--data`."""
    title: str
    """Name of the data set on cards."""
    write: Callable[[Path], None]
    """Writes small files of its names; each holds a cat."""
    read: Callable[[Path], DataRecord]
    published: str = ""
    """Module and name of the known checksums; none are known without."""
    known: Callable[[dict[str, str]], object] = lambda sums: sums
    """Checksums -> the form in which that module holds them."""
    changed: Callable[[bytes], bytes] = with_another_animal
    """Content of a file -> content that is as good, and not the published one."""


def texts(*names: str, content: str) -> Callable[[Path], None]:
    return lambda folder: [(folder / name).write_text(content) for name in names] and None


def remote(sums: dict[str, str]) -> dict[str, RemoteFile]:
    return {name: RemoteFile(name, "", digits, 0) for name, digits in sums.items()}


def squad_files(sums: dict[str, str]) -> dict[str, RemoteFile]:
    files = remote(sums).values()
    return {"train" if "train" in file.name else "dev": file for file in files}


def corpus(name: str, published: str = "", pattern: str = "wiki.{}.tokens") -> Reader:
    names = [pattern.format(split) for split in ("train", "valid", "test")]
    return Reader(
        name,
        name,
        texts(*names, content="the cat ran\n"),
        lambda folder: load_language_model_data(name, folder, LOGGER).record,
        published,
        lambda sums: {name: sums},
    )


def labelled_lines(data: str, *names: str) -> Reader:
    lines = [f"{number % 2} sentence {number} of a cat\n" for number in range(30)]
    return Reader(
        data,
        SETS[data].title,
        texts(*names, content="".join(lines)),
        lambda folder: load_texts(data, 0, 0.5, folder, LOGGER).record,
        "zoo.data.labelled_lines.SETS",
        lambda sums: SETS | {data: SETS[data]._replace(published=sums)},
    )


def cloze(data: str, title: str, kinds: str, *, cut: bool = False) -> Reader:
    def write(folder: Path) -> None:
        write_set(folder, data)
        write_set(folder, data, kind="cn")

    def read(folder: Path) -> DataRecord:
        found = load_cloze_data(data, kinds, folder, LOGGER)
        return (with_cut_questions(found, data, kinds, folder, LOGGER) if cut else found).record

    published = "zoo.tasks.cloze.data.PUBLISHED" if data == "cloze" else ""
    return Reader(data, title, write, read, published, lambda sums: {data: sums})


def pictures(folder: Path) -> None:
    for name in FILES:
        shape = (3, 4, 4) if "images" in name else (3,)
        header = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
        (folder / name).write_bytes(header + bytes(math.prod(shape)))


def captioned(folder: Path) -> None:
    with zipfile.ZipFile(folder / "Flickr8k_text.zip", "w") as file:
        splits = ("train", "dev", "test")
        file.writestr("Flickr8k.token.txt", "".join(f"{one}.jpg#0\tA cat .\n" for one in splits))
        for split in splits:
            file.writestr(f"Flickr_8k.{split}Images.txt", f"{split}.jpg\n")
    with zipfile.ZipFile(folder / "Flickr8k_Dataset.zip", "w") as file:
        for split in splits:
            file.writestr(f"Flicker8k_Dataset/{split}.jpg", b"a picture")


def digits(folder: Path) -> None:
    """Writes six pictures, of a stroke each."""
    pictures(folder)
    for name in FILES:
        values = np.zeros((6, 28, 28) if "images" in name else 6, np.uint8)
        if "images" in name:
            values[:, 4:20, 9:12] = 200
        header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
        (folder / name).write_bytes(header + values.tobytes())


BOOKS = "cloze questions on children's books"
READERS = {
    "sst": Reader(
        "sst",
        "SST",
        texts("train.txt", "dev.txt", "test.txt", content="(3 (2 A) (3 (4 fine) (2 cat)))\n"),
        lambda folder: load_sst("sst", 5, True, folder, LOGGER).record,
        "zoo.data.sst.PUBLISHED",
    ),
    "snli": Reader(
        "snli",
        "SNLI 1.0",
        texts(*(f"snli_1.0_{s}.jsonl" for s in ("train", "dev", "test")), content=PAIRS),
        lambda folder: load_snli("snli", folder, LOGGER).record,
    ),
    "sick": Reader(
        "sick",
        "SICK",
        texts("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt", content=SICK),
        lambda folder: load_sick("sick", folder, LOGGER).record,
        "zoo.data.sick.PUBLISHED",
    ),
    "cad-nli": Reader(
        "cad-nli",
        "SNLI 1.0, dev and test",
        lambda folder: (
            texts("SICK_train.txt", content=SICK)(folder),
            texts("train.tsv", content=TABLE)(folder),
            texts("snli_1.0_dev.jsonl", "snli_1.0_test.jsonl", content=PAIRS)(folder),
        )[0],
        lambda folder: load_counterfactual(folder, LOGGER).record,
    ),
    "imdb": Reader(
        "imdb",
        "IMDb",
        texts("train.jsonl", "test.jsonl", content=REVIEWS),
        lambda folder: load_texts("imdb", 0, 0.5, folder, LOGGER).record,
        "zoo.data.imdb.PUBLISHED",
    ),
    "adult": Reader(
        "adult",
        "Adult",
        texts("adult.data", "adult.test", content=PERSONS),
        lambda folder: load_table("adult", folder, 0.5, 11, LOGGER).record,
        "zoo.data.adult.PUBLISHED",
    ),
    "mushroom": Reader(
        "mushroom",
        "Mushroom",
        texts("agaricus-lepiota.data", content=20 * ("e" + 22 * ",cat" + "\n")),
        lambda folder: load_table("mushroom", folder, 0.5, 11, LOGGER).record,
        "zoo.data.mushroom.PUBLISHED",
    ),
    "trec": labelled_lines("trec", "TREC.train.all", "TREC.test.all"),
    "mr": labelled_lines("mr", "rt-polarity.all"),
    "subj": labelled_lines("subj", "subj.all"),
    "squad": Reader(
        "squad",
        "SQuAD 1.1",
        texts("train-v1.1.json", "dev-v1.1.json", content=json.dumps(SQUAD)),
        lambda folder: load_reading_data("squad", folder, None, 9, LOGGER).record,
        "zoo.tasks.reading.data.SQUAD_FILES",
        squad_files,
    ),
    "multi30k": Reader(
        "multi30k",
        "Multi30k",
        texts(
            *(f"{s}.{one}" for s in ("train", "val", "test_2016_flickr") for one in ("en", "de")),
            content="A cat runs.\n",
        ),
        lambda folder: load_translation_data("multi30k", "en", "de", folder, LOGGER).record,
        "zoo.tasks.translation.data.MULTI30K_FILES",
        remote,
    ),
    "mnist": Reader(
        "mnist",
        "MNIST",
        pictures,
        lambda folder: load_images("mnist", "plain", 60, 0.4, folder, LOGGER).record,
        "zoo.data.mnist.FILES",
        remote,
        lambda content: content[:-1] + b"\1",
    ),
    "scenes": Reader(
        "scenes",
        "MNIST",
        digits,
        lambda folder: load_scenes("scenes", SceneSizes(40, 2, 9), folder, LOGGER).record,
        "zoo.data.mnist.FILES",
        remote,
        lambda content: content[:-1] + b"\1",
    ),
    "flickr8k": Reader(
        "flickr8k",
        "Flickr8k",
        captioned,
        lambda folder: load_flickr8k(None, folder, LOGGER).record,
        changed=lambda content: content + b"\0",
    ),
    "babi": Reader(
        "babi",
        "bAbI 1k, English",
        texts(
            "qa2_two-supporting-facts_train.txt",
            "qa2_two-supporting-facts_test.txt",
            content=4 * "1 A cat ran.\n2 It sat.\n3 Where is it? \thall\t1 2\n",
        ),
        lambda folder: load_stories("babi", 2, 0.5, folder, LOGGER).record,
        "zoo.data.babi.published",
        lambda sums: lambda task: sums,
    ),
    "tatoeba": Reader(
        "tatoeba",
        "Tatoeba",
        texts("fra.txt", content="".join(f"A cat {i}.\tUn chat {i}.\n" for i in range(500))),
        lambda folder: load_tatoeba_data("tatoeba", "fr", "en", folder, LOGGER).record,
        "zoo.data.tatoeba.PUBLISHED",
    ),
    "enja": Reader(
        "enja",
        "small_parallel_enja",
        texts(
            *(f"{part}.{one}" for part in ("train", "dev", "test") for one in ("en", "ja")),
            content="a cat runs .\n",
        ),
        lambda folder: load_enja_data("enja", "ja", "en", folder, LOGGER).record,
        "zoo.data.enja.PUBLISHED",
    ),
    "wikitext-2": corpus("wikitext-2", "zoo.tasks.language_model.data.PUBLISHED"),
    "wikitext-103": corpus("wikitext-103"),
    "ptb": corpus("ptb", pattern="ptb.{}.txt"),
    "cloze": cloze("cloze", f"{BOOKS}, named entities", "ne"),
    "cloze of both kinds": cloze("cloze", f"{BOOKS}, named entities and common nouns", "both"),
    "cloze with cut questions": cloze("cloze", f"{BOOKS}, named entities", "ne", cut=True),
    "cbt": cloze("cbt", "Children's Book Test, named entities", "ne"),
}


@pytest.mark.parametrize("name", READERS)
def test_one_file_that_is_not_the_published_one_takes_the_name_away(name, tmp_path, monkeypatch):
    reader = READERS[name]
    reader.write(tmp_path)
    record = reader.read(tmp_path)
    if reader.published:
        assert record.name.startswith("own files: ")
        monkeypatch.setattr(reader.published, reader.known(file_sums([*tmp_path.iterdir()])))
        record = reader.read(tmp_path)
        assert record.name == reader.title
        assert "in the layout" not in record.remarks
    files = [path for path in tmp_path.iterdir() if path.name in record.sha256]
    assert 0 < len(files) == len(record.sha256)
    for path in files:
        content = path.read_bytes()
        path.write_bytes(reader.changed(content))
        record = reader.read(tmp_path)
        assert record.name.startswith("own files: ")
        assert path.name in record.name
        assert f"in the layout of {reader.title}" in record.remarks
        assert path.name in record.remarks
        path.write_bytes(content)


def test_every_data_set_of_the_recipes_is_tried():
    offered = set()
    for path in (ROOT / "recipes").glob("*.py"):
        settings = getattr(importlib.import_module(f"recipes.{path.stem}"), "Settings", None)
        values = typing.get_type_hints(settings).get("data") if settings else None
        offered |= {*typing.get_args(values)} - {"auto", "sample", "generated", "formulas"}
    assert {reader.data for reader in READERS.values()} == {
        value for value in offered if isinstance(value, str) and value not in GENERATED
    }
