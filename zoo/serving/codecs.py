"""The codecs of a SavedModel: what it cuts its texts into, read back from the SavedModel alone.

A model of subwords is a constant of the graph, a vocabulary of words a file beside it. Which codec
has which, the order says in which `export_servable` tracked them.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.serving.cards import SAVED_MODEL_FILE, unchanged
from zoo.serving.load import resolve

if TYPE_CHECKING:
    from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef

    from zoo.text.codecs import TextCodec

_SIDES = ("source", "target")


def load_codecs(name_or_path: str | Path) -> tuple["TextCodec", ...]:
    """The codecs with which a shipped model reads and writes, to prepare text for its `fit`.

    Args:
        name_or_path: As in `zoo.serving.load.resolve`.

    Returns:
        Those of source and target for a translator, the same one twice if they share it; one for a
        model that reads texts of one kind.

    Raises:
        ValueError: No such model; a card or files that are broken; a model that has no codec but a
            tokenizer and a vocabulary (`zoo.serving.load.load_vocabulary`).
    """
    folder = resolve(name_or_path)
    with unchanged(folder) as card:
        return _codecs(folder, card.tokenizer)


def _codecs(folder: Path, tokenizer: Mapping[str, Any]) -> tuple["TextCodec", ...]:
    """The codecs that a card describes."""
    single = "class" in tokenizer
    configs = [tokenizer] if single else [tokenizer[side] for side in _SIDES if side in tokenizer]
    if not configs:
        raise ValueError(f"{folder}: has no codecs; load_vocabulary gives the words that it reads")
    contents = tokenizer_contents(folder)
    made: list[tuple[bytes | Path, Any, TextCodec]] = []
    found = []
    for config in configs:
        if not isinstance(config, dict):
            raise ValueError(f"{folder}: a codec in the card must be an object, got {config!r}")
        content = next(contents, None)
        if content is None:
            raise ValueError(f"{folder}: the card names {len(configs)} codecs, more than it holds")
        if isinstance(content, Path):
            next(contents)  # words to ids, ids to words: two tables of one file
        # Both sides may have the words of one file, and cut texts in ways of their own.
        same = (codec for *parts, codec in made if parts == [content, config])
        codec = next(same, None) or _make(config, content)
        made.append((content, config, codec))
        found.append(codec)
    return tuple(found)


def load_labels(name_or_path: str | Path) -> tuple[str, ...]:
    """The names of the classes of a shipped classifier, in the order of its probabilities.

    Args:
        name_or_path: As in `zoo.serving.load.resolve`.

    Returns:
        The one vector of strings in the graph that answers.

    Raises:
        ValueError: No such model; a card or files that are broken; a model of another task; a graph
            with no such vector, or with several.
    """
    from tensorflow import make_ndarray, string

    folder = resolve(name_or_path)
    with unchanged(folder) as card:
        task, functions = card.task, _graph(folder).graph_def.library.function
    if task not in ("classification", "images", "inference", "stories"):
        raise ValueError(f"{folder} must hold a classifier, got a model whose task is {task!r}")
    found = [
        make_ndarray(node.attr["value"].tensor)
        for function in functions
        if "_traced_" not in function.signature.name  # those that save and restore
        for node in function.node_def
        if node.op == "Const" and node.attr["dtype"].type == string.as_datatype_enum
    ]
    read = [_texts(strings) for strings in found if strings.ndim == 1]
    vectors = {texts for texts in read if texts is not None}
    if len(vectors) != 1:
        raise ValueError(f"{folder} must hold the names of classes once, got {sorted(vectors)}")
    return vectors.pop()


def _texts(strings: Iterable[bytes]) -> tuple[str, ...] | None:
    """Decodes strings; None for bytes that are no text, such as the table of all of them."""
    try:
        return tuple(one.decode() for one in strings)
    except UnicodeDecodeError:
        return None


def _make(config: Mapping[str, Any], content: bytes | Path) -> "TextCodec":
    """A codec as its card describes it."""
    from zoo.text.hashed_words import HashedWordCodec
    from zoo.text.subwords import SubwordCodec
    from zoo.text.words import WordCodec

    if isinstance(content, bytes):
        return SubwordCodec(content)
    options = {key: value for key, value in config.items() if key != "class"}
    hashed = config.get("class") == HashedWordCodec.__name__
    try:
        return (HashedWordCodec if hashed else WordCodec)(content, **options)
    except TypeError as error:
        raise ValueError(f"{content}: the card's {options} make no codec: {error}") from error


def tokenizer_contents(folder: Path) -> Iterator[bytes | Path]:
    """Reads what the tokenizers of a SavedModel know: a model of subwords, or a file of words.

    Args:
        folder: Folder of a SavedModel that this package has written.

    Yields:
        The tracked resources in their order. A file comes twice where it is read both ways.

    Raises:
        KeyError: Another program wrote the SavedModel.
    """
    graph = _graph(folder)
    nodes = graph.object_graph_def.nodes
    tracked = {child.local_name: child.node_id for child in nodes[0].children}["_misc_assets"]
    for resource in nodes[tracked].children:
        parts = {child.local_name: child.node_id for child in nodes[resource.node_id].children}
        if "_initializer" not in parts:
            function = nodes[parts["_create_resource"]].function.concrete_functions[0]
            yield _subwords(graph, function)
            continue
        for part in nodes[parts["_initializer"]].children:
            if part.local_name == "_filename":
                asset = nodes[part.node_id].asset.asset_file_def_index
                yield folder / "assets" / graph.asset_file_def[asset].filename


def _graph(folder: Path) -> "MetaGraphDef":
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    saved = SavedModel()
    saved.ParseFromString((folder / SAVED_MODEL_FILE).read_bytes())
    (graph,) = saved.meta_graphs
    return graph


def _subwords(graph: "MetaGraphDef", function: str) -> bytes:
    """The SentencePiece model that a function of the graph makes a resource of."""
    (body,) = (f for f in graph.graph_def.library.function if f.signature.name == function)
    (model,) = (n.attr["model"].s for n in body.node_def if n.op == "SentencepieceOp")
    return bytes(model)
