"""Answers of a pipeline: plain Python values, with the attention behind them.

One small dataclass per task. Offsets into a context are given in characters, which Python slices
by, and in bytes, which servers speak of.
"""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from zoo.models.core.axes import Axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """Weights and the tokens of their last axes; `np.asarray` gives the weights."""

    weights: np.ndarray
    """float32 (..., queries, keys) or (..., keys), without padding. Axes in front are layers and
    heads."""
    tokens: tuple[tuple[str, ...], ...]
    """Tokens of each of the last axes, in order. `BEFORE` and `SENTINEL` of `zoo.models.core.axes`
    label columns that are no tokens."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        return self.weights.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Returns the weights, for NumPy."""
        return np.array(self.weights, dtype=dtype, copy=copy)


class Evidence(NamedTuple):
    """One example as a servable answered it, from which pictures are drawn."""

    outputs: Mapping[str, np.ndarray]
    """Name -> (1, ...), without padding."""
    axes: Mapping[str, Axes] | None
    """Output -> the meaning of its last axes, as `Servable.axes` has them."""
    signature: str
    """The signature that gave them."""
    image_bytes: bytes = b""
    """The file that was asked about, of models of pictures."""
    inputs: Mapping[str, np.ndarray] = MappingProxyType({})
    """Arrays (1, ...) that were asked about, of models of sequences of vectors."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Fields that the answers of all tasks have, beside the answer itself and its `score`."""

    main: ClassVar[str]
    """Name of the field with the answer."""
    tokens: dict[str, tuple[str, ...]] = field(repr=False)
    """Text -> its tokens, as the model reads or writes them."""
    attention: dict[str, AttentionMap] = field(repr=False, compare=False)
    """Name -> map; empty for a model without attention."""
    evidence: Evidence = field(repr=False, compare=False)
    """All outputs for this example."""

    def plot(self) -> "Figure":
        """Draws the attention as `zoo.plots` draws it for the task.

        Returns:
            A Matplotlib figure; `zoo.plots.save_figure` writes it.

        Raises:
            ValueError: The model has no attention, or a text has no token.
        """
        from zoo.plots import answer, translation_heads

        outputs, axes, signature, file, arrays = self.evidence
        if signature == "heads":
            return translation_heads(outputs)
        return answer(outputs, axes=axes, inputs=drawn_inputs(file) | dict(arrays))

    def _repr_html_(self) -> str:
        """Shows the answer and its attention in a notebook, without a script."""
        from zoo.plots import inline

        style = "max-height:40em;max-width:100%;overflow:auto"
        told = escape(self._told())
        return f'<div style="{style}"><p>{told}</p>{inline(self.evidence.outputs)}</div>'

    def _told(self) -> str:
        """The answer and its score in a line."""
        answer, score = (getattr(self, name) for name in (self.main, "score"))
        shown = ", ".join(answer) if isinstance(answer, tuple) else answer
        return f"{shown} ({score:.2f})"


class DrawnResult(Result):
    """An answer that notebooks show with the picture of `plot`."""

    def _repr_html_(self) -> str:
        """Shows the answer and its picture, or the answer alone where nothing is to be drawn."""
        told = escape(self._told())
        try:
            figure = self.plot()
        except ValueError:  # no attention, or nothing that it could be over
            return f"<p>{told}</p>"
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=90)
        image = base64.b64encode(file.getvalue()).decode("ascii")
        return f'<p>{told}</p><img alt="{told}" src="data:image/png;base64,{image}">'


def drawn_inputs(file: bytes) -> dict[str, np.ndarray]:
    """Decodes a picture for `zoo.plots.answer`; no bytes are no picture."""
    if not file:
        return {}
    from zoo.images.decoding import PictureReader

    return {"image": PictureReader(3, None)([file], ["image"]) / 255.0}


@dataclass(frozen=True, kw_only=True)
class Caption(DrawnResult):
    """A caption of a picture."""

    main: ClassVar[str] = "text"
    text: str
    score: float
    """Its log-probability divided by GNMT's length penalty."""


@dataclass(frozen=True, kw_only=True)
class Translation(Result):
    """A translation."""

    main: ClassVar[str] = "text"
    text: str
    score: float
    """Its log-probability divided by GNMT's length penalty."""


@dataclass(frozen=True, kw_only=True)
class Answer(Result):
    """An answer, which is `context[start:end]`."""

    main: ClassVar[str] = "answer"
    answer: str
    score: float
    """Probability of its first token times that of its last."""
    start: int
    """Offset of its first character in the context."""
    end: int
    """Offset one past its last character."""
    start_byte: int
    """Offset of its first byte in the context as UTF-8."""
    end_byte: int
    """Offset one past its last byte."""


@dataclass(frozen=True, kw_only=True)
class StoryAnswer(DrawnResult):
    """The answer to a question about a story, and the sentences that it was drawn from."""

    main: ClassVar[str] = "answer"
    answer: str
    score: float
    """Its probability."""
    probabilities: dict[str, float]
    """Answer -> probability, in the order of the model's answers."""
    facts: tuple[str, ...]
    """The sentence with the largest weight in each hop; nothing for an empty story."""
    fact_weights: tuple[float, ...]
    """Its weight."""


@dataclass(frozen=True, kw_only=True)
class FilledBlank(Result):
    """The word for a blank."""

    main: ClassVar[str] = "answer"
    answer: str
    """The best candidate; "" if none has a probability."""
    score: float
    """Its probability."""
    candidates: tuple[str, ...]
    """The best first: those that were given, else the words of the document."""
    probabilities: tuple[float, ...]
    """Probability of each candidate."""


@dataclass(frozen=True, kw_only=True)
class Label(Result):
    """The most probable class."""

    main: ClassVar[str] = "label"
    label: str
    score: float
    """Its probability."""
    probabilities: dict[str, float]
    """Class -> probability, in the order of the model's classes."""


@dataclass(frozen=True, kw_only=True)
class RowLabel(Label):
    """The most probable class of a row of a table."""

    weights: dict[str, float]
    """Column -> its weight, 0 where missing. A weight is not a cause."""


@dataclass(frozen=True, kw_only=True)
class RowValue(Result):
    """The value predicted for a row of a table."""

    main: ClassVar[str] = "value"
    value: float
    score: float
    """The value again."""
    weights: dict[str, float]
    """Column -> its weight, 0 where missing. A weight is not a cause."""


@dataclass(frozen=True, kw_only=True)
class NextWords(Result):
    """Words that may follow a text."""

    main: ClassVar[str] = "words"
    words: tuple[str, ...]
    """The most probable words, the best first."""
    score: float
    """Probability of the first one."""
    probabilities: tuple[float, ...]
    """Probability of each of them."""
    log_probabilities: tuple[float, ...]
    """For each token of the text, given those before it."""


@dataclass(frozen=True, kw_only=True)
class Continuation(Result):
    """A continuation of a text."""

    main: ClassVar[str] = "text"
    text: str
    """The new text alone; `<unk>` stands for an unknown word."""
    score: float
    """Its log-probability at temperature 1, `</s>` counted."""

    def plot(self) -> "Figure":
        """Refuses: the signature that writes gives no maps.

        Raises:
            ValueError: Always; says how to see what a text was read beside.
        """
        raise ValueError(
            "a continuation has no attention to draw: ask about the whole text, without new_tokens"
        )


@dataclass(frozen=True, kw_only=True)
class SymbolAnswer(DrawnResult):
    """Symbols that a learnt algorithm gave for symbols."""

    main: ClassVar[str] = "answer"
    answer: str
    """Without the blank places at its end; others are "_"."""
    score: float
    """Probability of the least certain place; 0 of an empty text."""
    probabilities: tuple[float, ...]
    """Probability of the symbol at each place."""


@dataclass(frozen=True, kw_only=True)
class Bits(DrawnResult):
    """Bits that a learnt algorithm gave at each step of a sequence of vectors."""

    main: ClassVar[str] = "bits"
    bits: tuple[str, ...]
    """Answer at each step, such as "0110"."""
    score: float
    """Mean probability of the bits; 0 of an empty sequence."""
    probabilities: np.ndarray = field(repr=False, compare=False)
    """float32 (T, o), that each bit is a one."""
