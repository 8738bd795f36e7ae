"""Scores of formulas: how much of a target is right before the first mistake."""

from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.metrics.translation import until_failure
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.tasks.translation.examples import TranslationEvaluator, encode_pairs
from zoo.text.codecs import TextCodec


class FormulaEvaluator(TranslationEvaluator):
    """Scores a model on formulas by their symbols, whatever they look like as strings."""

    def __init__(
        self,
        model: SequenceToSequenceModel,
        codecs: tuple[TextCodec, TextCodec],
        frame: pd.DataFrame,
        **search: Any,
    ) -> None:
        """Takes what to score.

        Args:
            model: a built model.
            codecs: of source and target.
            frame: ``source``, ``target`` and ``depth``.
            **search: as of ``TranslationEvaluator``.
        """
        examples = encode_pairs(frame, *codecs)
        super().__init__(model, examples, frame["target"], codecs[1], **search)
        self._targets = examples.target_out.to_list()
        self._depths = frame["depth"].to_numpy()
        ids = tf.TensorSpec([None, None], tf.int32)
        self._write = tf.function(self._find, input_signature=[ids], autograph=False)
        self._shares = np.zeros(len(frame))

    def __call__(self) -> dict[str, float]:
        """Returns ``until_failure`` and ``exact_match`` (%), and ``perplexity``."""
        return {
            "until_failure": self.measure(),
            "exact_match": self.exact_match(),
            "perplexity": self.perplexity(),
        }

    def measure(self) -> float:
        """Searches; returns the mean share of a target before the first mistake, in %."""
        for inputs, rows in self._batches.evaluation():
            found = self._write(inputs["source"]).numpy()
            for row, tokens in zip(rows.numpy(), found, strict=True):
                self._shares[row] = until_failure(tokens, self._targets[row])
        return 100 * float(self._shares.mean())

    def exact_match(self) -> float:
        """Share of the formulas without a mistake at the last ``measure``, in %."""
        return 100 * float((self._shares == 1).mean())

    def by_depth(self) -> dict[int, float]:
        """Mean share of the formulas of each depth at the last ``measure``, in %."""
        depths = sorted(set(self._depths.tolist()))
        return {one: 100 * float(self._shares[self._depths == one].mean()) for one in depths}
