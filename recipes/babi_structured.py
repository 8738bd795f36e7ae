r"""Structured attention over supporting facts (Kim et al. 2017) on bAbI, or on generated stories.

    python -m recipes.babi_structured                       # task 2 of bAbI if it is here
    python -m recipes.babi_structured --data sample         # generated, needs no data
    python -m recipes.babi_structured --task 14 --runs 20
    python -m recipes.babi_structured --task 14 --runs 20 --attention memn2n

``docs/architectures/structured.md`` has the results, and the options with which the shipped reader
was trained.
``binary`` is a chain with potentials for pairs of sentences, ``unary`` one without, and ``memn2n``
the memory network that they are compared with. The last tenth of the training part chooses the
epoch of a run, and the run that is exported. An epoch is one compiled loop on the CPU, which takes
one question after the other. The run folder holds settings, log, the weights and scores of every
run, ``result.json`` with their means, the SavedModel and ``attention.png``: a story, and the
weights of its sentences. The same command goes on with the runs that are missing.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.stories.recipe import StorySettings, StoryTask
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(StorySettings):
    """Settings of the runs. Those that are None depend on the data; the folder records them."""

    attention: Literal["binary", "unary", "memn2n"] = "binary"
    """The chain with pairs or without, or a softmax for each hop."""
    queries: Literal["linear", "memory"] = "linear"
    """How the chain's next query is made: by a matrix, or of the sentences."""
    shared_keys: bool = True
    """Whether the keys of all variables share their table of words, unlike in the paper."""
    counting: Literal["once", "pairs", "edges"] = "once"
    """How often the chain counts potentials of single sentences: once; once for each pair, of three
    hops or more; or twice, as the paper's released code does with potentials at its edges."""
    normalisation: Literal["sequences", "transitions"] = "sequences"
    """Whether the chain is normalised over all sequences, or for each sentence over the next one,
    as in the paper's released code."""


_DEFAULTS = {"learning_rate": 0.01, "encoding": "bag"}
DEFAULTS: dict[str, dict[str, Any]] = {
    "babi": {**_DEFAULTS, "epochs": 100, "start_epochs": 20, "runs": 1},
    "sample": {**_DEFAULTS, "epochs": 40, "start_epochs": 15, "runs": 3},
}
"""Defaults by data set. One run in two learns the sample."""


OF_THE_CHAIN = ("queries", "shared_keys", "counting", "normalisation")
"""Settings that a memory network has no use for, nor a chain of one sentence."""


def check(settings: Settings, hops: int | None) -> None:
    """Refuses settings that the chosen attention has no use for.

    Args:
        settings: of the runs.
        hops: sentences that are chosen; None: not known yet.

    Raises:
        ValueError: names the setting.
    """
    if settings.attention == "memn2n":
        refuse_given(settings, OF_THE_CHAIN, "with the attention memn2n")
    if settings.attention == "unary":  # sentences are independent: each has a softmax either way
        refuse_given(settings, ("normalisation",), "with the attention unary")
    if settings.normalisation == "transitions":
        refuse_given(settings, ("counting",), "with the normalisation transitions")
    if hops == 1:
        refuse_given(settings, OF_THE_CHAIN, "with one hop")
    if hops == 2 and settings.counting == "pairs":  # each sentence is in the only pair
        refuse_given(settings, ("counting",), "with two hops, or be edges")


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.structured import MemoryNetwork, SupportingFactsReader

    check(settings, arguments["hops"])  # which the data decides unless they are given
    if settings.attention == "memn2n":
        return MemoryNetwork(**arguments)
    return SupportingFactsReader(
        attention=settings.attention,
        queries=settings.queries,
        counting=settings.counting,
        normalisation=settings.normalisation,
        shared_keys=settings.shared_keys,
        **arguments,
    )


def start_options(settings: Settings) -> dict[str, Any]:
    """Options of the model in the first epochs: scores are not normalised then."""
    return {"linear": True}


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    check(settings, settings.hops)
    return StoryTask("babi_structured", make_model, start_options, DEFAULTS).run(settings)


if __name__ == "__main__":
    start(main, Settings, __doc__)
