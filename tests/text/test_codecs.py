import shutil

import keras
import numpy as np
import tensorflow as tf

from tests.serving.fresh_process import Request, serve_in_fresh_process
from tests.text.codecs import STRANGE
from zoo.text.codecs import TextCodec
from zoo.text.subwords import SubwordCodec, train_subwords
from zoo.text.vocabulary import PADDING, write_vocabulary
from zoo.text.words import WordCodec

TEXTS = [*STRANGE, b"the cat's \xe2\x80\x9enaps\xe2\x80\x9c, well"]


def outputs_of(codec: TextCodec, text: tf.Tensor, name: str) -> dict[str, tf.Tensor]:
    ids = codec.encode(text)
    outputs = {
        "ids": ids.to_tensor(PADDING),
        "tokens": codec.tokens(text).to_tensor(""),
        "pieces": codec.pieces(ids.to_tensor(PADDING)),
        "text": codec.decode(ids),
        "joined": codec.join(codec.tokens(text)),
    }
    return {f"{name}_{key}": value for key, value in outputs.items()}


def test_codecs_travel_inside_a_saved_model(tmp_path):
    """Written, moved, the codecs' files gone, in a process without this package: the same."""
    write_vocabulary(tmp_path / "words.txt", ["the", "cat", "'s", "„", "“", "well", ","])
    train_subwords(["the cat's „naps“, well", "a b c"], tmp_path / "subwords.model", 30)
    train_subwords(["一只猫在睡觉，好吧", "a b c"], tmp_path / "others.model", 30)
    codecs = {
        "words": WordCodec(tmp_path / "words.txt", language="de"),
        "subwords": SubwordCodec(tmp_path / "subwords.model"),
        "others": SubwordCodec(tmp_path / "others.model"),  # a translator may have two
    }

    def serve(text: tf.Tensor) -> dict[str, tf.Tensor]:
        parts = [outputs_of(codec, text, name) for name, codec in codecs.items()]
        return {key: value for part in parts for key, value in part.items()}

    expected = serve(tf.constant(TEXTS))
    archive = keras.export.ExportArchive()
    for codec in codecs.values():
        archive.track(codec)
    signature = [tf.TensorSpec([None], tf.string, name="text")]
    archive.add_endpoint("serving_default", serve, input_signature=signature)
    archive.write_out(str(tmp_path / "model"), verbose=False)
    shutil.move(tmp_path / "model", tmp_path / "moved")
    for codec in codecs.values():
        for path in codec.files:
            path.unlink()
    requests = [Request(tmp_path / "moved", {"text": TEXTS})]
    (answers,) = serve_in_fresh_process(requests, tmp_path)
    assert len(answers) == 2
    for outputs in answers.values():
        assert outputs.keys() == expected.keys()
        for name, value in outputs.items():
            np.testing.assert_array_equal(value, expected[name].numpy(), name)
    assert expected["words_text"].numpy()[-1].decode() == "the cat's „“, well"
