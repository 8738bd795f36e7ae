"""Settings that the recipes for a user's own files share."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from zoo.training.bounds import Count, Rate
from zoo.training.settings import TrainingSettings

DATA = "files"
"""Name of the data of a run on files of the user's own, in its settings."""


@dataclass(frozen=True)
class OwnDataSettings(TrainingSettings):
    """Settings of every recipe for any files, beside those of its task."""

    data: tyro.conf.Suppress[tyro.conf.Fixed[str]] = DATA
    """Set by the recipe."""
    data_dir: tyro.conf.Suppress[tyro.conf.Fixed[Path | None]] = None
    """Not used: files are given by their paths."""
    held_out: Rate = 0.1
    """Share of the training examples that is held out, where no validation file is given."""
    arguments: tuple[str, ...] = ()
    """More arguments of the model's constructor, such as depth=2 or score=general."""
    embedding_dim: Count | None = None
    """Size of a word vector; None: by the amount of data."""
    hidden_dim: Count | None = None
    """Hidden size, from which all other sizes of the model follow; None: by the amount of data."""
