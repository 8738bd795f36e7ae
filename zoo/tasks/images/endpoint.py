"""Classifies pictures: what a model of one image is shipped as."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from zoo.images.decoding import decode_images
from zoo.models.core.axes import Axes
from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint, input_specs
from zoo.tasks.shared.endpoints import attention_maps, finite, map_axes

_WHITE = 255.0


class ImageEndpoint:
    """Pictures in; label, probabilities and attention out.

    Args:
        model: a built model whose one input is ``image`` and which gives ``logits``; of
            ``logits_per_step``, ``locations`` and ``seen``, those that it gives are answered too. A
            method ``look``, as the model but without maps, is exported as well.
        labels: the names of the classes, in the order of the logits.

    Raises:
        ValueError: labels of which two are alike, or another number of them than of classes.
    """

    def __init__(self, model: BaseModel, labels: Sequence[str]) -> None:
        if len(set(labels)) != len(labels) or len(labels) != model.get_config()["classes"]:
            classes = model.get_config()["classes"]
            raise ValueError(f"labels must be {classes} different ones, got {list(labels)}")
        self.model = model
        self.labels = tuple(labels)

    @property
    def limits(self) -> dict[str, int]:
        """The numbers that it was made with, for the model card: none."""
        return {}

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel: none."""
        return []

    def get_config(self) -> dict[str, Any]:
        """How strings become ids, for the model card: there are none."""
        return {}

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them.

        ``serving_default`` takes ``image``, numbers from 0 to 1; ``bytes`` takes ``pixels``, whole
        numbers from 0 to 255; ``encoded`` takes ``image_bytes``, files in PNG, JPEG or BMP.
        ``locations``, of a model with a method ``look``, takes ``image`` and gives no maps.
        """
        axes: dict[str, Axes] = map_axes(self.model)
        (image,) = input_specs(self.model)
        pixels = tf.TensorSpec(image.shape, tf.uint8, name="pixels")
        files = tf.TensorSpec([None], tf.string, name="image_bytes")
        signatures = {
            "serving_default": Endpoint(self.serve, [image], axes),
            "bytes": Endpoint(self.serve_bytes, [pixels], axes),
            "encoded": Endpoint(self.serve_encoded, [files], axes),
        }
        if hasattr(self.model, "look"):
            signatures["locations"] = Endpoint(self.serve_locations, [image], {})
        return signatures

    def serve(self, images: tf.Tensor) -> dict[str, tf.Tensor]:
        """Classifies a batch.

        Args:
            images: float32 (batch, H, W, C), black 0 and white 1.

        Returns:
            A flat dict:
            `label` (batch,) string, the most probable class;
            `probabilities` (batch, C) float32, in the order of the labels;
            `label_per_step` (batch, T) and `probabilities_per_step` (batch, T, C), likewise after
            each step of a model that works in steps;
            `locations` (batch, T, 2), rows and columns it looked at, from -1 to 1, and `seen`
            (batch, T, scales, side, side, C), what it saw there, of a model that has them;
            `attention_<name>`, the model's maps.

        Raises:
            tf.errors.InvalidArgumentError: a number is NaN or infinite.
        """
        outputs = self.model({"image": finite("image", images)}, training=False)
        return self._answers(outputs) | attention_maps(outputs)

    def serve_locations(self, images: tf.Tensor) -> dict[str, tf.Tensor]:
        """Classifies a batch as `serve` does, without maps.

        A map has a number for each pixel; without it the cost of an answer is that of what the
        model looks at. Where that was, `locations` and `seen` tell.

        Args:
            images: as of `serve`.

        Returns:
            As `serve`, without `attention_<name>`.

        Raises:
            tf.errors.InvalidArgumentError: a number where the model looks is NaN or infinite.
        """
        outputs = self.model.look({"image": images}, training=False)
        # All pixels would cost more in a larger image, and others have no influence.
        seen = finite("image", outputs["seen"])
        return self._answers(outputs | {"seen": seen})

    def _answers(self, outputs: Mapping[str, Any]) -> dict[str, tf.Tensor]:
        """All answers but the maps."""
        answers = self._named(outputs["logits"])
        if "logits_per_step" in outputs:
            steps = self._named(outputs["logits_per_step"])
            answers |= {f"{name}_per_step": value for name, value in steps.items()}
        for name in {"locations", "seen"} & outputs.keys():
            answers[name] = tf.cast(outputs[name], tf.float32)
        return answers

    def serve_bytes(self, pixels: tf.Tensor) -> dict[str, tf.Tensor]:
        """Classifies a batch of uint8 (batch, H, W, C), black 0 and white 255: as `serve`."""
        return self.serve(tf.cast(pixels, tf.float32) / _WHITE)

    def serve_encoded(self, files: tf.Tensor) -> dict[str, tf.Tensor]:
        """Classifies a batch of files (batch,) in PNG, JPEG or BMP: as `serve`.

        Pictures of another size than the model's are resized; if it has none, they must be of one
        size. See `zoo.images.decoding` for what is refused.
        """
        shape: Any = self.model.input_kinds()["image"].shape
        height, width, channels = shape
        size = None if height is None else (height, width)
        return self.serve(decode_images(files, channels, size) / _WHITE)

    def _named(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        """Label and probabilities of logits (..., C)."""
        logits = tf.cast(logits, tf.float32)
        label = tf.gather(tf.constant(self.labels), tf.argmax(logits, axis=-1))
        return {"label": label, "probabilities": tf.nn.softmax(logits)}


def as_question(image: Any) -> Mapping[str, Any]:
    """Returns the inputs of `serving_default` for one picture of bytes (H, W, C)."""
    return {"image": (image / _WHITE).astype("float32")}
