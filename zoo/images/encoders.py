"""Encoders of pictures: a network that is not trained further, and the annotations it gives.

`annotation_encoder` makes one of SqueezeNet, of any network of `keras.applications`, or of a Keras
model of your own. It takes pictures as they are, from 0 to 255, and does the network's own
preprocessing, so the same object serves a cache of annotations and a SavedModel.
"""

import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.images.squeezenet import BGR_MEAN, build_squeezenet, find_squeezenet, load_squeezenet

SQUEEZENET = "squeezenet"
SQUEEZENET_SIZE = 160
"""Height and width that pictures are resized to for SqueezeNet, if nothing else is asked for."""
_APPLICATIONS_SIZE = 224

Preprocess = Callable[[tf.Tensor], tf.Tensor]


class AnnotationEncoder(tf.Module):
    """A frozen network from pictures to annotations.

    Its weights are variables of TensorFlow. A SavedModel whose signatures call it holds them.

    Attributes:
        title: name of the network.
        size: height and width of the pictures that it takes.
        grid: rows and columns of cells that the picture is divided into.
        dim: size of a cell's vector.
    """

    def __init__(
        self,
        network: keras.Model,
        preprocess: Preprocess,
        size: tuple[int, int],
        title: str,
        own: str = "",
    ) -> None:
        """Takes a network.

        Args:
            network: from pictures (B, H, W, 3) to vectors (B, h, w, D).
            preprocess: from pictures in red, green and blue, from 0 to 255, to the network's input.
            size: height and width of pictures.
            title: name of the network.
            own: layers and preprocessing of a network of one's own, which its title does not
                tell; "": the title does.

        Raises:
            ValueError: the network's output has other axes, or sizes that are not known.
        """
        super().__init__(name="annotation_encoder")
        shape = tuple(network.compute_output_shape((None, *size, 3)))
        if len(shape) != 4 or None in shape[1:]:
            raise ValueError(f"{title} must give a grid of vectors (B, h, w, D), got {shape}")
        self.title = title
        self.size = size
        self.grid = (shape[1], shape[2])
        self.dim = shape[3]
        self._own = own
        self._call: Callable[[tf.Tensor], tf.Tensor] = _untracked(
            lambda pictures: network(preprocess(pictures), training=False)
        )
        self._weights = [weight.value for weight in network.weights]
        self._names = tuple(weight.path for weight in network.weights)

    def __call__(self, pictures: tf.Tensor) -> tf.Tensor:
        """Encodes pictures.

        Args:
            pictures: float32 (B, *size, 3): red, green and blue, from 0 to 255.

        Returns:
            Annotations, float32 (B, L, D), the cells row by row.
        """
        vectors = tf.cast(self._call(tf.cast(pictures, tf.float32)), tf.float32)  # (B, h, w, D)
        rows, columns = self.grid
        return tf.reshape(vectors, (-1, rows * columns, self.dim))

    @property
    def fingerprint(self) -> str:
        """A number of network, weights, preprocessing and size of pictures, hexadecimal.

        It depends on no names that Keras makes up, which another process may count differently.
        """
        told = self._own or self.title
        digest = hashlib.sha256(repr((told, self.size, self.grid, self.dim)).encode())
        for weight in self._weights:
            digest.update(weight.numpy().tobytes())
        return digest.hexdigest()

    @property
    def named_weights(self) -> dict[str, tf.Variable]:
        """The weights by their Keras paths."""
        return dict(zip(self._names, self._weights, strict=True))

    def get_config(self) -> dict[str, Any]:
        """Title and sizes, for the model card."""
        return {"title": self.title, "size": [*self.size], "grid": [*self.grid], "dim": self.dim}


def annotation_encoder(
    network: str | keras.Model = SQUEEZENET,
    *,
    size: int | None = None,
    layer: str | None = None,
    weights: str | Path | None = None,
    data_dir: str | Path | None = None,
    preprocess: Preprocess | None = None,
) -> AnnotationEncoder:
    """Makes an encoder of pictures.

    Args:
        network: "squeezenet"; a name of `keras.applications`, such as "VGG16"; a `.keras` file; or
            a Keras model from pictures (B, H, W, 3) to vectors (B, h, w, D).
        size: height and width of pictures; by default those of the model, 160 for SqueezeNet, 224
            for others.
        layer: name of the layer whose output is used; None: the last. The paper takes
            "block5_conv3" of VGG16 or a layer like it.
        weights: file of the weights of a named network, no other takes one; None: SqueezeNet's are
            looked for in ``data_dir``, those of others by Keras, which downloads them if they are
            missing.
        data_dir: folder of the data sets; None: `$ZOO_DATA`, then the Keras cache.
        preprocess: of pictures from 0 to 255, for a model of your own; None: nothing is done.

    Raises:
        FileNotFoundError: the weights of SqueezeNet are missing.
        ValueError: there is no such network or layer, the size is not positive, the weights do not
            fit, or weights or preprocessing have no use.
    """
    if size is not None and size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    if isinstance(network, str) and preprocess is not None and not Path(network).is_file():
        raise ValueError(f"preprocess must be left out with {network}, which has its own")
    if isinstance(network, str) and network.lower() == SQUEEZENET:
        size = size or SQUEEZENET_SIZE
        model = load_squeezenet(weights or find_squeezenet(data_dir), size)
        return _encoder(model, _blue_first, (size, size), "SqueezeNet 1.1", layer)
    if isinstance(network, str) and Path(network).is_file():
        network = keras.models.load_model(network, compile=False)
    if isinstance(network, str):
        size = size or _APPLICATIONS_SIZE
        made, prepare = _application(network, size, weights)
        return _encoder(made, prepare, (size, size), network, layer)
    if weights is not None:
        raise ValueError(f"weights must be left out with a network that has its own, got {weights}")
    sides = (size, size) if size else network.input_shape[1:3]
    if None in sides:
        raise ValueError("size must be given for a network that takes pictures of any, got None")
    effect = _effect(preprocess or tf.identity, sides)
    return _encoder(network, preprocess or tf.identity, sides, network.name, layer, effect)


def restored_encoder(
    config: Mapping[str, Any], values: Mapping[str, np.ndarray]
) -> AnnotationEncoder:
    """Makes SqueezeNet of the configuration and the weights that a SavedModel holds.

    Args:
        config: as `AnnotationEncoder.get_config` gives it.
        values: as `AnnotationEncoder.named_weights`, their values.

    Raises:
        ValueError: it is another network, whose layers are not known here, or a weight is missing.
    """
    if config["title"] != "SqueezeNet 1.1":
        raise ValueError(f"title must be SqueezeNet 1.1, got {config['title']!r}")
    height, width = config["size"]
    model = build_squeezenet(height)
    missing = [weight.path for weight in model.weights if weight.path not in values]
    if missing:
        raise ValueError(f"values must hold all weights of SqueezeNet 1.1, got none of {missing}")
    for weight in model.weights:
        weight.assign(values[weight.path])
    return _encoder(model, _blue_first, (height, width), config["title"], None)


def _structure(network: keras.Model) -> str:
    """Returns the configurations of all layers and how they are connected.

    Names are replaced by their order: Keras makes them up, and counts differently the next time. Of
    a network with a class of your own that tells no configuration there are those of the other
    layers, in their order, and of the class only its name.
    """
    try:
        config = network.get_config()
    except RuntimeError:  # as Keras says that a class tells none, or a layer of it
        config = _known_config(network)
    places: dict[str, int] = {}
    for found in _names_in(config):
        places.setdefault(found, len(places))
    return json.dumps(_renamed(config, places), default=repr)


def _known_config(layer: keras.layers.Layer) -> dict[str, Any]:
    """As much of the configuration of a network or layer as there is."""
    found: dict[str, Any] = {"class_name": type(layer).__qualname__}
    try:
        return found | {"config": layer.get_config()}
    except RuntimeError:
        parts = [_known_config(one) for one in getattr(layer, "layers", ())]
        return found | {"layers": parts} if parts else found


def _names_in(config: Any) -> Iterator[str]:
    """Lists the names of layers and operations in a configuration; types have names, too."""
    if isinstance(config, Mapping) and config.get("class_name") != "DTypePolicy":
        if isinstance(config.get("name"), str):
            yield config["name"]
        for value in config.values():
            yield from _names_in(value)
    elif isinstance(config, list | tuple):
        for value in config:
            yield from _names_in(value)


def _renamed(config: Any, places: Mapping[str, int]) -> Any:
    """Returns a configuration whose names of layers are numbers.

    They stand under "name", and before two numbers where a tensor comes from. Elsewhere the same
    word may be an option: a layer of the activation tanh may be named after it.
    """
    if isinstance(config, Mapping):
        named = {key: _renamed(value, places) for key, value in config.items()}
        if isinstance(config.get("name"), str):
            named["name"] = places.get(config["name"], config["name"])
        return named
    if not isinstance(config, list | tuple):
        return config
    found = [_renamed(value, places) for value in config]
    if len(config) == 3 and isinstance(config[0], str) and isinstance(config[1], int):
        found[0] = places.get(config[0], config[0])
    return found


def _effect(preprocess: Preprocess, size: tuple[int, int]) -> str:
    """Returns a checksum of a prepared picture, rounded: machines differ in the last bit."""
    picture = np.arange(np.prod(size) * 3, dtype="float32").reshape(1, *size, 3) % 251
    found = np.asarray(preprocess(tf.constant(picture)), "float32")
    return hashlib.sha256((np.round(found, 2) + 0.0).tobytes()).hexdigest()


def _encoder(
    model: keras.Model,
    preprocess: Preprocess,
    size: tuple[int, int],
    title: str,
    layer: str | None,
    effect: str = "",
) -> AnnotationEncoder:
    if layer is not None:
        names = [one.name for one in model.layers]
        if layer not in names:
            raise ValueError(f"layer must be one of {names}, got {layer!r}")
        model = keras.Model(model.inputs, model.get_layer(layer).output)
        title = f"{title}, {layer}"
    own = effect and _structure(model) + effect
    return AnnotationEncoder(model, preprocess, size, title, own)


def _blue_first(pictures: tf.Tensor) -> tf.Tensor:
    """Red, green, blue to blue, green, red, less their mean."""
    return tf.reverse(pictures, axis=[-1]) - tf.constant(BGR_MEAN)


def _application(
    name: str, size: int, weights: str | Path | None
) -> tuple[keras.Model, Preprocess]:
    """A network of `keras.applications` without its classifier, and its preprocessing."""
    makers = {
        key: value
        for key, value in vars(keras.applications).items()
        if inspect.isfunction(value) and "include_top" in inspect.signature(value).parameters
    }
    if name not in makers:
        raise ValueError(
            f"encoder must be {SQUEEZENET}, a .keras file or one of {sorted(makers)}, got {name!r}"
        )
    make = makers[name]
    given = "imagenet" if weights is None else str(weights)
    model = make(include_top=False, weights=given, input_shape=(size, size, 3))
    # The module of a network has the preprocessing that belongs to it.
    prepare = sys.modules[inspect.unwrap(make).__module__].preprocess_input
    return model, prepare


def _untracked(function: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Hides a network from tf.Module, which would save its Keras variables a second time."""
    return function
