"""`export`: from a finished run to a folder that serves.

A recipe ends by exporting its best checkpoint to `saved_model/` in its run folder. The command
checks those files against their card and copies them, with the card and the attention picture and
without checkpoints and logs. Nothing is computed again, but with `--again`: then the SavedModel is
built anew from the weights and vocabularies in it, with the code of this version.
"""

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from zoo.serving.folders import copy_servable
from zoo.serving.load import list_models, resolve


@dataclasses.dataclass
class Export:
    """Copy the SavedModel of a finished run, checked against its card, to a folder that serves."""

    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """A run folder, such as runs/squad_dcn, a name out of `list`, or the folder of a SavedModel."""
    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]
    """Where to; a SavedModel that is there is replaced, unless other files lie beside it."""

    again: bool = False
    """Build it anew with the code of this version, from its own weights and vocabularies."""

    def __call__(self) -> None:
        """Copies or builds anew, and writes where to."""
        if self.again:
            from zoo.tasks.export_again import export_again

            export_again(self.source, self.folder)
            print(self.folder)
            return
        source = resolve(self.source) if self.source in list_models() else Path(self.source)
        copy_servable(source.expanduser(), self.folder)
        print(self.folder)
