"""One word alignment from two, which were found in the two directions of translation.

Each direction can link a word of its target to one source word only, so that it misses all links of
several target words to one. What both directions found is precise, what either found is complete;
the heuristics between the two begin with the former and grow into the latter.

Och and Ney, "A Systematic Comparison of Various Statistical Alignment Models", Computational
Linguistics 29(1), 2003 (intersection, union); Koehn, Och and Marcu, "Statistical Phrase-Based
Translation", NAACL 2003, and Koehn et al., "Edinburgh System Description for the 2005 IWSLT Speech
Translation Evaluation", 2005 (grow-diag-final).
"""

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

from zoo.metrics.alignment import Alignment, Link, Links, all_links

Method: TypeAlias = Literal[
    "intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"
]

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def flip_links(found: Alignment | Collection[Link]) -> Links:
    """Exchanges both sides: links of a model of the other direction as (source, target)."""
    return frozenset((source, target) for target, source in all_links(found))


def symmetrise(
    forward: Alignment | Collection[Link],
    backward: Alignment | Collection[Link],
    method: Method,
) -> Links:
    """Joins the links of two directions.

    Growing adds links of the union next to a link that is there, diagonally too, if they link a
    word that has no link yet. The final step adds other links of the union: first those of
    `forward`, then those of `backward`, if one of their words has no link yet.

    Args:
        forward: Links (source, target) of the model from source to target; of an annotation, also
            the possible ones.
        backward: Links of the other model, (source, target) too: see `flip_links`.
        method: "intersection": what both have. "union": what either has. "grow-diag": growing from
            the intersection. "grow-diag-final": with the final step. "grow-diag-final-and": the
            same, adding only links of which neither word has a link yet.

    Raises:
        ValueError: There is no such method.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {list(get_args(Method))}, got {method!r}")
    directions = all_links(forward), all_links(backward)
    both, either = (directions[0] & directions[1], directions[0] | directions[1])
    if method == "intersection":
        return both
    if method == "union":
        return either
    joined = _Growing(both)
    joined.grow(either)
    if method != "grow-diag":
        for direction in directions:
            joined.finish(direction, neither=method == "grow-diag-final-and")
    return frozenset(joined.links)


class _Growing:
    """Links, and the words that have one."""

    def __init__(self, links: Links) -> None:
        self.links = set(links)
        self.sources = {source for source, _ in links}
        self.targets = {target for _, target in links}

    def grow(self, either: Links) -> None:
        """Adds neighbours out of the union, until there are none.

        Links are visited by target, then by source; those added on the way are visited too.
        """
        grown = True
        while grown:
            grown = False
            for target in sorted({target for _, target in either}):
                for source in sorted({source for source, _ in either}):
                    if (source, target) in self.links:
                        grown |= self._add_neighbours(source, target, either)

    def finish(self, direction: Links, neither: bool) -> None:
        """Adds links of a direction one of whose words has no link yet, or neither of them."""
        for source, target in sorted(direction, key=lambda link: (link[1], link[0])):
            free = (source not in self.sources, target not in self.targets)
            if all(free) if neither else any(free):
                self._add(source, target)

    def _add_neighbours(self, source: int, target: int, either: Links) -> bool:
        added = False
        for targets, sources in _NEIGHBOURS:
            link = source + sources, target + targets
            free = link[0] not in self.sources or link[1] not in self.targets
            if link in either and free:
                self._add(*link)
                added = True
        return added

    def _add(self, source: int, target: int) -> None:
        self.links.add((source, target))
        self.sources.add(source)
        self.targets.add(target)
