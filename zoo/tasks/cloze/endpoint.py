"""Fills blanks from strings: what a cloze model is shipped as.

Everything between the strings and the answer is in the graph: the tokens, their ids, the model, the
sums over the occurrences of each candidate and their order. The answer is a token of the document,
or one of the candidates that were given.
"""

import keras
import tensorflow as tf

from zoo.data.cloze_format import PLACEHOLDER
from zoo.data.penn import PENN_RULES
from zoo.models.core.axes import Axes, Listed, Tokens
from zoo.serving.export import Endpoint
from zoo.tasks.cloze.readings import Readings
from zoo.tasks.shared.endpoints import ask_model, attention_maps, map_axes, same_batch, token_axes
from zoo.tasks.shared.text_input import TextInput, beginnings, check_limit, padded
from zoo.text.slots import ids_with_slots
from zoo.text.vocabulary import Vocabulary

DOCUMENT_TOKENS = 2000
"""Tokens of a document that are read, unless a model is made for longer ones."""


class ClozeEndpoint:
    """Document and query in, the word for the blank and what led to it out.

    Args:
        model: A built cloze model.
        vocabulary: Its ids are the first rows of the model's embedding.
        unknown_slots: Rows after these, for words outside of the vocabulary, as in training.
        readings: Reads each question several times with the model; None: once.
        maximum_document_tokens: Tokens of a document beyond these are not read.
        maximum_query_tokens: Likewise of a query.

    Raises:
        ValueError: A limit below 1, or a model of another vocabulary size.
    """

    def __init__(
        self,
        model: keras.Model,
        vocabulary: Vocabulary,
        unknown_slots: int = 0,
        *,
        readings: Readings | None = None,
        maximum_document_tokens: int = DOCUMENT_TOKENS,
        maximum_query_tokens: int = 200,
    ) -> None:
        self.limits = {
            "maximum_document_tokens": maximum_document_tokens,
            "maximum_query_tokens": maximum_query_tokens,
        }
        for name, limit in self.limits.items():
            check_limit(name, limit)
        size = len(vocabulary) + unknown_slots
        if model.vocabulary_size != size:
            raise ValueError(
                f"model must have the {size} ids of vocabulary and slots, got one of"
                f" {model.vocabulary_size}"
            )
        self.model = model
        self.vocabulary = vocabulary
        self.unknown_slots = unknown_slots
        self.readings = readings

    @property
    def reader(self) -> keras.Model | Readings:
        """The reader that is asked: the model, or several readings with it."""
        return self.readings or self.model

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel."""
        return [self.vocabulary]

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        strings = [tf.TensorSpec([None], tf.string, name=name) for name in self.model.INPUTS]
        found = {"serving_default": Endpoint(self.serve, strings, self._axes())}
        if "candidates" in self.model.OPTIONAL_INPUTS:
            candidates = tf.TensorSpec([None, None], tf.string, name="candidates")
            ranked = Endpoint(self.serve_ranked, [*strings, candidates], self._axes())
            found["ranked"] = ranked
        return found

    def _axes(self) -> dict[str, Axes]:
        """The axes of the outputs that the model has."""
        candidates = (Listed("candidates"),)
        axes: dict[str, Axes] = {"candidates": candidates, "probabilities": candidates}
        axes |= token_axes("document", "query") | {"attention_document": (Tokens("document"),)}
        if self.model.attention == "over":
            axes |= {"attention_query": (Tokens("query"),)}
        return axes | map_axes(self.model)

    def get_config(self) -> dict[str, int | str]:
        """How strings become tokens and ids, for the card."""
        count = 1 if self.readings is None else self.readings.count
        return {
            "placeholder": PLACEHOLDER,
            "unknown_slots": self.unknown_slots,
            "readings": count,
        }

    def serve(self, document: tf.Tensor, query: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers a batch of queries, each with a word of its own document.

        Text is cut into words and punctuation marks as `zoo.data.penn` says. A document without a
        token has the answer "" and no candidate. Below, D, Q and n are the most tokens of a
        document, of a query, and the most candidates of the batch, at least 1.

        Args:
            document: (batch,) strings in UTF-8.
            query: (batch,) likewise; the word XXXXX stands for the blank, exactly once.

        Returns:
            A flat dict:
            `answer` (batch,) string, the first candidate, "" if its probability is 0;
            `candidates` (batch, n) string, the most probable first, padded with "";
            `probabilities` (batch, n), P of each of them, padded with 0;
            `document_tokens` (batch, D) and `query_tokens` (batch, Q), padded with "";
            `document_length`, `query_length` (batch,) int32;
            `attention_document` (batch, D), s, and, unless the model is an attention-sum reader,
            `attention_query` (batch, Q), beta, and its maps `attention_<name>`; padded with 0.

        Raises:
            tf.errors.InvalidArgumentError: The inputs differ in their batch size, or a query does
                not hold the placeholder exactly once among the tokens that are read.
        """
        document, query = same_batch(document=document, query=query)
        given, asked = self._read(document, query)
        outputs = self._ask(given, asked)
        first = _first_occurrences(given.ragged(given.ids))
        words = tf.ragged.boolean_mask(given.ragged(given.tokens), first)
        probabilities = tf.ragged.boolean_mask(given.ragged(outputs["probabilities"]), first)
        return _ranked(words, probabilities) | self._shown(outputs, given, asked)

    def serve_ranked(
        self, document: tf.Tensor, query: tf.Tensor, candidates: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Orders given candidates.

        Args:
            document: As in `serve`.
            query: As in `serve`.
            candidates: (batch, n) strings, single tokens, padded with "". One that the document
                does not hold has the probability 0.

        Returns:
            As `serve`.

        Raises:
            tf.errors.InvalidArgumentError: As in `serve`.
        """
        document, query, candidates = same_batch(
            document=document, query=query, candidates=candidates
        )
        words = tf.ragged.boolean_mask(candidates, candidates != "")
        given, asked, listed = self._read(document, query, words)
        outputs = self._ask(given, asked, listed)
        probabilities = listed.ragged(outputs["probabilities"])
        return _ranked(words, probabilities) | self._shown(outputs, given, asked)

    def _read(
        self, document: tf.Tensor, query: tf.Tensor, *candidates: tf.RaggedTensor
    ) -> list[TextInput]:
        """Tokens and ids of (batch,) strings, cut to their limits, and of candidates."""
        documents = _tokens(document, self.limits["maximum_document_tokens"])
        queries = _tokens(query, self.limits["maximum_query_tokens"])
        blanks = tf.reduce_sum(tf.cast(queries == PLACEHOLDER, tf.int32), axis=1)
        message = f"every query must hold {PLACEHOLDER} exactly once"
        check = tf.debugging.assert_equal(blanks, 1, message=message)
        texts = [documents, queries, *candidates]
        with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
            ids = ids_with_slots(self.vocabulary, self.unknown_slots, *texts)
        return [padded(one, text) for text, one in zip(texts, ids, strict=True)]

    def _ask(self, given: TextInput, *texts: TextInput) -> dict[str, tf.Tensor]:
        """Asks the reader about a document, a query and, if they are given, candidates."""
        names = (*self.model.INPUTS, "candidates")
        inputs = {name: text.ids for name, text in zip(names, (given, *texts), strict=False)}
        return ask_model(self.reader, inputs, tf.size(given.lengths))

    @staticmethod
    def _shown(
        outputs: dict[str, tf.Tensor], given: TextInput, asked: TextInput
    ) -> dict[str, tf.Tensor]:
        """Evidence for the answer."""
        shown = {}
        for side, text in (("document", given), ("query", asked)):
            shown[f"{side}_tokens"] = text.tokens
            shown[f"{side}_length"] = text.lengths
            if f"{side}_attention" in outputs:
                shown[f"attention_{side}"] = outputs[f"{side}_attention"]
        return shown | attention_maps(outputs)


def _tokens(strings: tf.Tensor, maximum_tokens: int) -> tf.RaggedTensor:
    """Cuts (batch,) strings into tokens (batch, at most `maximum_tokens`)."""
    strings = beginnings(strings, maximum_tokens)
    for pattern, new in PENN_RULES:
        strings = tf.strings.regex_replace(strings, pattern, new)
    return tf.strings.split(strings)[:, :maximum_tokens]


def _dense(values: tf.RaggedTensor, padding: str | float) -> tf.Tensor:
    """(batch, columns), one column at least."""
    columns = tf.maximum(values.bounding_shape(axis=1), 1)
    return values.to_tensor(padding, shape=tf.stack([values.nrows(), columns]))


def _first_occurrences(ids: tf.RaggedTensor) -> tf.RaggedTensor:
    """Ragged bool (batch, tokens): where a word of the document stands for the first time."""
    rows = tf.cast(ids.value_rowids(), tf.int64)
    keys = rows * 2**32 + tf.cast(ids.flat_values, tf.int64)
    distinct, number = tf.unique(keys)
    positions = tf.range(tf.size(keys))
    first = tf.math.unsorted_segment_min(positions, number, tf.size(distinct))
    return ids.with_flat_values(tf.gather(first, number) == positions)


def _ranked(words: tf.RaggedTensor, probabilities: tf.RaggedTensor) -> dict[str, tf.Tensor]:
    """Candidates in the order of their probabilities, and the answer."""
    scores = _dense(probabilities, -1.0)  # padding comes last
    values, order = tf.math.top_k(scores, tf.shape(scores)[1])
    candidates = tf.gather(_dense(words, ""), order, batch_dims=1)
    return {
        "answer": tf.where(values[:, 0] > 0, candidates[:, 0], ""),
        "candidates": candidates,
        "probabilities": tf.maximum(values, 0.0),
    }
