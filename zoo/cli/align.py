"""`align`: word alignments of given pairs of sentences, and their error rate."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from zoo.cli.quiet import without_greetings
from zoo.serving.load import resolve
from zoo.text_files import read_lines

if TYPE_CHECKING:
    from zoo.metrics.alignment import Alignment, Links


@dataclasses.dataclass
class Align:
    """Align the words of given translations by a translator's attention, in Pharaoh format."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """A translator from `list`, or the folder or the address of a SavedModel."""
    source: Path
    """Sentences in the language that it reads, one a line, words separated by spaces."""
    target: Path
    """Their translations, line by line."""
    backward: str | None = None
    """A translator of the other direction, whose links are joined with the first one's."""
    method: (
        Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
        | None
    ) = None
    """Joins the links of both directions; grow-diag-final-and by default."""
    convention: Literal["predicted", "input"] = "predicted"
    """Whether a step's weights belong to the word that it writes or that it reads; see the
    documentation of the model."""
    threshold: float | None = None
    """Link all words with so large a weight, above 0 and at most 1, instead of the one with the
    largest."""
    out: Path | None = None
    """File to write; standard output if none is given."""
    gold: Path | None = None
    """Annotated alignment: prints the alignment error rate instead of the links. One link a line if
    the name ends in .wa, else in Pharaoh format."""
    gold_first: Literal[0, 1] | None = None
    """The number of a sentence's first word in that file; by default 1 in a .wa file, where 0 is
    the empty word, else 0."""
    drop_outside: bool = False
    """Leave out links of that file that are beyond their sentences, instead of refusing it."""

    def __call__(self) -> None:
        """Writes the links, or their error rate."""
        self._check_options()
        folders = [resolve(one) for one in (self.name, self.backward) if one is not None]
        sources, targets = read_lines(self.source), read_lines(self.target)
        if len(sources) != len(targets):
            raise ValueError(
                f"{self.target} must have {len(sources)} lines, as {self.source} has, "
                f"got {len(targets)}"
            )
        lengths = [(len(s.split()), len(t.split())) for s, t in zip(sources, targets, strict=True)]
        gold = self._gold(lengths)  # before models are loaded: it may be broken
        found = self._links(folders[0], sources, targets)
        if len(folders) > 1:
            from zoo.metrics.symmetrisation import flip_links, symmetrise

            others = map(flip_links, self._links(folders[1], targets, sources))
            pairs = zip(found, others, strict=True)
            found = [symmetrise(*pair, self.method or "grow-diag-final-and") for pair in pairs]
        self._write(found, gold)

    def _check_options(self) -> None:
        """Refuses options that would change nothing, and a threshold that no weight reaches.

        Raises:
            ValueError: Names the option that another one lacks, or that is out of range.
        """
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise ValueError(f"threshold must be above 0 and at most 1, got {self.threshold}")
        if self.backward is None and self.method is not None:
            raise ValueError(f"backward must be given with method, got method {self.method} alone")
        if self.gold is not None:
            return
        if self.gold_first is not None:
            raise ValueError(
                f"gold must be given with gold_first, got gold_first {self.gold_first} alone"
            )
        if self.drop_outside:
            raise ValueError("gold must be given with drop_outside, got drop_outside alone")

    def _gold(self, lengths: list[tuple[int, int]]) -> "list[Alignment] | None":
        if self.gold is None:
            return None
        from zoo.metrics.gold import read_gold

        read = read_gold(self.gold, self.gold_first, lengths, drop_outside=self.drop_outside)
        if read.outside:
            print(f"{self.gold}: {read.outside} links beyond their sentences are left out")
        return read.alignments

    def _links(self, folder: Path, sources: list[str], targets: list[str]) -> "list[Links]":
        """Links (source, target) of the model in a folder."""
        with without_greetings():
            from zoo.serving.codecs import load_codecs
            from zoo.serving.load import load
            from zoo.tasks.shared.exported import check_translators
            from zoo.tasks.translation.forced import align_pairs
        check_translators([folder])
        first, second = load_codecs(folder)
        model = load(folder)
        return align_pairs(
            model, (first, second), sources, targets, self.convention, self.threshold
        )

    def _write(self, found: "list[Links]", gold: "list[Alignment] | None") -> None:
        from zoo.metrics.alignment import aer, pharaoh_line, write_pharaoh

        if self.out is not None:
            write_pharaoh(self.out, found)
        if gold is not None:
            print(f"alignment error rate: {100 * aer(found, gold):.2f} %")
        elif self.out is not None:
            print(self.out)
        else:
            for one in found:
                print(pharaoh_line(one))
