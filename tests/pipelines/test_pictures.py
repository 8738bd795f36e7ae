"""Files of pictures in, captions and classes out: in Python and on the command line."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import zoo
from tests.tasks.captioning.captioners import FILES, make_codec, make_encoder, make_model
from zoo.cli.main import main
from zoo.models.glimpse import RecurrentAttentionModel
from zoo.pipelines.results import Caption, Label
from zoo.serving.cards import DataRecord
from zoo.tasks.captioning.endpoint import CaptionEndpoint
from zoo.tasks.images.endpoint import ImageEndpoint
from zoo.tasks.shared.endpoints import export_endpoint

LABELS = ("left", "middle", "right")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A captioner, a classifier, and six pictures."""
    found = tmp_path_factory.mktemp("pictures")
    captioner = CaptionEndpoint(
        make_model(), make_codec(found), make_encoder(), beam_width=2, maximum_words=4
    )
    classifier = RecurrentAttentionModel.from_preset("tiny", image_size=(6, 4), classes=3)
    classifier.build()
    data = DataRecord("sample", training="none", evaluation="none")
    numbers = {"data": data, "metrics": {"loss": 1.0}, "seed": 0, "seconds": 1.0}
    export_endpoint(found / "captioner", captioner, task="captioning", **numbers)
    export_endpoint(found / "eye", ImageEndpoint(classifier, LABELS), task="images", **numbers)
    for number, file in enumerate(FILES):
        (found / f"{number}.png").write_bytes(file)
    return found


def test_captions_are_those_of_the_signature(folder):
    describe = zoo.pipeline(folder / "captioner")
    outputs = describe.servable.ask({"image_bytes": FILES})
    results = describe([str(folder / f"{number}.png") for number in range(6)], batch_size=4)
    for row, result in enumerate(results):
        assert isinstance(result, Caption)
        assert result.text == outputs["caption"][row].decode()
        assert result.score == pytest.approx(outputs["score"][row], rel=1e-5)
        length = outputs["target_length"][row]
        weights = outputs["attention_alignment"][row, :length]
        np.testing.assert_allclose(result.attention["alignment"], weights, atol=1e-6)
        assert len(result.tokens["target"]) == length
    alone = describe(folder / "3.png")
    assert alone.text == describe(image=FILES[3]).text == results[3].text
    assert len(alone.plot().axes) >= 1 + len(alone.tokens["target"])
    assert "data:image/png;base64," in alone._repr_html_()


def test_several_captions_of_a_picture(folder):
    describe = zoo.pipeline(folder / "captioner")
    several = describe(FILES[0], n_best=3)
    outputs = describe.servable.ask(
        {"image_bytes": FILES[:1], "beam_width": 3, "length_penalty": 1.0}, "beam"
    )
    assert [one.text.encode() for one in several] == outputs["caption"][0].tolist()
    assert describe(FILES[0], beam_width=1).text == describe([FILES[0]], beam_width=1)[0].text


def test_classes_of_pictures(folder):
    look = zoo.pipeline(folder / "eye")
    outputs = look.servable.ask({"image_bytes": FILES}, "encoded")
    results = look(FILES)
    for row, result in enumerate(results):
        assert isinstance(result, Label)
        assert result.label == outputs["label"][row].decode()
        np.testing.assert_allclose([*result.probabilities.values()], outputs["probabilities"][row])
    assert results[0].probabilities.keys() == {*LABELS}


def test_any_list_of_files_is_a_list(folder):
    look = zoo.pipeline(folder / "eye")
    names = [str(folder / f"{number}.png") for number in range(3)]
    labels = [one.label for one in look(names)]
    paths = np.array([folder / f"{number}.png" for number in range(3)], object)
    for given in (
        pd.Series(names),
        np.array(names),
        paths,
        (name for name in names),
        dict.fromkeys(names).keys(),
    ):
        assert [one.label for one in look(given)] == labels
    assert look(pd.Series([], dtype=object)) == look(np.array([])) == []
    assert len(look(np.array(FILES[:1], object))) == 1


def test_what_holds_other_parts_than_files_is_no_list_of_them(folder):
    look = zoo.pipeline(folder / "eye")
    pixels = np.zeros((6, 4, 1), np.uint8)
    with (folder / "0.png").open("rb") as file:
        for given in (file, bytearray(FILES[0]), memoryview(FILES[0]), pixels, {FILES[0]}):
            with pytest.raises(
                ValueError, match=r"^image must be a file name, bytes, or a list of"
            ):
                look(given)
    with pytest.raises(ValueError, match=r"^image must be .*, got DataFrame: give one of its col"):
        look(pd.DataFrame({"file": ["a.png"]}))


def test_other_inputs_are_refused(folder):
    describe = zoo.pipeline(folder / "captioner")
    with pytest.raises(FileNotFoundError, match=r"none\.png"):
        describe("none.png")
    with pytest.raises(ValueError, match="image must be a file name, bytes, or a list of these"):
        describe(3)
    with pytest.raises(ValueError, match=r"image\[1\] must be a file name or bytes, got int '3'"):
        describe([FILES[0], 3])
    with pytest.raises(ValueError, match="inputs of captioner must be image, got none"):
        describe()
    with pytest.raises(ValueError, match="must be a JPEG, PNG or BMP picture"):
        describe(b"GIF89a" + bytes(40))
    with pytest.raises(ValueError, match=r"^image\[3\]: .* must be a JPEG, .*, got 46 bytes that"):
        describe([*FILES[:2], FILES[0], b"GIF89a" + bytes(40)], batch_size=2)


def test_the_command_line_takes_files(folder, capsys, monkeypatch):
    pictures = [str(folder / f"{number}.png") for number in (0, 1)]

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["zoo", *arguments])
        main()
        return capsys.readouterr().out.splitlines()

    describe = zoo.pipeline(folder / "captioner")
    expected = [one.text for one in describe(pictures)]
    assert run("run", str(folder / "captioner"), "--image", *pictures) == expected
    assert run("run", str(folder / "eye"), "--image", pictures[0])[0] in LABELS
    (line,) = run("run", str(folder / "captioner"), "--json", "--image", pictures[1])
    assert json.loads(line)["caption"] == expected[1]
    monkeypatch.chdir(folder)
    assert run("picture", str(folder / "captioner"), "--image", pictures[0]) == ["attention.png"]
    assert (folder / "attention.png").stat().st_size > 2_000


def test_a_picture_that_cannot_be_read_is_named_after_the_answers_before_it(
    folder, capsys, monkeypatch
):
    broken = folder / "broken.png"
    broken.write_bytes(b"\x89PNG broken")

    def told(*pictures):
        monkeypatch.setattr("sys.argv", ["zoo", "run", str(folder / "captioner"), "--image"])
        sys.argv += map(str, pictures)
        with pytest.raises(SystemExit) as exit_:
            main()
        return str(exit_.value.code), len(capsys.readouterr().out.splitlines())

    error, answers = told(folder / "0.png", broken, folder / "1.png")
    assert f"{broken}: " in error
    assert "must be a JPEG, PNG or BMP picture" in error
    assert answers == 1
    error, answers = told(folder / "0.png", folder / "none.png")
    assert "none.png" in error
    assert answers == 0
