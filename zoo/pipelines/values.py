"""Makes plain values of a servable's outputs for one example."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoo.models.core.axes import BEFORE, SENTINEL, Axes, Listed, Steps
from zoo.pipelines.results import (
    Answer,
    AttentionMap,
    Bits,
    Caption,
    Continuation,
    Evidence,
    FilledBlank,
    Label,
    NextWords,
    RowLabel,
    RowValue,
    StoryAnswer,
    SymbolAnswer,
    Translation,
)
from zoo.serving.padding import axes_of, pick_rows, texts_of
from zoo.serving.texts import encode_text

_MAP = "attention_"
_LISTED = "_sentences"
_START = ("<s>",)  # read before the first token is written
# Outputs that the signature `beam` gives for each of its translations or captions.
_OF_EACH = (
    "translation",
    "caption",
    "score",
    "target_tokens",
    "target_length",
    "attention_alignment",
)


class Example(NamedTuple):
    """An example and its outputs.

    Attributes:
        outputs: Name -> (1, ...), without the padding of others.
        inputs: Name -> text.
        axes: Output -> the meaning of its last axes, or None.
        signature: The signature that answered.
        labels: Names of the classes, of a classifier.
    """

    outputs: dict[str, np.ndarray]
    inputs: Mapping[str, Any]
    axes: Mapping[str, Axes] | None
    signature: str
    labels: Sequence[str]

    def value(self, name: str) -> Any:
        """Returns an output of the example."""
        return self.outputs[name][0]

    def shared(self) -> dict[str, Any]:
        """Makes the fields that all results have, except for the score."""
        tokens, file = _tokens(self.outputs), self.inputs.get("image_bytes", b"")
        return {
            "tokens": tokens,
            "attention": _attention(self, tokens),
            "evidence": Evidence(self.outputs, self.axes, self.signature, file),
        }


def make_translation(example: Example) -> Translation | list[Translation]:
    """Makes the translation, or the list of those that a beam found."""
    if example.signature == "beam":
        return [_translation(one) for one in _hypotheses(example)]
    return _translation(example)


def make_caption(example: Example) -> Caption | list[Caption]:
    """Makes the caption, or the list of those that a beam found."""
    if example.signature == "beam":
        return [_caption(one) for one in _hypotheses(example)]
    return _caption(example)


def make_answer(example: Example) -> Answer:
    """Makes an answer; its offsets in characters come from those in bytes."""
    context = encode_text("context", example.inputs["context"])
    start, end = int(example.value("start")), int(example.value("end"))
    return Answer(
        answer=to_text(example.value("answer"), "surrogateescape"),
        score=float(example.value("score")),
        start=len(to_text(context[:start], "surrogateescape")),
        end=len(to_text(context[:end], "surrogateescape")),
        start_byte=start,
        end_byte=end,
        **example.shared(),
    )


def make_story_answer(example: Example) -> StoryAnswer:
    """Makes the answer and its facts, and names the sentences that were read."""
    answer = to_text(example.value("answer"))
    values = example.value("probabilities").tolist()
    probabilities = dict(zip(example.labels, values, strict=True))
    facts = [to_text(fact) for fact in example.value("facts")]
    weights = example.value("fact_weights").tolist()
    chosen = [pair for pair in zip(facts, weights, strict=True) if pair[0]]
    return StoryAnswer(
        answer=answer,
        score=probabilities[answer],
        probabilities=probabilities,
        facts=tuple(fact for fact, _ in chosen),
        fact_weights=tuple(weight for _, weight in chosen),
        **example.shared(),
    )


def make_filled_blank(example: Example) -> FilledBlank:
    """Makes the word for a blank and its rivals."""
    named = [
        (to_text(candidate), float(probability))
        for candidate, probability in zip(
            example.value("candidates"), example.value("probabilities"), strict=True
        )
        if candidate
    ]
    return FilledBlank(
        answer=to_text(example.value("answer")),
        score=named[0][1] if named else 0.0,
        candidates=tuple(word for word, _ in named),
        probabilities=tuple(probability for _, probability in named),
        **example.shared(),
    )


def make_label(example: Example) -> Label:
    """Makes the class and the probabilities of all."""
    label = to_text(example.value("label"))
    values = example.value("probabilities").tolist()
    probabilities = dict(zip(example.labels, values, strict=True))
    score = probabilities[label]
    return Label(label=label, score=score, probabilities=probabilities, **example.shared())


def make_row(example: Example) -> RowLabel | RowValue:
    """Makes the class or the value of a row, with the weights of its columns."""
    columns = map(to_text, example.value("row_features"))
    weights = dict(zip(columns, example.value("weights").tolist(), strict=True))
    if "value" in example.outputs:
        value = float(example.value("value"))
        return RowValue(value=value, score=value, weights=weights, **example.shared())
    fields = {name: getattr(make_label(example), name) for name in ("label", "probabilities")}
    score = fields["probabilities"][fields["label"]]
    return RowLabel(score=score, weights=weights, **fields, **example.shared())


def make_next_words(example: Example) -> NextWords | Continuation:
    """Makes the words that may follow, or the continuation that was asked for."""
    if example.signature == "generate":
        text, score = to_text(example.value("continuation")), float(example.value("score"))
        return Continuation(text=text, score=score, **example.shared())
    probabilities = np.exp(example.value("next_log_probabilities")).tolist()
    length = int(example.value("text_length"))
    return NextWords(
        words=tuple(map(to_text, example.value("next_tokens"))),
        score=probabilities[0],
        probabilities=tuple(probabilities),
        log_probabilities=tuple(example.value("log_probabilities")[:length].tolist()),
        **example.shared(),
    )


def make_symbols(example: Example) -> SymbolAnswer:
    """Makes the symbols of an answer."""
    places = int(example.value("symbols_length"))
    probabilities = tuple(example.value("probabilities")[:places].tolist())
    return SymbolAnswer(
        answer=to_text(example.value("answer")),
        score=min(probabilities, default=0.0),
        probabilities=probabilities,
        **example.shared(),
    )


def make_bits(example: Example) -> Bits:
    """Makes the bits of each step."""
    vectors = example.inputs["vectors"]
    probabilities = example.value("probabilities")  # (T, o)
    shared = example.shared()
    asked = {"vectors": vectors[None], "length": np.array([len(vectors)], "int32")}
    shared["evidence"] = shared["evidence"]._replace(inputs=asked)
    likelier = np.maximum(probabilities, 1.0 - probabilities)
    return Bits(
        bits=tuple(map(to_text, example.value("bits"))),
        score=float(likelier.mean()) if len(likelier) else 0.0,
        probabilities=probabilities,
        **shared,
    )


def split_rows(
    outputs: Mapping[str, np.ndarray], count: int, axes: Mapping[str, Axes] | None
) -> Iterator[dict[str, np.ndarray]]:
    """Yields the outputs (1, ...) of each example of a batch, without the padding of others."""
    for row in range(count):
        picked = pick_rows(outputs, slice(row, row + 1), axes)
        # Copies, so that an answer does not hold the whole batch.
        yield {name: value.copy() for name, value in picked.items()}


def to_text(value: bytes, errors: str = "replace") -> str:
    """Decodes a string of a servable."""
    return value.decode("utf-8", errors)


def _translation(example: Example) -> Translation:
    text, score = to_text(example.value("translation")), float(example.value("score"))
    return Translation(text=text, score=score, **example.shared())


def _caption(example: Example) -> Caption:
    text, score = to_text(example.value("caption")), float(example.value("score"))
    return Caption(text=text, score=score, **example.shared())


def _hypotheses(example: Example) -> Iterator[Example]:
    """Yields the translations of a beam, as if each were the only one."""
    for number, score in enumerate(example.value("score").tolist()):
        if score == -np.inf:  # fewer were found
            continue
        outputs = {
            name: value[:, number] if name in _OF_EACH else value
            for name, value in example.outputs.items()
        }
        yield example._replace(outputs=pick_rows(outputs, slice(0, 1), example.axes))


def _tokens(outputs: Mapping[str, np.ndarray]) -> dict[str, tuple[str, ...]]:
    """Text -> tokens, without padding; of a story, its sentences."""
    sides = [name.removesuffix("_length") for name in outputs if name.endswith("_length")]
    parts = {side: outputs.get(f"{side}_tokens", outputs.get(f"{side}{_LISTED}")) for side in sides}
    return {
        side: tuple(map(to_text, part[0, : int(outputs[f"{side}_length"][0])]))
        for side, part in parts.items()
        if part is not None
    }


def _attention(example: Example, tokens: Mapping[str, tuple[str, ...]]) -> dict[str, AttentionMap]:
    """Cuts the maps to their tokens."""
    names, found = frozenset(example.outputs), {}
    for name in sorted(names):
        if name.startswith(_MAP):
            axes = axes_of(name, names, example.axes)
            found[name.removeprefix(_MAP)] = _map(example.value(name), axes, tokens)
    return found


def _map(weights: np.ndarray, axes: Axes, tokens: Mapping[str, tuple[str, ...]]) -> AttentionMap:
    """Cuts a map to the tokens of its axes, and names these."""
    labels: list[tuple[str, ...]] = []
    texts = texts_of(axes)
    for number, (text, axis) in enumerate(texts):
        place = weights.ndim - len(texts) + number
        size = weights.shape[place]
        story = axis.of.removesuffix(_LISTED) if isinstance(axis, Listed) else ""
        if story in tokens:
            weights = np.take(weights, range(len(tokens[story])), axis=place)
            labels.append(tokens[story])
            continue
        if text is None or text not in tokens:
            labels.append(tuple(map(str, range(1, size + 1))))
            continue
        named = tokens[text]
        # A text without a token still has a column, of padding.
        extra = size > max(len(named), 1)
        kept = [*range(len(named)), *([size - 1] if extra else [])]
        weights = np.take(weights, kept, axis=place)
        own = number == 1 and texts[0][0] == text
        if own and isinstance(axes[1], Steps):
            named = (*_START, *named)[: len(named)]  # the tokens that had been read
        labels.append((*named, BEFORE if own else SENTINEL) if extra else named)
    return AttentionMap(weights, tuple(labels))
