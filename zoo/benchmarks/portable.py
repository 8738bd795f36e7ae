"""Exported models against their SavedModels: equal answers, size, and time a sentence.

Each text goes to both in turn, one at a time, so that a machine that others use too slows both. The
time is what the processors worked, on one thread.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.portable.runner import Model

_ANSWERS = {
    "classification": "label",
    "inference": "label",
    "reading": "answer",
    "translation": "translation",
}
_WARM_UP = 3


@dataclass(frozen=True)
class PortableModel:
    """Equal answers, sizes and times of an export and its SavedModel."""

    model: str
    """The SavedModel: a name or a folder."""
    folder: Path
    """Its export: what `python -m zoo export NAME FOLDER --format ...` wrote."""
    texts: Path
    """A file of inputs: a line each, or a JSON object each where there are several inputs."""
    count: Count = 100
    """Lines that are read."""

    def measure(self) -> dict[str, float]:
        """Returns the figures by name.

        Raises:
            ValueError: the task of the model has no answer in words, or the file has no line.
        """
        import tensorflow as tf

        from zoo.portable.runner import load_model
        from zoo.serving.load import load_card, load_servable

        task = load_card(self.model).task
        if task not in _ANSWERS:
            raise ValueError(f"task must be one of {sorted(_ANSWERS)}, got {task!r}")
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        runner = load_model(self.folder, threads=1)
        signature = load_servable(self.model).signatures["serving_default"]
        examples = read_examples(self.texts, runner.inputs, self.count)
        alike, seconds = 0, {"export": 0.0, "SavedModel": 0.0}
        for place, example in enumerate(examples[:_WARM_UP] + examples):
            began = time.process_time()
            own = runner.answer(**_readable(runner, self.model, example))[_ANSWERS[task]]
            middle = time.process_time()
            outputs = signature(**{name: tf.constant([text]) for name, text in example.items()})
            answer = outputs[_ANSWERS[task]].numpy()[0].decode()
            end = time.process_time()
            if place >= _WARM_UP:
                alike += own == answer
                seconds["export"] += middle - began
                seconds["SavedModel"] += end - middle
        figures = {f"milliseconds, {k}": 1000 * v / len(examples) for k, v in seconds.items()}
        size = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        return {"texts": len(examples), "equal answers": alike, "megabytes": size / 1e6} | figures


def read_examples(path: Path, names: list[str], count: int) -> list[dict[str, str]]:
    """Reads the first lines of a file as inputs.

    Raises:
        ValueError: there is none, or one lacks an input.
    """
    import json

    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line][:count]
    if not lines:
        raise ValueError(f"texts must have a line, got {path}")
    if len(names) == 1:
        return [{names[0]: line} for line in lines]
    found = [json.loads(line) for line in lines]
    if wrong := [one for one in found if set(one) != set(names)]:
        raise ValueError(f"lines of texts must be objects of {', '.join(names)}, got {wrong[0]}")
    return found


def _readable(runner: "Model", model: str, example: dict[str, str]) -> dict[str, Any]:
    """The inputs as the export takes them: ids where it has no tokenizer."""
    if runner.manifest["tokenizers"]:
        return dict(example)
    from zoo.serving.codecs import load_codecs

    (codec,) = load_codecs(model)
    return {name: codec.encode([text]).to_list()[0] for name, text in example.items()}
