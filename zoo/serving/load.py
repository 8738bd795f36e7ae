"""Finds shipped models by name and loads them: as a servable, or as the Keras model to train on.

Names are looked up in `$ZOO_MODELS`, a folder or the address of an index, then in the
`saved_models/` of the checkout that this package was imported from, and are then taken as paths. A
`pathlib.Path` is a path, never a name.
Addresses are downloaded and kept: see `zoo.serving.fetching`. TensorFlow is imported by the
functions that need it, so that listing the models is instant.
"""

import difflib
import os
import random
import warnings
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.serving.cards import (
    CARD_FILE,
    SAVED_MODEL_FILE,
    ModelCard,
    read_card,
    unchanged,
    verify,
)
from zoo.serving.fetching import Offer, fetch_address, fetch_offer, is_address, offers
from zoo.serving.remarks import spend_remarks

if TYPE_CHECKING:
    import keras

    from zoo.text.vocabulary import Vocabulary

_CHECKOUT_MODELS = Path(__file__).resolve().parents[2] / "saved_models"


def model_directories() -> list[Path | str]:
    """Where names of models are looked up, in this order.

    Returns:
        Folders, which need not exist, and as a string the address of an index.
    """
    chosen = os.environ.get("ZOO_MODELS", "")
    first = chosen if is_address(chosen) else Path(chosen).expanduser()
    return [*([first] if chosen else []), _CHECKOUT_MODELS]


def list_models() -> list[str]:
    """Lists the names of the models that `load` and `load_servable` find, downloaded or not.

    Returns:
        Sorted names. Where there are none, as in an installation without a checkout, the list is
        empty, and a warning says where models come from.

    Raises:
        ValueError, DownloadError: As `find_models`.
    """
    names = sorted(find_models())
    if not names:
        warnings.warn(f"there are no models in {places()}: {where_from()}", stacklevel=2)
    return names


def find_models() -> dict[str, Path | Offer]:
    """Finds all models that can be named: name -> folder, or what is known of a published one.

    Raises:
        ValueError: `$ZOO_MODELS` is an address without a proper index.
        DownloadError: It cannot be reached.
    """
    found: dict[str, Path | Offer] = {}
    for place in reversed(model_directories()):  # the first place that has a name wins
        found |= offers(place) if isinstance(place, str) else _shipped(place)
    return found


def resolve(name_or_path: str | Path) -> Path:
    """Finds the folder of a model, and downloads it if it has to be.

    Args:
        name_or_path: A name out of `list_models()`, else the path of a folder with a SavedModel, or
            an address: `https://.../NAME.tar.gz`, `hf://OWNER/NAME[@REVISION]`. A `Path` is a path
            even where a model has that name.

    Returns:
        The folder.

    Raises:
        ValueError: None of these; says what there is and where it was looked for. Or files that are
            not what the index or their card says.
        DownloadError: It cannot be downloaded.
        ModuleNotFoundError: For `hf://`, huggingface_hub is not installed.
    """
    text = str(name_or_path)
    if is_address(text):
        return fetch_address(text)
    path, may_be_name = Path(name_or_path).expanduser(), isinstance(name_or_path, str)
    is_model = (path / SAVED_MODEL_FILE).is_file()
    if is_model and (len(path.parts) > 1 or not may_be_name):  # nobody has to be asked
        return path
    known = find_models()
    if text in known and may_be_name:
        found = known[text]
        return fetch_offer(found) if isinstance(found, Offer) else found
    if is_model:
        return path
    raise ValueError(f"no model {text!r}: {_advice(text, known)}")


def resolve_or_path(name_or_path: str | Path) -> Path:
    """Finds the folder of a model as `resolve` does, and takes anything unknown for a path.

    It may be that of a finished run, which holds the SavedModel.
    """
    path, text = Path(name_or_path).expanduser(), str(name_or_path)
    may_be_name = isinstance(name_or_path, str) and len(path.parts) == 1
    if is_address(text) or (may_be_name and text in find_models()):
        return resolve(name_or_path)
    return path


def where_from() -> str:
    """Says what to do where there are no models, in one line."""
    bare = "" if _CHECKOUT_MODELS.is_dir() else "this installation comes without saved_models/: "
    return (
        f"{bare}set ZOO_MODELS to a folder of models, such as saved_models/ of a checkout, or to an"
        " address at which `python -m zoo publish` put them; or name a model by its path, by"
        " https://.../NAME.tar.gz or by hf://OWNER/NAME (docs/models.md)"
    )


def _advice(name: str, known: Collection[str]) -> str:
    """Says what may have been meant, where it was looked for, and where models come from."""
    similar = difflib.get_close_matches(name, known, n=1)
    as_name = ", the name, which is a str" if name in known else ""  # a Path was given
    meant = f"did you mean {similar[0]!r}{as_name}? " if similar else ""
    there = f"there are {', '.join(sorted(known))}" if known else "there is none"
    hint = "" if known and _CHECKOUT_MODELS.is_dir() else f"; {where_from()}"
    return (
        f"{meant}it is no folder with a SavedModel, and of the models in {places()} {there}{hint}"
    )


def places() -> str:
    """Names the places in which models are looked up, for a message."""
    return " and ".join(map(str, model_directories()))


def load_card(name_or_path: str | Path) -> ModelCard:
    """Reads the card of a model: data, metrics, settings, limits.

    Args:
        name_or_path: As in `resolve`.

    Raises:
        ValueError: No such model, or a card that is missing or broken.
    """
    return read_card(resolve(name_or_path))


def load_servable(name_or_path: str | Path) -> Any:
    """Loads a model as TensorFlow serves it: strings in, strings and attention out.

    Args:
        name_or_path: As in `resolve`.

    Returns:
        What `tf.saved_model.load` gives. Call `servable.signatures["serving_default"]` with one
        string tensor of shape (batch,) a named input; outputs are a flat dict.

    Raises:
        ValueError: No such model, or one whose files are not those that its card describes.
    """
    return load_with_card(resolve(name_or_path))[0]


def load_with_card(folder: Path) -> tuple[Any, ModelCard | None]:
    """Loads what `load_servable` does, and the card that belongs to it; None if there is none."""
    import tensorflow as tf

    from zoo.serving.paths import without_patterns

    has_card = (folder / CARD_FILE).is_file()
    same: AbstractContextManager[ModelCard | None]
    same = unchanged(folder) if has_card else nullcontext()
    with same as card:
        spend_remarks()
        _register_text_operations()
        with without_patterns(folder) as plain:
            return tf.saved_model.load(str(plain)), card


def _register_text_operations() -> None:
    """Loads the libraries of tensorflow-text, without the package, which needs Keras.

    Raises:
        FileNotFoundError: tensorflow-text is not installed as it is known here.
    """
    import tensorflow as tf

    package = find_spec("tensorflow_text")
    folder = Path(package.origin).parent / "python" / "ops" if package and package.origin else None
    libraries = sorted(folder.glob("_*.so")) if folder else []
    if not libraries:
        raise FileNotFoundError(
            f"tensorflow-text must have its libraries, _*.so, in {folder}, got none"
        )
    for library in libraries:
        tf.load_op_library(str(library))


def load(name_or_path: str | Path) -> "keras.Model":
    """Makes the Keras model of a SavedModel again, ready for `compile` and `fit`.

    Class and configuration come from the card, the weights from the SavedModel; no other file is
    read. The outputs equal those of the servable; those of one reading where a cloze reader was
    exported to read each question several times.

    Args:
        name_or_path: As in `resolve`.

    Returns:
        The built model, not compiled.

    Raises:
        ValueError: No such model; a card that is missing or broken; a class that is not registered;
            files other than the card describes; weights that do not fit the class, each named.
    """
    import tensorflow as tf

    from zoo.serving.weights import assign_weights, check_weights, declared_weights, read_weights

    folder = resolve(name_or_path)
    with unchanged(folder) as card:
        spend_remarks()
        declared = declared_weights(folder)
        drawn = random.getstate()  # of which Keras makes the seeds of dropout
        with tf.Graph().as_default():  # where weights have shapes, and no memory
            check_weights(_made(card, folder, len(declared)), declared, folder)
        random.setstate(drawn)
        model = _made(card, folder, len(declared))
        assign_weights(model, read_weights(folder), folder)
    return model


def _made(card: ModelCard, folder: Path, weights: int) -> "keras.Model":
    """The model that a card describes, built.

    Args:
        card: Its class and configuration.
        folder: Where the card lies, for the error.
        weights: How many the file holds. A model has no more layers.

    Raises:
        ValueError: No such class, or a configuration that it does not take.
    """
    import keras

    from zoo.models.core.registry import models

    known = models()  # which registers every class of the zoo with Keras
    registered = keras.saving.get_registered_object(card.model_class)
    if not (isinstance(registered, type) and issubclass(registered, keras.Model)):
        raise ValueError(
            f"{folder / CARD_FILE}: no class is registered as {card.model_class!r}; this version"
            f" has {', '.join(sorted(known))}, a class of your own must be imported first"
        )
    depth = card.config.get("depth")
    if isinstance(depth, int) and depth > weights:
        raise ValueError(
            f"{folder / CARD_FILE}: key 'config.depth' must be at most {weights}, the number of"
            f" weights in the SavedModel, got {depth}"
        )
    model_class: Any = registered
    try:
        model = model_class.from_config(card.config)
        model.build()
    except Exception as error:  # Keras says TypeError, and so does Python of an unknown argument
        reason = " ".join(str(error).split())  # in one line
        raise ValueError(
            f"{folder / CARD_FILE}: key 'config' makes no {model_class.__name__}: {reason}"
        ) from error
    return model


def load_vocabulary(name_or_path: str | Path, file_name: str | None = None) -> "Vocabulary":
    """The vocabulary with which a shipped model reads, to prepare text for its `fit`.

    Args:
        name_or_path: As in `resolve`.
        file_name: Which one, where a model has several; names are those of the SavedModel's assets.

    Returns:
        The vocabulary, read from the SavedModel.

    Raises:
        ValueError: No such model, no such file, or several and no name was given; a card that is
            missing or broken; files other than the card describes.
    """
    from zoo.text.vocabulary import Vocabulary

    folder = resolve(name_or_path)
    verify(folder)
    assets = folder / "assets"
    names = sorted(path.name for path in assets.iterdir()) if assets.is_dir() else []
    if file_name is None and len(names) == 1:
        file_name = names[0]
    if file_name not in names:
        raise ValueError(
            f"file_name must be one of the vocabularies in {assets}, {names}, got {file_name!r}"
        )
    return Vocabulary(assets / file_name)


def _shipped(directory: Path) -> dict[str, Path]:
    """Name -> folder of all models in a directory."""
    files = sorted(directory.glob(f"[!.]*/{SAVED_MODEL_FILE}"))
    return {file.parent.name: file.parent for file in files}
