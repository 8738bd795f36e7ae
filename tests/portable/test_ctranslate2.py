"""Transformers translate in CTranslate2 as in TensorFlow."""

import sys

import ctranslate2
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from tests.portable.test_export import built
from zoo.benchmarks.ctranslate2 import CTranslate2Speed
from zoo.portable import ctranslate2_format
from zoo.portable.ctranslate2_format import POSITIONS, write_ctranslate2
from zoo.portable.export import export_portable
from zoo.serving.load import load_card
from zoo.tasks.translation.examples import search
from zoo.text.subwords import train_subwords

SENTENCES = [[5], [4, 7, 9, 11], [8, 8, 5, 12, 6, 4, 10]]
OPTIONS = {
    "as printed": {},
    "pre, biases": {"norm": "pre", "use_attention_bias": True, "alignment_layer": 1},
    "learned, shared": {
        "positions": "learned",
        "shared_embeddings": True,
        "source_vocabulary_size": 13,
    },
}


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> list[bytes]:
    """SentencePiece models of 17 and 13 pieces."""
    files = []
    for size, texts in ((17, ["abcdefghijkl"]), (13, ["abcdefgh"])):
        files.append(tmp_path_factory.mktemp("subwords") / "model")
        train_subwords(texts, files[-1], size)
    return [file.read_bytes() for file in files]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_search_finds_the_same_and_attends_to_the_same(options, subwords, tmp_path):
    model = built("Transformer", **options)
    own = subwords[1:] if model.shared_embeddings else subwords
    files = write_ctranslate2(model, own, tmp_path, "float32")
    assert len({side["file"] for side in files.values()}) == len(own)
    source, target = (
        sentencepiece.SentencePieceProcessor(model_proto=one) for one in (own[0], own[-1])
    )
    translator = ctranslate2.Translator(str(tmp_path))
    for ids in SENTENCES:
        memory = model.encode({"source": tf.constant([[*ids, 3]])})
        expected = search(model, memory, 1, 0.0, 1)
        # The search never writes padding or a start; CTranslate2 is told not to.
        (found,) = translator.translate_batch(
            [[source.id_to_piece(number) for number in ids]],
            beam_size=1,
            max_decoding_length=int(expected.tokens.shape[2]),
            suppress_sequences=[["<pad>"], ["<s>"]],
            return_attention=True,
        )
        written = [target.piece_to_id(piece) for piece in found.hypotheses[0]]
        right = [number for number in expected.tokens[0, 0].numpy().tolist() if number > 3]
        assert [number for number in written if number > 3] == right
        # Of the pieces that were written, to the source without the end that it adds.
        attention = np.array(found.attention[0])
        maps = expected.alignment[0, 0, : len(attention), :-1].numpy()
        np.testing.assert_allclose(attention, maps, atol=1e-5)


def test_other_architectures_heads_and_tokenizers_are_refused(subwords, tmp_path):
    with pytest.raises(
        ValueError, match="model must be a Transformer in format ctranslate2, got a R"
    ):
        write_ctranslate2(built("RNNsearch"), subwords, tmp_path, "float32")
    wider = built("Transformer", key_dim=4)
    with pytest.raises(ValueError, match="key_dim must be 3 in format ctranslate2, got 4"):
        write_ctranslate2(wider, subwords, tmp_path, "float32")
    words = [tmp_path / "words.txt"]
    with pytest.raises(
        ValueError, match="tokenizers must be of subwords in format ctranslate2, got"
    ):
        write_ctranslate2(built("Transformer"), words, tmp_path, "float32")


def test_other_probabilities_are_an_error(subwords, tmp_path, monkeypatch):
    model = built("Transformer")
    made = ctranslate2_format.transformer_spec(model, [["a"] * 17, ["b"] * 13])
    made.decoder.projection.weight *= 1.1
    made._vocabularies = {
        side: [ctranslate2_format._pieces(one)]
        for side, one in zip(("source", "target"), subwords, strict=True)
    }
    monkeypatch.setattr(ctranslate2_format, "transformer_spec", lambda *_: made)
    with pytest.raises(ValueError, match="must give the log-probabilities of TensorFlow's"):
        write_ctranslate2(model, subwords, tmp_path, "float32")


def test_learned_positions_beyond_the_last_are_the_last(subwords):
    model = built("Transformer", positions="learned")
    rows = ctranslate2_format._positions(model.source_positions)
    assert rows.shape == (POSITIONS, model.model_dim)
    np.testing.assert_array_equal(rows[3], rows[-1])
    assert not np.array_equal(rows[2], rows[3])


def test_without_the_package_its_name_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.delitem(sys.modules, "zoo.portable.ctranslate2_format")
    with pytest.raises(ValueError, match="needs the package ctranslate2: install attention-model-"):
        export_portable("multi30k_transformer_en_de", tmp_path / "model", "ctranslate2")
    assert not any(tmp_path.iterdir())


def test_a_shipped_model_translates_and_is_replaced_as_a_whole(tmp_path):
    name, folder, texts = "multi30k_transformer_en_de", tmp_path / "model", tmp_path / "texts"
    export_portable(name, folder, "ctranslate2")
    size = (folder / "model.bin").stat().st_size
    manifest = export_portable(name, folder, "ctranslate2", "int8")
    assert (folder / "model.bin").stat().st_size < size / 3
    assert manifest["tokenizers"]["text"] == manifest["tokenizers"]["target"]
    assert manifest["limits"] == load_card(name).limits
    (folder / "notes.txt").touch()
    with pytest.raises(ValueError, match=r"do not belong to its export: notes\.txt"):
        export_portable(name, folder, "ctranslate2")
    sentences = ["A man in a red shirt is sleeping.", "Two dogs run.", "A girl sings."]
    texts.write_text("\n".join(sentences))
    references = tmp_path / "references"
    references.write_text("Ein Mann in einem roten Hemd schläft.\nZwei Hunde rennen.\nx\n")
    table = CTranslate2Speed(
        texts=texts, references=references, count=3, batch_sizes=(2,), rounds=1
    ).measure()
    names = ["SavedModel,", "LiteRT", "ONNX", "CTranslate2", "CTranslate2"]
    assert [name.split(" ")[0] for name in table] == names
    for row in table.values():
        assert list(row) == ["equal translations", "BLEU", "2 a batch, ms a text"]
        assert row["BLEU"] > 0 < row["2 a batch, ms a text"]
    assert [row["equal translations"] for row in table.values()][:-1] == [3] * 4
