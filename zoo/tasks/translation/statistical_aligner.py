"""Word alignment by models of counts, the baseline of alignment by attention.

IBM model 2 (Brown et al. 1993, "The Mathematics of Statistical Machine Translation") and the hidden
Markov model (Vogel, Ney and Tillmann 1996) as sil-thot has them. They link each target word to one
source word or to none, as attention does, and are trained on pairs alone.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from zoo.metrics.alignment import Links

StatisticalModel = Literal["ibm2", "hmm"]
Pairs = tuple[Sequence[str], Sequence[str]]

_CLASSES = {"ibm2": "Ibm2AlignmentModel", "hmm": "HmmAlignmentModel"}
_WORDS_AT_ONCE = 10_000  # texts that are split in one call


def align_statistically(
    kind: StatisticalModel,
    training: Pairs,
    pairs: Pairs,
    iterations: int = 5,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Links]:
    """Trains a model and aligns given pairs.

    Args:
        kind: ``"ibm2"`` or ``"hmm"``.
        training: source texts and their translations; they are split into words and case-folded.
        pairs: those to align, whose words are separated by spaces; they are case-folded, too.
        iterations: passes of the EM algorithm over the training texts.
        tell: is called with a line before each pass.

    Returns:
        Links (source word, target word) of each pair.

    Raises:
        ModuleNotFoundError: if sil-thot is not installed.
    """
    model = _make(kind)
    sides = [_split(texts) for texts in training]
    for source, target in zip(*sides, strict=True):
        if source and target:
            model.add_sentence_pair(source, target, 1.0)
    model.start_training()
    for iteration in range(iterations):
        tell(f"{kind}: pass {iteration + 1} of {iterations}")
        model.train()
    model.end_training()
    folded = [[text.casefold().split() for text in texts] for texts in pairs]
    return [_best(model, source, target) for source, target in zip(*folded, strict=True)]


def _make(kind: StatisticalModel) -> Any:
    try:
        import thot.alignment
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"aligner {kind} needs sil-thot: pip install 'attention-model-zoo[align]'"
        ) from error
    return getattr(thot.alignment, _CLASSES[kind])()


def _split(texts: Sequence[str]) -> list[list[str]]:
    """Splits texts into words as vocabularies have them."""
    import tensorflow as tf

    from zoo.text.tokenizer import WordTokenizer

    tokenizer = tf.function(WordTokenizer(), input_signature=[tf.TensorSpec([None], tf.string)])
    words: list[list[str]] = []
    for first in range(0, len(texts), _WORDS_AT_ONCE):
        found: tf.RaggedTensor = tokenizer(
            tf.constant(texts[first : first + _WORDS_AT_ONCE])
        ).folded
        words += [[word.decode() for word in row] for row in found.to_list()]
    return words


def _best(model: Any, source: list[str], target: list[str]) -> Links:
    if not source or not target:
        return frozenset()
    _, matrix = model.get_best_alignment(source, target)
    rows, columns = matrix.to_numpy().nonzero()
    return frozenset(zip(rows.tolist(), columns.tolist(), strict=True))
