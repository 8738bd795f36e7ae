"""The models of papers, without those that tests register."""

from zoo.models.core.registry import ModelEntry, models


def published() -> dict[str, ModelEntry]:
    """Every model of a folder of `zoo/models`, by name."""
    every = models().items()
    return {name: entry for name, entry in every if entry.cls.__module__.startswith("zoo.models.")}
