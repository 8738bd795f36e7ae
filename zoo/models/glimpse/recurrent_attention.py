"""The recurrent attention model as a classifier of images.

Volodymyr Mnih, Nicolas Heess, Alex Graves, Koray Kavukcuoglu: Recurrent Models of Visual Attention.
NIPS 2014, arXiv 1406.6247. Covered: sections 3.1 (the networks) and 3.2 (the training), for the
classification of section 4.1; not the game of section 4.2.

Where the paper is silent or code differs:
    means: linear, as printed, or ``mean_activation="tanh"``, as in common code, the default;
    samples: clipped to the image where the retina looks, unclipped in the log-density;
    first location: drawn uniformly in training, or the centre (``first_location``); at test the
        centre, and the means after it (``test_locations="sample"`` draws as in training);
    last state: decides on no location, so policy and baseline have T - 1 terms;
    heads: locator and baseline do not train the core (``head_gradients=True``: they do). Without
        that, the locator learns by REINFORCE alone, and all else by the class;
    locator: ``locator_dim`` adds a hidden layer; dropout is not in the paper.

``locations="random"`` is the baseline of the paper's table 2: all locations are drawn, at test too.

Shape letters: B images, H and W pixels, C channels, T glimpses, K scales, g side of a patch,
d state, N classes.

Expected result: the paper reports 1.07 % errors on MNIST with 7 glimpses of 8 x 8 pixels, and
4.04 % on cluttered MNIST of 60 x 60 with 8 glimpses of three scales (random locations: 14.4 %).

NumPy reference: ``tests/references/recurrent_attention.py``. Docs:
``docs/architectures/glimpse.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.models.core import axes
from zoo.models.core.arguments import check_input_shape, check_pair, check_sizes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import Image, InputKind
from zoo.models.core.registry import register_model
from zoo.models.core.targets import Targets
from zoo.models.glimpse.glimpse_network import GlimpseNetwork
from zoo.models.glimpse.location_policy import (
    MEAN_ACTIVATIONS,
    Locator,
    MeanActivation,
    reinforcement_loss,
)
from zoo.models.glimpse.retina import look_at, retina_weights
from zoo.ops.cross_entropy import precise_cross_entropy
from zoo.ops.masking import Tensor, at_least_float32, wide_dtype
from zoo.ops.numbers import check_choice, check_positive, check_rate

FirstLocation = Literal["random", "centre"]
Locations = Literal["learned", "random"]
TestLocations = Literal["mean", "sample"]

_PAPER = {"mean_activation": "linear"}
_PAPER_60 = {
    **_PAPER,
    "image_size": (60, 60),
    "glimpse_size": 12,
    "scales": 3,
    "glimpses": 8,
}


@register_model(task="images")
class RecurrentAttentionModel(BaseModel):
    """Classifies an image after a few glimpses, each at a place chosen by the ones before.

    Args:
        image_size: height and width of the images; None: any, the same for all of a batch.
        channels: of the images C.
        classes: number of classes N.
        glimpses: how often it looks, T.
        glimpse_size: side g of a patch, in cells.
        scales: number of patches K, each twice as wide as the one before.
        glimpse_dim: size of h_g and of h_l.
        hidden_dim: size d of g_t and of the state.
        locator_dim: size of a hidden layer of the locator; None: there is none.
        sigma: standard deviation of the locations, in halves of an image.
        mean_activation: of the means, ``"tanh"`` or ``"linear"``.
        first_location: in training, ``"random"`` or ``"centre"``.
        locations: ``"learned"``, or all of them ``"random"``.
        test_locations: ``"mean"`` looks at the centre and then at the means, ``"sample"`` draws.
        head_gradients: whether locator and baseline also train core and glimpse network.
        dropout: rate of dropout on the classifier's input.

    Raises:
        ValueError: if an option is not one of its values, a size or ``sigma`` is not positive, a
            patch has one cell, a single glimpse is learned, or ``dropout`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PAPER,
        "paper_translated": _PAPER_60,
        "paper_cluttered": _PAPER_60,
        "tiny": {
            "image_size": (6, 4),
            "classes": 3,
            "glimpses": 3,
            "glimpse_size": 2,
            "scales": 2,
            "glimpse_dim": 4,
            "hidden_dim": 5,
            "sigma": 0.3,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"image": Image("channels", size="image_size")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "glimpses": AttentionMap(axes.Steps("glimpses"), axes.Grid("image"), normalised=False)
    }
    PREDICTION = "logits"
    TARGETS = Targets(classes=True)

    def __init__(
        self,
        image_size: tuple[int, int] | None = (28, 28),
        channels: int = 1,
        classes: int = 10,
        glimpses: int = 7,
        glimpse_size: int = 8,
        scales: int = 1,
        glimpse_dim: int = 128,
        hidden_dim: int = 256,
        locator_dim: int | None = None,
        sigma: float = 0.11,
        mean_activation: MeanActivation = "tanh",
        first_location: FirstLocation = "random",
        locations: Locations = "learned",
        test_locations: TestLocations = "mean",
        head_gradients: bool = False,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if image_size is not None:  # a list, where it comes from JSON
            check_pair("image_size", image_size)
            height, width = image_size
            image_size = (height, width)
        self.keep_arguments(locals())
        self._check_arguments()
        self._make_layers()

    def _check_arguments(self) -> None:
        names = ("channels", "classes", "glimpses", "glimpse_size", "scales")
        check_sizes(**{n: getattr(self, n) for n in (*names, "glimpse_dim", "hidden_dim")})
        if self.locator_dim is not None:
            check_sizes(locator_dim=self.locator_dim)
        if self.glimpse_size < 2:
            raise ValueError(f"glimpse_size must be at least 2, got {self.glimpse_size}")
        check_choice("mean_activation", self.mean_activation, MEAN_ACTIVATIONS)
        check_choice("first_location", self.first_location, get_args(FirstLocation))
        check_choice("locations", self.locations, get_args(Locations))
        check_choice("test_locations", self.test_locations, get_args(TestLocations))
        check_rate("dropout", self.dropout)
        if self.locations == "learned" and self.glimpses < 2:
            raise ValueError("glimpses must be at least 2 with learned locations, got 1")
        check_positive(sigma=self.sigma)

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        self.glimpse_network = GlimpseNetwork(
            self.glimpse_dim, self.hidden_dim, name="glimpse_network", dtype=policy
        )
        self.core = keras.layers.Dense(
            self.hidden_dim, activation="relu", name="core", dtype=policy
        )
        self.locator = self.baseline = None
        if self.locations == "learned":
            self.locator = Locator(
                self.locator_dim, self.mean_activation, name="locator", dtype=policy
            )
            self.baseline = keras.layers.Dense(1, name="baseline", dtype=policy)
        self.classifier = keras.layers.Dense(self.classes, name="classifier", dtype=policy)
        self.drop = keras.layers.Dropout(self.dropout, dtype=policy)
        self.sampling_seed = keras.random.SeedGenerator()

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        state = (None, self.hidden_dim)
        self.glimpse_network.build((None, self.scales * self.glimpse_size**2 * self.channels))
        self.core.build((None, 2 * self.hidden_dim))
        for head in (self.locator, self.baseline, self.classifier):
            if head is not None:
                head.build(state)
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Classifies images.

        Args:
            inputs: ``image`` float32 (B, H, W, C), from 0 to 1.
            training: whether dropout is on and locations are drawn.

        Returns:
            The outputs of ``look``, and ``attention``: ``glimpses`` (B, T, H, W), the share of the
            retina that looks at each pixel. Whoever fetches the map pays for its pixels.

        Raises:
            ValueError: if the images are of another size.
        """
        outputs = self.look(inputs, training)
        height, width = ops.shape(inputs["image"])[1:3]
        sizes = (height, width, self.glimpse_size, self.scales)
        weights = retina_weights(outputs["locations"], *sizes)  # (B, T, H, W)
        return outputs | {"attention": {"glimpses": weights}}

    def look(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Classifies images without a map, at a cost that does not depend on their size.

        Args:
            inputs: as of ``call``.
            training: likewise.

        Returns:
            ``logits`` (B, N) after the last glimpse, and ``logits_per_step`` (B, T, N) after each;
            ``locations`` (B, T, 2), rows and columns from -1 to 1; ``seen`` (B, T, K, g, g, C),
            what the retina saw. With learned locations, ``location_means`` (B, T - 1, 2) and
            ``baselines`` (B, T - 1); where locations are drawn, ``sampled_locations`` (B, T, 2),
            unclipped.

        Raises:
            ValueError: if the images are of another size.
        """
        images = inputs["image"]
        check_input_shape("image", images, (*(self.image_size or (None, None)), self.channels))
        draws = self._draw(ops.shape(images)[0], training)
        states, samples, means, seen = self._look_around(images, draws)
        logits = self.classifier(self.drop(states, training=training))  # (B, T, N)
        outputs = {"logits": logits[:, -1], "logits_per_step": logits}
        outputs |= {"locations": _clip(samples), "seen": seen}
        if self.baseline is not None:
            baselines = self.baseline(self._read(states[:, :-1]))[..., 0]  # (B, T - 1)
            outputs |= {"location_means": means, "baselines": at_least_float32(baselines)}
        if draws is not None:
            outputs["sampled_locations"] = samples
        return outputs

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes the hybrid loss: class, baselines and, for its gradient, REINFORCE."""
        losses = precise_cross_entropy(outputs["logits"], targets)  # (B,)
        if self.locator is not None:
            baselines, means = outputs["baselines"], outputs["location_means"]
            chosen = ops.cast(ops.argmax(outputs["logits"], axis=-1), "int32")
            right = ops.equal(chosen, ops.cast(targets, "int32"))
            rewards = ops.cast(right, baselines.dtype)[:, None]  # (B, 1)
            samples = outputs["sampled_locations"][:, 1:] if _is_drawn(outputs) else means
            policy = reinforcement_loss(samples, means, self.sigma, rewards - baselines)
            errors = ops.sum(ops.square(baselines - rewards), axis=-1)  # (B,)
            losses = losses + ops.cast(errors + policy, losses.dtype)
        return losses, ops.ones_like(losses)

    def _draw(self, batch: Tensor, training: bool) -> tuple[Tensor, Tensor] | None:
        """Draws the first location (B, 2), and for the others noise (B, T - 1, 2) or themselves.

        None: the image is looked at where the means are.
        """
        dtype = wide_dtype(self.compute_dtype)
        seed, others = self.sampling_seed, (batch, self.glimpses - 1, 2)
        if self.locations == "random":
            every = (batch, self.glimpses, 2)
            drawn = keras.random.uniform(every, -1.0, 1.0, dtype=dtype, seed=seed)
            return drawn[:, 0], drawn[:, 1:]
        if not training and self.test_locations == "mean":
            return None
        first = ops.zeros((batch, 2), dtype)
        if self.first_location == "random":
            first = keras.random.uniform((batch, 2), -1.0, 1.0, dtype=dtype, seed=seed)
        return first, keras.random.normal(others, 0.0, self.sigma, dtype=dtype, seed=seed)

    def _look_around(
        self, images: Tensor, draws: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """Takes all glimpses.

        Returns:
            States (B, T, d); locations before they are clipped (B, T, 2); means (B, T - 1, 2) or
            None; what the retina saw (B, T, K, g, g, C).
        """
        batch = ops.shape(images)[0]
        state = ops.zeros((batch, self.hidden_dim), self.compute_dtype)
        dtype = wide_dtype(self.compute_dtype)
        place = ops.zeros((batch, 2), dtype) if draws is None else draws[0]
        states, places, means, seen = [], [place], [], []
        for step in range(self.glimpses):
            if step:
                place = draws[1][:, step - 1] if draws is not None else 0.0
                if self.locator is not None:
                    means.append(self.locator(self._read(state)))
                    # Else the class would train the locator, through what is seen there.
                    place = ops.stop_gradient(means[-1]) + place
                places.append(place)
            seen.append(look_at(images, _clip(place), self.glimpse_size, self.scales))
            glimpse = self.glimpse_network(self._flat(seen[-1]), _clip(place))  # (B, d)
            state = self.core(ops.concatenate([state, glimpse], axis=-1))  # (B, d)
            states.append(state)
        kept = (ops.stack(values, axis=1) if values else None for values in (states, places, means))
        return *kept, ops.stack(seen, axis=1)

    def _read(self, states: Tensor) -> Tensor:
        """Passes states to locator and baseline, without a gradient unless it is asked for."""
        return states if self.head_gradients else ops.stop_gradient(states)

    def _flat(self, seen: Tensor) -> Tensor:
        """Flattens patches (B, K, g, g, C) to (B, K g g C)."""
        return ops.reshape(seen, (-1, self.scales * self.glimpse_size**2 * self.channels))


def _clip(locations: Tensor) -> Tensor:
    return ops.clip(locations, -1.0, 1.0)


def _is_drawn(outputs: Mapping[str, Any]) -> bool:
    return "sampled_locations" in outputs
