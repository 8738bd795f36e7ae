"""Trains both directions of a translation together."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zoo.tasks.shared.records import finite_metrics
from zoo.tasks.translation.tatoeba import TatoebaTask

if TYPE_CHECKING:
    import pandas as pd

    from zoo.serving.cards import DataRecord
    from zoo.tasks.translation.endpoint import TranslationEndpoint
    from zoo.tasks.translation.examples import TranslationEvaluator


class SymmetricTask(TatoebaTask):
    """Translates in both directions, with a model that holds a translator of each.

    The run's model is ``source_to_target``, whose BLEU on the validation part chooses the best
    weights of both. ``target_to_source`` is exported beside it, and the entry ``backward`` of the
    result holds its metrics.
    """

    def resolve(self, settings: Any) -> Any:
        """Keeps the tokeniser of sacreBLEU that was asked for, which is for both languages."""
        self.wanted_tokenizer = settings.bleu_tokenize
        return super().resolve(settings)

    def begin(self, model: Any, batches: Any) -> None:
        """Keeps the other direction for the end."""
        self.target_to_source = model.target_to_source

    def evaluator(self, model: Any) -> "TranslationEvaluator":
        """Scores greedy translations of the validation part."""
        return super().evaluator(model.source_to_target)

    def endpoint(self, model: Any) -> "TranslationEndpoint":
        """Translates strings from the source's language to the target's."""
        return super().endpoint(model.source_to_target)

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Metrics of the first direction on the test part; notes those of the other one."""
        metrics = super().measure(endpoint)
        self.folder.logger.info("and from target to source:")
        other = self._exchanged()
        self.other_endpoint = other.endpoint(self.target_to_source)
        measured = other.measure(self.other_endpoint)
        self.other_metrics = finite_metrics(measured, self.folder.logger)
        self.notes = {**self.notes, "backward": {**self.other_metrics, **other.notes}}
        return metrics

    def export(
        self, endpoint: Any, record: "DataRecord", metrics: dict[str, float], seconds: float
    ) -> None:
        """Writes the SavedModels of both directions with their cards."""
        from zoo.tasks.shared.endpoints import export_endpoint

        super().export(endpoint, record, metrics, seconds)
        folder = self.folder.backward_saved_model
        export_endpoint(
            folder,
            self.other_endpoint,
            task=self.name,
            data=replace(record, remarks=f"{record.remarks}; source and target exchanged"),
            metrics=self.other_metrics,
            seed=self.settings.seed,
            seconds=seconds,
        )
        self.folder.logger.info("from target to source: %s", folder)

    def _exchanged(self) -> TatoebaTask:
        """The same task from target to source."""
        from zoo.metrics.translation import choose_bleu_tokenizer

        other = TatoebaTask(self.recipe, self.make_model, self.defaults)
        language = self.settings.source
        other.settings = replace(
            self.settings,
            source=self.settings.target,
            target=language,
            bleu_tokenize=choose_bleu_tokenizer(language, self.wanted_tokenizer),
        )
        other.folder, other.codecs = self.folder, self.codecs[::-1]
        other.data = self.data._replace(
            training=_exchange(self.data.training), test=_exchange(self.data.test)
        )
        return other


def _exchange(frame: "pd.DataFrame") -> "pd.DataFrame":
    return frame.rename(columns={"source": "target", "target": "source"})
