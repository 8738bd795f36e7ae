"""Show, attend and tell on pixels: a small convolutional encoder is trained with the decoder.

Kelvin Xu et al.: Show, Attend and Tell: Neural Image Caption Generation with Visual Attention.
ICML 2015, arXiv 1502.03044. The paper takes its annotations from a network that was trained on
other images (section 3.1.1), which is large. For small images of few kinds of things, three
convolutions are enough, and they can be trained from the captions alone: they take the place of
that network here. All else is ``show_attend_tell.py``.

Each convolution of 5 x 5 rectified filters halves height and width, rounded up. So a cell is 8
pixels wide and high, and its annotation has seen 29 x 29 pixels.

Shape letters: B images, H and W pixels, C channels, D annotation.

Expected result: none is published.

NumPy reference: ``tests/references/pixel_captioner.py``. Docs:
``docs/architectures/captioning.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from zoo.models.captioning.caption_training import AttentionKind, Reward
from zoo.models.captioning.deep_output import OutputActivation
from zoo.models.captioning.show_attend_tell import Biases, Captioner, Coin, with_shape
from zoo.models.core import axes
from zoo.models.core.arguments import check_pair, check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.inputs import Image, InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser
from zoo.ops.masking import Tensor

CONVOLUTIONS, FILTER_SIZE = 3, 5
CELL = 2**CONVOLUTIONS
"""Width and height of a cell in pixels."""

_PAPER = {
    "vocabulary_size": 10_000,
    "image_size": (112, 112),
    "channels": 3,
    "annotation_dim": 512,
    "embedding_dim": 512,
    "hidden_dim": 1800,
    "attention_dim": 512,
    "biases": "released",
}
"""The paper's decoder, and 14 x 14 cells."""


@register_model(task="image_captioning")
class PixelCaptioner(Captioner):
    """Writes a caption from the pixels of an image.

    Args:
        vocabulary_size: number of word ids V.
        image_size: height H and width W of the images.
        channels: of the images C.
        annotation_dim: size D of an annotation, the filters of the last convolution; the one before
            has half as many, the first a quarter, rounded up.
        embedding_dim: as in ``ShowAttendTell``, like all that follow.
        hidden_dim: likewise.
        attention_dim: likewise.
        attention: likewise.
        gate: likewise.
        init_layers: likewise.
        output_activation: likewise.
        biases: likewise.
        doubly_stochastic: likewise.
        reward: likewise.
        reward_scale: likewise.
        entropy_weight: likewise.
        soft_probability: likewise.
        coin: likewise.
        dropout: likewise.
        loss_normaliser: likewise.

    Raises:
        ValueError: as in ``ShowAttendTell``; if a size of the images is not positive.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PAPER,
        "small": {"annotation_dim": 256, "embedding_dim": 128, "hidden_dim": 256},
        "tiny": {
            "vocabulary_size": 17,
            "image_size": (9, 16),
            "channels": 1,
            "annotation_dim": 4,
            "embedding_dim": 5,
            "hidden_dim": 6,
            "attention_dim": 3,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "image": Image("channels", size="image_size"),
        "target": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Grid("image", cell=CELL))
    }

    def __init__(
        self,
        vocabulary_size: int,
        image_size: tuple[int, int] = (72, 72),
        channels: int = 1,
        annotation_dim: int = 128,
        embedding_dim: int = 64,
        hidden_dim: int = 128,
        attention_dim: int = 128,
        attention: AttentionKind = "soft",
        gate: bool = True,
        init_layers: int = 1,
        output_activation: OutputActivation = "linear",
        biases: Biases = "printed",
        doubly_stochastic: float = 1.0,
        reward: Reward = "mean",
        reward_scale: float = 0.1,
        entropy_weight: float = 0.002,
        soft_probability: float = 0.5,
        coin: Coin = "image",
        dropout: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_pair("image_size", image_size)
        height, width = image_size
        image_size = (height, width)  # a list, where it comes from JSON
        self.keep_arguments(locals())
        check_sizes(channels=channels)
        self.grid = (-(-height // CELL), -(-width // CELL))
        self.check_captioner()
        self.make_captioner()

    def make_captioner(self) -> None:
        """Makes all layers."""
        super().make_captioner()
        self.convolutions = [
            keras.layers.Conv2D(
                -(-self.annotation_dim // 2 ** (CONVOLUTIONS - 1 - number)),
                FILTER_SIZE,
                strides=2,
                padding="same",
                activation="relu",
                data_format="channels_last",
                name=f"convolution_{number}",
                dtype=self.dtype_policy,
            )
            for number in range(CONVOLUTIONS)
        ]

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        channels = self.channels
        for convolution in self.convolutions:
            convolution.build((None, None, None, channels))
            channels = convolution.filters
        super().build()

    def annotate(self, inputs: dict[str, Tensor], training: bool = False) -> Tensor:
        """Computes the annotations (B, L, D) of pixels (B, H, W, C), cells row by row.

        Raises:
            ValueError: if the images are of another size.
        """
        image = with_shape("image", inputs["image"], (*self.image_size, self.channels))
        batch = ops.shape(image)[0]
        # Convolutions have no gradient for no image: an empty batch, a device's share, has a blank.
        blank = ops.zeros((ops.cast(ops.equal(batch, 0), "int32"), *image.shape[1:]), image.dtype)
        values = ops.cast(ops.concatenate([image, blank]), self.compute_dtype)
        for convolution in self.convolutions:
            values = convolution(values)
        cells = self.grid[0] * self.grid[1]
        return ops.reshape(values[:batch], (batch, cells, self.annotation_dim))
