"""The search with which models that write are evaluated and shipped."""

from numbers import Real

import tensorflow as tf

from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.decoding.ranking import make_ranking
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel


def search_sentences(
    model: SequenceToSequenceModel,
    memory: Tensors,
    limit: int | tf.Tensor,
    beam_width: int | tf.Tensor,
    length_penalty: float | tf.Tensor,
    n_best: int | tf.Tensor = 1,
    *,
    forbid_unknown: bool = False,
) -> Hypotheses:
    """Searches greedily or with a beam, and scores with GNMT's normalisation.

    Args:
        model: a built model.
        memory: of its encoder.
        limit: tokens of a sentence at most, ``</s>`` counted; or of each one's, (B,).
        beam_width: 1, as a number of Python or NumPy, searches greedily.
        length_penalty: GNMT's exponent; 0: none.
        n_best: hypotheses returned.
        forbid_unknown: whether no unknown word may be written.
    """
    if isinstance(beam_width, Real) and beam_width == 1:
        found = greedy(model, memory, maximum_length=limit, forbid_unknown=forbid_unknown)
        ranking = make_ranking("gnmt", length_penalty, 0.0, memory["mask"])
        return found._replace(scores=found.log_probabilities / ranking.penalty(found.lengths))
    return beam_search(
        model.for_beam(),
        memory,
        beam_width=beam_width,
        maximum_length=limit,
        normalisation="gnmt",
        length_penalty=length_penalty,
        forbid_unknown=forbid_unknown,
        n_best=n_best,
        stop="beam_finished",
    )
