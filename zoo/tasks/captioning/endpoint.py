"""Writes captions: what a captioner is shipped as.

Decoding of files, encoder of pictures, model and search are in the graph. ``serving_default``
searches with the beam it was made with; ``beam`` takes width and length penalty and returns as many
captions as the beam is wide; a third signature takes what the model reads instead of files.
"""

from typing import Any

import tensorflow as tf

from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.images.decoding import decode_images
from zoo.images.encoders import AnnotationEncoder
from zoo.models.core.axes import Axes, Grid, Steps
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.serving.export import Endpoint
from zoo.tasks.captioning.examples import search
from zoo.tasks.shared.endpoints import codec_config, finite
from zoo.tasks.shared.text_input import check_limit
from zoo.text.codecs import TextCodec

_WHITE = 255.0


class CaptionEndpoint:
    """Picture in; caption and a map for each word out.

    Args:
        model: a built captioner with an input ``annotations`` or ``image``.
        codec: of the words, as in training.
        encoder: of a model that reads annotations; None: the servable takes no files.
        scale: multiplies annotations, as in training.
        beam_width: of ``serving_default``.
        length_penalty: GNMT's exponent, of ``serving_default``.
        maximum_words: of a caption.

    Raises:
        ValueError: a number below 1, or an encoder that does not fit the model.
    """

    def __init__(
        self,
        model: SequenceToSequenceModel,
        codec: TextCodec,
        encoder: AnnotationEncoder | None = None,
        *,
        scale: float = 1.0,
        beam_width: int = 5,
        length_penalty: float = 1.0,
        maximum_words: int = 30,
    ) -> None:
        check_limit("beam_width", beam_width)
        check_limit("maximum_words", maximum_words)
        self.model = model
        self.codec = codec
        self.encoder = encoder
        self.scale = scale
        self.beam_width = beam_width
        self.length_penalty = length_penalty
        self.maximum_words = maximum_words
        kinds = model.input_kinds()
        self._input = "annotations" if "annotations" in kinds else "image"
        self._shape = kinds[self._input].shape
        if encoder is not None:
            found = (encoder.grid[0] * encoder.grid[1], encoder.dim)
            if self._input != "annotations" or found != self._shape:
                raise ValueError(
                    f"encoder must give {self._input} of the shape {self._shape}, got {found}"
                )
        # One function in the graph that all signatures call: each copy of it takes time to load.
        number = tf.TensorSpec([], tf.int32)
        self._write = tf.function(
            self._search,
            input_signature=[self._spec, number, tf.TensorSpec([], tf.float32), number],
            autograph=False,
        )

    @property
    def limits(self) -> dict[str, int | float]:
        """The numbers that it was made with, for the model card."""
        return {
            "beam_width": self.beam_width,
            "length_penalty": self.length_penalty,
            "maximum_words": self.maximum_words,
        }

    @property
    def assets(self) -> list[Any]:
        """Owners of the files and variables that travel with the SavedModel."""
        owners = [self.codec, self.encoder]
        return [owner for owner in owners if isinstance(owner, tf.Module)]

    def get_config(self) -> dict[str, Any]:
        """How pictures and words become numbers, for the model card."""
        config: dict[str, Any] = {"target": codec_config(self.codec)}
        if self.encoder is not None:
            config["encoder"] = self.encoder.get_config() | {"scale": self.scale}
        return config

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        files = tf.TensorSpec([None], tf.string, name="image_bytes")
        width = tf.TensorSpec([], tf.int32, name="beam_width")
        penalty = tf.TensorSpec([], tf.float32, name="length_penalty")
        words = Steps("target")
        axes: dict[str, Axes] = {
            "target_tokens": (words,),
            "attention_alignment": (words, Grid("image")),
        }
        direct = Endpoint(self.serve_inputs, [self._spec], axes)
        if not self._takes_files:
            return {"serving_default": direct}
        return {
            "serving_default": Endpoint(self.serve, [files], axes),
            "beam": Endpoint(self.serve_beam, [files, width, penalty], axes),
            self._input: direct,
        }

    def serve(self, image_bytes: tf.Tensor) -> dict[str, tf.Tensor]:
        """Writes a caption of each picture.

        Below, T is the number of tokens of the longest caption of the batch, and the picture is
        divided into a grid of H x W cells.

        Args:
            image_bytes: (batch,) files, as `zoo.images.decoding.decode_images` takes them.

        Returns:
            A flat dict:
            `caption` (batch,) string;
            `score` (batch,) float32, the log-probability divided by GNMT's length penalty;
            `target_tokens` (batch, T), with a final `</s>`, padded with "";
            `target_length` (batch,) int32, `</s>` counted;
            `attention_alignment` (batch, T, H, W), padded with 0.
        """
        return self._best(self.read(image_bytes), tf.size(image_bytes))

    def serve_beam(
        self, image_bytes: tf.Tensor, beam_width: tf.Tensor, length_penalty: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the N = ``beam_width`` best captions of each picture, best first.

        Args:
            image_bytes: (batch,) files.
            beam_width: int32 scalar, at least 1.
            length_penalty: float32 scalar, GNMT's exponent, finite; 0: none.

        Returns:
            As `serve`, with an axis (N,) after the batch in all outputs. Where fewer were found
            the rest is empty, with score minus infinity.
        """
        inputs = self.read(image_bytes)
        found = self._write(inputs, beam_width, length_penalty, beam_width)
        return self._outputs(found, tf.size(image_bytes))

    def serve_inputs(self, inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """Writes captions of what the model reads.

        Args:
            inputs: `annotations`, float32 (batch, L, D), as the encoder gives them; or `image`,
                float32 (batch, H, W, C), black 0 and white 1.

        Returns:
            As `serve`.

        Raises:
            tf.errors.InvalidArgumentError: a number is NaN or infinite.
        """
        inputs = finite(self._input, inputs)
        return self._best(_one_at_least(inputs) * self.scale, tf.shape(inputs)[0])

    def read(self, image_bytes: tf.Tensor) -> tf.Tensor:
        """Turns files (batch,) into the model's input, of one row if there are none."""
        if self.encoder is not None:
            pixels = _one_at_least(decode_images(image_bytes, 3, self.encoder.size))
            return self.encoder(pixels) * self.scale
        shape: Any = self._shape  # of an image, and known: see `_takes_files`
        height, width, channels = shape
        return _one_at_least(decode_images(image_bytes, channels, (height, width))) / _WHITE

    @property
    def _takes_files(self) -> bool:
        return self.encoder is not None or (self._input == "image" and None not in self._shape)

    @property
    def _spec(self) -> tf.TensorSpec:
        return tf.TensorSpec((None, *self._shape), tf.float32, name=self._input)

    def _search(
        self,
        inputs: tf.Tensor,
        beam_width: int | tf.Tensor,
        length_penalty: float | tf.Tensor,
        n_best: int | tf.Tensor,
    ) -> Hypotheses:
        memory = self.model.encode({self._input: inputs})
        return search(self.model, memory, self.maximum_words, beam_width, length_penalty, n_best)

    def _best(self, inputs: tf.Tensor, batch: tf.Tensor) -> dict[str, tf.Tensor]:
        """Outputs of the first caption alone."""
        # A number, not a tensor, tells the search that it may be greedy.
        find = self._search if self.beam_width == 1 else self._write
        found = find(inputs, self.beam_width, self.length_penalty, 1)
        outputs = self._outputs(found, batch)
        return {name: value[:, 0] for name, value in outputs.items()}

    def _outputs(self, found: Hypotheses, batch: tf.Tensor) -> dict[str, tf.Tensor]:
        # Without the row that stood in for the rows of an empty batch.
        found = Hypotheses(*(values[:batch] for values in found))
        pieces = self.codec.pieces(found.tokens)  # (batch, N, T)
        shape = tf.shape(pieces)
        captions = self.codec.join(tf.reshape(pieces, (shape[0] * shape[1], shape[2])))
        maps = tf.reshape(found.alignment, tf.concat([shape, self.model.grid], axis=0))
        outputs: Tensors = {
            "caption": tf.reshape(captions, shape[:2]),
            "score": found.scores,
            "target_tokens": pieces,
            "target_length": found.lengths,
            "attention_alignment": maps,
        }
        return outputs


def _one_at_least(inputs: tf.Tensor) -> tf.Tensor:
    """Adds a row of zeros to an empty batch: no network need cope with none."""
    more = tf.cast(tf.shape(inputs)[0] == 0, tf.int32)
    widths = [[0, more]] + [[0, 0]] * (inputs.shape.rank - 1)
    return tf.pad(inputs, widths)
