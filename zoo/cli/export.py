"""`export`: the SavedModel of a finished run, copied to a folder for serving.

A recipe ends by exporting its best checkpoint to `saved_model/` in its run folder. The command
checks those files against their card and copies them, with the card and the attention picture and
without checkpoints and logs. Nothing is recomputed unless `--again` is given: then the SavedModel
is rebuilt from its own weights and vocabularies, with the code of this version. `--format onnx`,
`litert` and `ctranslate2` write it for machines without TensorFlow (`zoo.portable`).
"""

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import tyro

from zoo.serving.folders import copy_servable
from zoo.serving.load import resolve_or_path


@dataclasses.dataclass
class Export:
    """Copy the SavedModel of a finished run, checked against its card, to another folder."""

    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """A run folder, such as runs/squad_dcn, a name from `list`, or the folder or the address of a
    SavedModel."""
    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]
    """Destination; a SavedModel there is replaced, unless other files lie beside it."""

    again: bool = False
    """Rebuild it with the code of this version, from its own weights and vocabularies."""

    format: Literal["saved_model", "onnx", "litert", "ctranslate2"] = "saved_model"
    """onnx and litert: graphs of ids, the vocabulary and a runner in NumPy, for machines that have
    onnxruntime or ai-edge-litert but no TensorFlow. ctranslate2: a Transformer for CTranslate2."""

    weights: Literal["float32", "int8"] = "float32"
    """int8: matrices of onnx or ctranslate2 in a quarter of the size, at a cost
    (docs/portable.md)."""

    def __call__(self) -> None:
        """Copies, rebuilds or converts, and prints the destination."""
        if self.format != "saved_model":
            if self.again:
                raise ValueError(f"again must go with format saved_model, got {self.format}")
            from zoo.portable.export import export_portable

            export_portable(self.source, self.folder, self.format, self.weights)
        elif self.weights != "float32":
            raise ValueError(f"weights must be float32 in format saved_model, got {self.weights!r}")
        elif self.again:
            from zoo.tasks.export_again import export_again

            export_again(self.source, self.folder)
        else:
            copy_servable(resolve_or_path(self.source), self.folder)
        print(self.folder)
