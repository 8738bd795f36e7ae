"""Captions in Karpathy's files and in folders of one's own."""

import json

import pytest

from zoo.data.karpathy import read_karpathy
from zoo.data.own_captions import read_own_captions


def image(name, split, *raw, **more):
    return {"filename": name, "split": split, "sentences": [{"raw": one} for one in raw], **more}


def write(path, *images):
    path.write_text(json.dumps({"images": images, "dataset": "flickr8k"}))
    return path


def test_parts_of_a_karpathy_file(tmp_path):
    path = write(
        tmp_path / "dataset.json",
        image("a.jpg", "train", "A dog .", " Two dogs."),
        image("b.jpg", "val", "A cat."),
        image("c.jpg", "test", "A bird."),
        image("d.jpg", "restval", "A fish.", filepath="val2014"),
    )
    train = read_karpathy(path, "train")
    assert train.values.tolist() == [
        ["a.jpg", "A dog ."],
        ["a.jpg", "Two dogs."],
        ["val2014/d.jpg", "A fish."],
    ]
    assert read_karpathy(path, "dev").values.tolist() == [["b.jpg", "A cat."]]
    assert read_karpathy(path, "test").values.tolist() == [["c.jpg", "A bird."]]


@pytest.mark.parametrize(
    ("images", "told"),
    [
        ([image("a.jpg", "val", "A dog.")], "must have pictures of the split 'train', got none"),
        (
            [image("a.jpg", "train")],
            r"images\[0\]: sentences must be a list with a caption",
        ),
        ([image("", "train", "A dog.")], r"images\[0\]: filename must be a text, got ''"),
        ([image("a.jpg", "train", "")], r"images\[0\].sentences\[0\]: raw must be a text, got ''"),
        ([image("a.jpg", "train", " ")], r"sentences\[0\]: raw must be a text, got ' '"),
        ([image("a.jpg", "train", "\ud800")], r"^.*sentences\[0\]: raw: half of a surrogate pair"),
        (["a.jpg"], r"images\[0\]: split must be a text, got None"),
    ],
)
def test_malformed_karpathy_files_name_the_place(tmp_path, images, told):
    with pytest.raises(ValueError, match=told):
        read_karpathy(write(tmp_path / "dataset.json", *images), "train")


def test_a_picture_of_two_parts_of_a_karpathy_file_is_named(tmp_path):
    pictures = [image("a.jpg", "train", "A dog."), image("b.jpg", "test", "A cat.")]
    for more in (image("a.jpg", "restval", "Dogs."), image("b.jpg", "train", "A.", filepath="x")):
        read_karpathy(write(tmp_path / "dataset.json", *pictures, more), "train")
    path = write(tmp_path / "dataset.json", *pictures, image("b.jpg", "restval", "A cat."))
    for split in ("train", "dev", "test"):
        told = r"images\[2\]: b.jpg must be in one part, got 'test' and 'train'"
        with pytest.raises(ValueError, match=told):
            read_karpathy(path, split)


def test_other_files_and_splits_are_refused(tmp_path):
    path = tmp_path / "dataset.json"
    path.write_text("[")
    with pytest.raises(ValueError, match=r"dataset.json must be JSON"):
        read_karpathy(path, "train")
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"dataset.json must be JSON"):
        read_karpathy(path, "train")
    path.write_text("[]")
    with pytest.raises(ValueError, match="images must be a list, got NoneType"):
        read_karpathy(path, "train")
    with pytest.raises(ValueError, match=r"split must be one of \['train', 'dev', 'test'\], got"):
        read_karpathy(path, "val")


def own(tmp_path, *lines):
    (tmp_path / "captions.tsv").write_text("\n".join(lines) + "\n")
    return read_own_captions(tmp_path)


def test_captions_of_a_folder(tmp_path):
    found = own(tmp_path, "file\tsentence", "a.png\tA dog.", "b.png\tA cat.", "", "a.png\tDogs.")
    assert found.values.tolist() == [
        ["a.png", "A dog.", ""],
        ["b.png", "A cat.", ""],
        ["a.png", "Dogs.", ""],
    ]
    assert found.index.tolist() == [2, 3, 5]
    found = own(tmp_path, "a.png\tA dog.\ttrain", "b.png\tA cat.\ttest")
    assert found["part"].tolist() == ["train", "test"]


@pytest.mark.parametrize("heading", ["File\tSentence\tPart", "file\t sentence", "file\tsentence\t"])
def test_only_the_names_of_the_columns_are_a_heading(tmp_path, heading):
    assert len(own(tmp_path, heading, "a.png\tA dog.")) == 1
    found = own(tmp_path, "file\tSentences on a page.", "a.png\tA dog.")  # a picture without ending
    assert [*found["caption"]] == ["Sentences on a page.", "A dog."]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["a.png A dog."], "line 1 must be a file name, a tab and a sentence"),
        (["a.png\tA dog.\ttrain\tmore"], "line 1 must be a file name"),
        (["a.png\tA dog.\tdev"], r"line 1: part must be one of .* got 'dev'"),
        (["a.png\tA\ttrain", "a.png\tB\ttest"], "line 2: part must be 'train', got 'test'"),
        (["a.png\tA\ttrain", "b.png\tB"], "all pictures must have a part or none of them"),
        (["file\tsentence"], "must have a caption, got none"),
    ],
)
def test_malformed_lines_are_named(tmp_path, lines, told):
    with pytest.raises(ValueError, match=told):
        own(tmp_path, *lines)
