"""Weights of a finished run, as the first weights of another one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.serving.codecs import load_codecs
from zoo.serving.load import load

if TYPE_CHECKING:
    from zoo.text.codecs import TextCodec


def copy_weights(saved_model: Path, model: Any, name: str = "start_from") -> None:
    """Gives a model the trained weights of a SavedModel; those that it lacks stay as they are.

    Args:
        saved_model: its folder.
        model: of the same class.
        name: the setting that names the SavedModel.

    Raises:
        ValueError: if there is no such SavedModel, it holds another architecture or trained weights
            that the model has no place for, or a weight has another shape.
    """
    finished = load(saved_model)
    if type(finished) is not type(model):
        raise ValueError(
            f"{name} must hold a {type(model).__name__}, got a {type(finished).__name__}"
        )
    model.build()
    trained, own = _by_path(finished), _by_path(model)
    # What is not trained by gradients, such as a running mean of the reward, may stay behind.
    if lost := [path for path in trained if path not in own and trained[path].trainable]:
        raise ValueError(
            f"{name} must have no trained weights but this run's, got {', '.join(lost)} too: "
            "take the options that it was trained with"
        )
    for path, weight in own.items():
        found = trained.get(path)
        if found is not None and found.shape != weight.shape:
            raise ValueError(
                f"{name} must have a {path} of shape {tuple(weight.shape)}, "
                f"got {tuple(found.shape)}"
            )
        if found is not None:
            weight.assign(found)


def _by_path(model: Any) -> dict[str, Any]:
    """Weights by their path within the model."""
    return {weight.path.partition("/")[2]: weight for weight in model.weights}


def check_words(name: str, saved_model: Path, codecs: Sequence["TextCodec"]) -> None:
    """Checks that the ids of a SavedModel stand for the words of this run.

    Args:
        name: the setting that names the SavedModel.
        saved_model: its folder.
        codecs: of this run, in the order of ``load_codecs``.

    Raises:
        ValueError: if there is no such SavedModel, or its codecs are others.
    """
    for found, own in zip(load_codecs(saved_model), codecs, strict=True):
        if _words(found) != _words(own):
            raise ValueError(
                f"{name} must have this run's vocabulary, of the same data and settings;"
                f" {saved_model} has another one"
            )


def _words(codec: "TextCodec") -> list[bytes]:
    """Lists the words of all ids."""
    import tensorflow as tf

    words: list[bytes] = codec.pieces(tf.range(codec.vocabulary_size)[None])[0].numpy().tolist()
    return words
