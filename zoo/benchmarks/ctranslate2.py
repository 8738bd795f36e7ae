"""A Transformer's SavedModel against its exports, for CTranslate2 above all: times, and equality.

Batches go to all in turn, and the fastest of several rounds counts for each batch, so that a
machine that others use too slows all alike. All take and give texts: the SavedModel cuts and joins
them in the graph, for CTranslate2 SentencePiece does, and for the other exports the runner of
exports, which translates one text after another, also those of a batch.
"""

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from zoo.benchmarks.portable import bleu_of, read_examples
from zoo.benchmarks.timing import Timed, limit_threads, now
from zoo.training.bounds import Count, NotNegative

Translate = Callable[[list[str]], list[str]]
"""Texts -> translations."""

_EXPORTS: Mapping[str, tuple[Literal["litert", "onnx"], str]] = {
    "LiteRT": ("litert", "ai-edge-litert"),
    "ONNX Runtime": ("onnx", "onnxruntime"),
}
"""Name -> format, and the package that runs it."""


@dataclass(frozen=True)
class CTranslate2Speed(Timed):
    """Table of times of a SavedModel, its exports, and CTranslate2, which must be installed."""

    texts: Path
    """A file with a text in each line."""
    model: str = "multi30k_transformer_en_de"
    """A translator: a name or a folder of the SavedModel of a Transformer."""
    references: Path | None = None
    """A file with a right translation in each line: then BLEU is a column."""
    length_penalty: NotNegative | None = None
    """Exponent of both length penalties; None: that of the model's card."""
    count: Count = 64
    """Lines that are read."""
    batch_sizes: tuple[Count, ...] = (1, 32)
    """Texts of a batch."""
    rounds: Count = 5
    """Times that every batch is translated, after one to warm up."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns figures by row and column.

        Raises:
            ValueError: the file has no line, ``references`` too few, or the model is no
                Transformer.
        """
        limit_threads(self.threads)
        texts = read_examples(self.texts, None, self.count)
        with TemporaryDirectory() as folder:
            systems = self._systems(Path(folder))
            found = {name: translate(texts) for name, translate in systems.items()}
            (_, own), *_ = found.items()
            table = {
                name: {"equal translations": float(sum(map(str.__eq__, own, other)))}
                for name, other in found.items()
            }
            if self.references is not None:
                for name, translations in found.items():
                    table[name]["BLEU"] = bleu_of(translations, self.references)
            for size in self.batch_sizes:
                for name, seconds in self._seconds(systems, texts, size).items():
                    table[name][f"{size} a batch, ms a text"] = 1000 * seconds / len(texts)
        return table

    def _systems(self, folder: Path) -> dict[str, Translate]:
        """The SavedModel, exports of it, and CTranslate2 with floats and with weights of 8 bits."""
        from zoo.portable.export import export_portable

        manifest = export_portable(self.model, folder / "model", "ctranslate2")
        tensorflow, own = map(importlib.metadata.version, ("tensorflow", "ctranslate2"))
        systems = {f"SavedModel, TensorFlow {tensorflow}": self._savedmodel(manifest["limits"])}
        for name, (form, package) in _EXPORTS.items():
            export_portable(self.model, folder / form, form)
            version = importlib.metadata.version(package)
            systems[f"{name} {version}"] = self._export(folder / form)
        for kind in ("float32", "int8"):
            name = f"CTranslate2 {own}, {kind}"
            systems[name] = self._ctranslate2(folder / "model", manifest, kind)
        return systems

    def _export(self, folder: Path) -> Translate:
        from zoo.portable.runner import load_model

        model = load_model(folder, threads=self.threads)
        given = self.length_penalty
        asked = {} if given is None else {"length_penalty": given}
        return lambda texts: [model.answer(text=text, **asked)["translation"] for text in texts]

    def _savedmodel(self, limits: Mapping[str, Any]) -> Translate:
        from zoo.serving.servable import Servable

        servable = Servable(self.model)

        def translate(texts: list[str]) -> list[str]:
            if self.length_penalty is None:
                return [text.decode() for text in servable.ask({"text": texts})["translation"]]
            asked = {"beam_width": limits["beam_width"], "length_penalty": self.length_penalty}
            found = servable.ask({"text": texts} | asked, "beam")["translation"]
            return [text.decode() for text in found[:, 0]]

        return translate

    def _ctranslate2(self, folder: Path, manifest: Mapping[str, Any], kind: str) -> Translate:
        import ctranslate2
        import sentencepiece

        source, target = (
            sentencepiece.SentencePieceProcessor(str(folder / manifest["tokenizers"][side]["file"]))
            for side in ("text", "target")
        )
        limits, given = manifest["limits"], self.length_penalty
        penalty = limits["length_penalty"] if given is None else given
        translator = ctranslate2.Translator(
            str(folder), compute_type=kind, inter_threads=1, intra_threads=self.threads or 0
        )

        def translate(texts: list[str]) -> list[str]:
            results = translator.translate_batch(
                source.encode(texts, out_type=str),
                beam_size=int(limits["beam_width"]),
                length_penalty=penalty,
            )
            return [target.decode(result.hypotheses[0]) for result in results]

        return translate

    def _seconds(
        self, systems: dict[str, Translate], texts: list[str], size: int
    ) -> dict[str, float]:
        """Seconds for all texts, the fastest round of each batch."""
        batches = [texts[first : first + size] for first in range(0, len(texts), size)]
        totals = dict.fromkeys(systems, 0.0)
        for batch in batches:
            fastest = dict.fromkeys(systems, float("inf"))
            for place in range(1 + self.rounds):
                for name, translate in systems.items():
                    began = now(self.clock)
                    translate(batch)
                    if place:
                        fastest[name] = min(fastest[name], now(self.clock) - began)
            for name, seconds in fastest.items():
                totals[name] += seconds
        return totals
