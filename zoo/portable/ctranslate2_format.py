"""Transformers as models of CTranslate2, whose kernels translate faster than TensorFlow's.

CTranslate2 (https://github.com/OpenNMT/CTranslate2) has the encoder, the decoder's steps and the
beam search as compiled code. It knows no other architecture of this package. The folder holds what
its `Translator` opens, and the SentencePiece models:

    translator = ctranslate2.Translator(folder)
    subwords = sentencepiece.SentencePieceProcessor(f"{folder}/subwords_0.model")
    (found,) = translator.translate_batch([subwords.encode(text, out_type=str)], beam_size=5)
    subwords.decode(found.hypotheses[0])
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import tensorflow as tf
from ctranslate2 import Translator
from ctranslate2.specs import TransformerSpec

from zoo.models.transformer.transformer import Transformer
from zoo.models.transformer.transformer_blocks import EPSILON
from zoo.text.vocabulary import END, SPECIAL_WORDS, START

POSITIONS = 1024
"""Tokens of a source or a target at most, which is also what a `Translator` reads if not told
otherwise."""
TOLERANCE = 1e-3
"""Largest difference between log-probabilities of CTranslate2 and of TensorFlow."""


def write_ctranslate2(
    model: Any, subwords: Sequence[bytes | Path], folder: Path, weights: str
) -> dict[str, dict[str, str]]:
    """Writes a model for CTranslate2, once it gives the log-probabilities that TensorFlow does.

    Args:
        model: a built Transformer.
        subwords: SentencePiece models of source and target; one, if they share it.
        folder: Where to; it exists.
        weights: "float32"; or "int8", to which matrices are rounded after the comparison.

    Returns:
        Side, "text" or "target" -> the file of its SentencePiece model, for the manifest.

    Raises:
        ValueError: Another architecture or tokenizer, sizes of heads that CTranslate2 derives from
            the model's, or other log-probabilities.
    """
    check_model(model)
    texts = [content for content in subwords if isinstance(content, bytes)]
    if len(texts) < len(subwords) or not texts:
        raise ValueError("tokenizers must be of subwords in format ctranslate2, got words")
    texts = list(dict.fromkeys(texts))  # once, if source and target share it
    files = [folder / f"subwords_{place}.model" for place in range(len(texts))]
    for file, content in zip(files, texts, strict=True):
        file.write_bytes(content)
    vocabularies = [_pieces(texts[0]), _pieces(texts[-1])]
    _save(transformer_spec(model, vocabularies), folder)
    _check(model, folder, *vocabularies)
    if weights == "int8":
        _save(transformer_spec(model, vocabularies), folder, "int8")
    return {"text": {"file": files[0].name}, "target": {"file": files[-1].name}}


def check_model(model: Any) -> None:
    """Refuses what CTranslate2 cannot compute.

    Raises:
        ValueError: It is no Transformer, or its heads have sizes of their own.
    """
    if not isinstance(model, Transformer):
        raise ValueError(
            f"model must be a Transformer in format ctranslate2, got a {type(model).__name__}"
        )
    usual = model.model_dim // model.num_heads
    for name in ("key_dim", "value_dim"):
        if (size := getattr(model, name)) not in (None, usual):
            raise ValueError(f"{name} must be {usual} in format ctranslate2, got {size}")


def transformer_spec(model: Transformer, vocabularies: Sequence[list[str]]) -> TransformerSpec:
    """Makes the specification of a model, with its weights.

    Args:
        model: a built Transformer.
        vocabularies: pieces of source and target, by id.
    """
    spec = TransformerSpec.from_config(
        model.depth,
        model.num_heads,
        pre_norm=model.norm == "pre",
        alignment_layer=model.aligned_layer,
        alignment_heads=model.num_heads,
    )
    spec.config.layer_norm_epsilon = EPSILON
    spec.config.add_source_eos = True
    spec.register_source_vocabulary(vocabularies[0])
    spec.register_target_vocabulary(vocabularies[1])
    spec.encoder.embeddings[0].weight = _array(model.source_embedding.table)
    spec.decoder.embeddings.weight = _array(model.target_embedding.table)
    own = model.softmax
    table = _array(model.target_embedding.table if own is None else own.kernel)
    spec.decoder.projection.weight = table.copy() if own is None else table.T.copy()
    for side, stack in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        if model.norm == "pre":
            _copy_norm(side.layer_norm, stack.norm)
        for layer, block in zip(side.layer, stack.blocks, strict=True):
            _copy_block(layer, block)
    spec.encoder.position_encodings.encodings = _positions(model.source_positions)
    spec.decoder.position_encodings.encodings = _positions(model.target_positions)
    return spec


def _copy_block(layer: Any, block: Any) -> None:
    """Copies the sublayers of an encoder block or a decoder block."""
    own = block.self_attention
    sizes = (own.key_dim, own.key_dim, own.value_dim)
    _copy_linear(layer.self_attention.linear[0], *_by_projection(own, own.input_projection, sizes))
    _copy_linear(layer.self_attention.linear[1], *own.output_projection)
    _copy_norm(layer.self_attention.layer_norm, block.self_norm)
    if hasattr(layer, "attention"):
        cross, (query, memory, output) = block.cross_attention, layer.attention.linear
        _copy_linear(query, *_by_projection(cross, cross.query_projection, sizes[:1]))
        _copy_linear(memory, *_by_projection(cross, cross.memory_projection, sizes[1:]))
        _copy_linear(output, *cross.output_projection)
        _copy_norm(layer.attention.layer_norm, block.cross_norm)
    _copy_linear(layer.ffn.linear_0, block.inner.kernel, block.inner.bias)
    _copy_linear(layer.ffn.linear_1, block.outer.kernel, block.outer.bias)
    _copy_norm(layer.ffn.layer_norm, block.feed_forward_norm)


def _by_projection(attention: Any, projection: Any, sizes: Sequence[int]) -> tuple[Any, Any]:
    """Orders the columns of a kernel by projection, then by head; here heads come first."""
    width = attention.num_heads * sum(sizes)
    columns = np.arange(width).reshape(attention.num_heads, sum(sizes))
    parts = np.split(columns, np.cumsum(sizes)[:-1], axis=1)
    order = np.concatenate([part.ravel() for part in parts])
    kernel, bias = projection
    return _array(kernel)[:, order], None if bias is None else _array(bias)[order]


def _copy_linear(spec: Any, kernel: Any, bias: Any) -> None:
    """Copies a kernel (inputs, outputs), whose transpose is stored, and a bias or none."""
    spec.weight = _array(kernel).T.copy()
    if bias is not None:
        spec.bias = _array(bias)


def _copy_norm(spec: Any, norm: Any) -> None:
    spec.gamma, spec.beta = _array(norm.gamma), _array(norm.beta)


def _positions(layer: Any) -> np.ndarray:
    """Computes the vectors of the first positions."""
    return _array(layer(tf.range(POSITIONS)))


def _pieces(content: bytes) -> list[str]:
    """Lists the pieces of a SentencePiece model by id."""
    subwords = sentencepiece.SentencePieceProcessor(model_proto=content)
    return [subwords.id_to_piece(number) for number in range(subwords.get_piece_size())]


def _array(weight: Any) -> np.ndarray:
    return np.asarray(weight, np.float32)


def _save(spec: TransformerSpec, folder: Path, quantization: str | None = None) -> None:
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))


def _check(model: Transformer, folder: Path, source: list[str], target: list[str]) -> None:
    """Compares log-probabilities of made-up sentences of different lengths."""
    first = len(SPECIAL_WORDS)
    read, written = (
        [first + (np.arange(5 + row) * 3 + row) % (len(words) - first) for row in range(3)]
        for words in (source, target)
    )
    scores = Translator(str(folder), inter_threads=1, intra_threads=1).score_batch(
        [[source[number] for number in ids] for ids in read],
        [[target[number] for number in ids] for ids in written],
    )
    for ids, tokens, score in zip(read, written, scores, strict=True):
        inputs = {"source": [[*ids, END]], "target": [[START, *tokens]]}
        logits = model({name: tf.constant(rows) for name, rows in inputs.items()})["logits"][0]
        expected = tf.gather(tf.nn.log_softmax(logits), [*tokens, END], batch_dims=1).numpy()
        if not np.allclose(score.log_probs, expected, TOLERANCE, TOLERANCE):
            raise ValueError("model.bin must give the log-probabilities of TensorFlow's, differs")
