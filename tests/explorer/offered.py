"""Models to look at: tiny ones behind their endpoints, which answer without being exported."""

import datetime
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.contracts.subjects import build
from tests.contracts.tabular_task import CODEC
from tests.explorer.any_maps import AXES as ANY_AXES
from tests.explorer.any_maps import AnyMaps
from tests.explorer.captions import AXES as CAPTION_AXES
from tests.explorer.captions import Captions
from tests.tasks.cloze.questions import make_endpoint as make_cloze
from tests.tasks.translation.test_endpoint import make_model
from tests.tasks.translation.translators import WordByWord, make_codecs
from tests.toys.classes import NumbersEndpoint
from tests.toys.glimpses import Glimpses
from tests.toys.rows import Rows
from zoo.models.core.axes import to_json
from zoo.models.core.registry import find_model
from zoo.models.decomposable.decomposable_attention import DecomposableAttention
from zoo.models.feature_attention.feature_attention import FeatureAttention
from zoo.models.glimpse.recurrent_attention import RecurrentAttentionModel
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.models.neural_gpu.neural_gpu import NeuralGPU
from zoo.models.ntm.ntm import NeuralTuringMachine
from zoo.models.self_attentive.self_attentive_classifier import SelfAttentiveClassifier
from zoo.serving.cards import DataRecord, Example, ModelCard, write_card
from zoo.serving.servable import Signature, TensorInfo
from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.tasks.images.endpoint import ImageEndpoint
from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
from zoo.tasks.shared.endpoints import map_axes, token_axes
from zoo.tasks.symbols.endpoint import SymbolEndpoint
from zoo.tasks.tabular.endpoint import AXES as AXES_OF_ROWS
from zoo.tasks.tabular.endpoint import TabularEndpoint, Target
from zoo.tasks.translation.endpoint import TranslationEndpoint
from zoo.text.symbols import SymbolCodec
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

LONGEST = 12
"""Tokens of a source that the tiny Transformer reads."""
HOPS = 30
PAIRS = ["yes", "no", "perhaps"]
"""Classes of a pair."""


class Behind:
    """Stand-in for `zoo.serving.servable.Servable` around an endpoint that was not exported."""

    def __init__(self, endpoint: Any) -> None:
        parts = endpoint.endpoints().values()
        self.axes = {name: axes for part in parts for name, axes in part.axes.items()}
        self.functions = {name: function for name, (function, *_) in endpoint.endpoints().items()}
        self.signatures = {
            name: Signature(
                {one.name: TensorInfo(one.dtype.name, tuple(one.shape)) for one in s}, {}
            )
            for name, (_, s, _) in endpoint.endpoints().items()
        }

    def ask(self, inputs: Mapping[str, Any], signature: str = "serving_default") -> dict:
        tensors = {name: tf.constant(inputs[name]) for name in self.signatures[signature].inputs}
        try:
            outputs = self.functions[signature](*tensors.values())
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(f"{signature}: {error.message}") from error
        return {name: value.numpy() for name, value in sorted(outputs.items())}


def built(model_class: Any, **sizes: int) -> Any:
    model = model_class.from_preset("tiny", vocabulary_size=9, **sizes)
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.9, weight.shape))
    return model


def word_codec(folder: Path) -> WordCodec:
    write_vocabulary(folder / "words.txt", ["a", "fine", "film", "dull", "."])
    return WordCodec(folder / "words.txt", case_fold=True)


def word_by_word(folder: Path) -> Any:
    sizes = {"beam_width": 1, "maximum_source_tokens": 500}
    return TranslationEndpoint(WordByWord(), *make_codecs(folder), **sizes)


def transformer(folder: Path) -> Any:
    codecs = make_codecs(folder)
    sizes = {"beam_width": 1, "maximum_source_tokens": LONGEST}
    return TranslationEndpoint(make_model("Transformer", codecs), *codecs, **sizes)


def language_model(folder: Path) -> Any:
    return LanguageModelEndpoint(built(LSTMNLanguageModel), word_codec(folder), next_tokens=3)


def pairs(model_class: Any) -> Callable[[Path], Any]:
    sides = ("premise", "hypothesis")
    return lambda folder: ClassificationEndpoint(
        built(model_class), word_codec(folder), PAIRS, sides=sides
    )


def many_hops(folder: Path) -> Any:
    model = built(SelfAttentiveClassifier, hops=HOPS, classes=2)
    return ClassificationEndpoint(model, word_codec(folder), LABELS["many_hops"])


def rows_of_a_table(_: Path) -> Any:
    model = build(find_model("FeatureAttention"), classes=3)
    return TabularEndpoint(model, CODEC, Target("Height", tuple(LABELS["tiny_table"])))


def machine(_: Path) -> Any:
    return AlgorithmEndpoint(build(find_model("NeuralTuringMachine"), write_heads=2))


def active_memory(_: Path) -> Any:
    return SymbolEndpoint(build(find_model("NeuralGPU")), SymbolCodec("abcdef+"))


def retina(_: Path) -> Any:
    model = build(find_model("RecurrentAttentionModel"))
    return ImageEndpoint(model, [str(number) for number in range(model.get_config()["classes"])])


def toy(model_class: Any) -> Callable[[Path], Any]:
    return lambda _: NumbersEndpoint(build(find_model(model_class.__name__)))


MAKERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "word_by_word": ("translation", word_by_word),
    "tiny_transformer": ("translation", transformer),
    "tiny_cloze": ("cloze", make_cloze),
    "tiny_lstmn": ("language_model", language_model),
    "tiny_pairs": ("inference", pairs(LSTMNInference)),
    "tiny_decomposable": ("inference", pairs(DecomposableAttention)),
    "many_hops": ("classification", many_hops),
    "glimpses": ("classification", toy(Glimpses)),  # the task of models that read a text
    "rows": ("rows", toy(Rows)),
    "tiny_table": ("tabular", rows_of_a_table),
    "tiny_machine": ("algorithms", machine),
    "tiny_gpu": ("symbols", active_memory),
    "tiny_retina": ("images", retina),
    "any_maps": ("summary", lambda _: AnyMaps()),
    "captions": ("captioning", lambda _: Captions()),
}
"""Name -> task, and what makes the endpoint in a folder."""

LABELS = {
    "tiny_pairs": PAIRS,
    "tiny_decomposable": PAIRS,
    "many_hops": ["good", "bad"],
    "tiny_table": ["low", "middle", "high"],
}
"""Name -> classes that its card names."""
LIMITATIONS = {"word_by_word": "anything but words", "tiny_transformer": "songs; <b>poems</b>"}
"""Name -> texts that, as its card says, it is not for."""
PERSON = {"age": 61.5, "gain": 1.0, "work": "private", "sex": "?"}
SEQUENCE = [[1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
EXAMPLES = {
    "tiny_table": Example(PERSON, {"label": "low"}),
    "tiny_machine": Example({"vectors": SEQUENCE, "length": 4}, {"bits": []}),
}
"""Name -> example of its card."""
AXES = {
    "tiny_decomposable": map_axes(DecomposableAttention),
    "many_hops": map_axes(SelfAttentiveClassifier),
    "glimpses": map_axes(Glimpses),
    "rows": map_axes(Rows),
    "any_maps": ANY_AXES,
    "captions": CAPTION_AXES,
    "tiny_table": AXES_OF_ROWS | map_axes(FeatureAttention),
    "tiny_machine": map_axes(NeuralTuringMachine),
    "tiny_gpu": token_axes("symbols") | map_axes(NeuralGPU),
    "tiny_retina": map_axes(RecurrentAttentionModel),
}
"""Name -> what its card says of the axes of its outputs; the others have the names of tasks."""


def write_offered(folder: Path, name: str, task: str = "translation") -> Path:
    """A folder with a card, such as `zoo.explorer` offers."""
    (folder / name).mkdir()
    limits = {"maximum_source_tokens": LONGEST} if name == "tiny_transformer" else {}
    card = ModelCard(
        model_class=f"zoo>{name.title().replace('_', '')}",
        config={},
        task=task,
        data=DataRecord("sample", training="train", evaluation="test"),
        metrics={},
        seed=0,
        wall_time_seconds=0.0,
        hardware="",
        trainable_parameters=1,
        total_parameters=1,
        date=datetime.datetime.now(datetime.UTC).isoformat(),
        versions={},
        limits=limits,
        axes=to_json(AXES[name]) if name in AXES else None,
        limitations=LIMITATIONS.get(name, ""),
        labels=LABELS.get(name, []),
        example=EXAMPLES.get(name),
    )
    write_card(folder / name, card)
    return folder / name


def load(folder: Path) -> Any:
    made = MAKERS[folder.name][1](folder)
    return Behind(made) if hasattr(made, "endpoints") else made
