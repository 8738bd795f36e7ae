"""Exported models against their SavedModels: equal answers, size, and time an example.

Each example goes to both in turn, one at a time, so that a machine that others use too slows both.
The time is what the processors worked, on one thread.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.portable.runner import Model

_ANSWERS = {
    "algorithms": "bits",
    "captioning": "caption",
    "classification": "label",
    "images": "label",
    "inference": "label",
    "reading": "answer",
    "stories": "answer",
    "symbols": "answer",
    "tabular": "label",
    "translation": "translation",
}
_OF_TEXTS = ("classification", "inference", "reading")
_OF_NUMBERS = ("algorithms", "images", "symbols", "tabular")
_WARM_UP = 3


@dataclass(frozen=True)
class PortableModel:
    """Equal answers, sizes and times of an export and its SavedModel."""

    model: str
    """The SavedModel: a name or a folder."""
    folder: Path
    """Its export: what `python -m zoo export NAME FOLDER --format ...` wrote."""
    texts: Path
    """A file of inputs: a text or the file of a picture in each line, or a JSON object of the
    inputs of the SavedModel where they are several or no texts."""
    count: Count = 100
    """Lines that are read."""
    references: Path | None = None
    """Translations of the texts, a line each: BLEU of both is measured too."""

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
        plain = task == "captioning" or (task not in _OF_NUMBERS and len(runner.inputs) == 1)
        examples = read_examples(self.texts, None if plain else inputs_of(signature), self.count)
        found: list[tuple[Any, Any]] = []
        seconds = {"export": 0.0, "SavedModel": 0.0}
        pairs = list(_pairs(runner, self.model, task, examples))
        for place, (given, served) in enumerate(pairs[:_WARM_UP] + pairs):
            began = time.process_time()
            own = runner.answer(**given)[_ANSWERS[task]]
            middle = time.process_time()
            outputs = signature(**served)
            answer = outputs[_ANSWERS[task]].numpy()[0]
            answer = [x.decode() for x in answer] if task == "algorithms" else answer.decode()
            end = time.process_time()
            if place >= _WARM_UP:
                found.append((own, answer))
                seconds["export"] += middle - began
                seconds["SavedModel"] += end - middle
        figures = {f"milliseconds, {k}": 1000 * v / len(examples) for k, v in seconds.items()}
        size = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        alike = sum(own == answer for own, answer in found)
        figures |= {} if self.references is None else bleu(found, self.references)
        return {"texts": len(examples), "equal answers": alike, "megabytes": size / 1e6} | figures


def bleu(found: list[tuple[str, str]], path: Path) -> dict[str, float]:
    """Scores the translations of an export and of its SavedModel.

    Raises:
        ValueError: there are fewer references than translations.
    """
    import sacrebleu

    references = path.read_text(encoding="utf-8").split("\n")[: len(found)]
    if len(references) < len(found):
        raise ValueError(f"references must have {len(found)} lines, got {len(references)}")
    both = zip(("export", "SavedModel"), zip(*found, strict=True), strict=True)
    return {
        f"BLEU, {name}": sacrebleu.corpus_bleu(list(texts), [references]).score
        for name, texts in both
    }


def inputs_of(signature: Any) -> list[str]:
    """Names of the inputs of a signature."""
    return list(signature.structured_input_signature[1])


def read_examples(path: Path, names: list[str] | None, count: int) -> list[Any]:
    """Reads the first lines of a file as inputs.

    Args:
        path: the file.
        names: of the inputs that each line has as an object; None: a line is an input.
        count: lines at most.

    Raises:
        ValueError: there is none, or one lacks an input.
    """
    import json

    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line][:count]
    if not lines:
        raise ValueError(f"texts must have a line, got {path}")
    if names is None:
        return lines
    found = [json.loads(line) for line in lines]
    if wrong := [one for one in found if set(one) != set(names)]:
        raise ValueError(f"lines of texts must be objects of {', '.join(names)}, got {wrong[0]}")
    return found


def _pairs(
    runner: "Model", model: str, task: str, examples: list[Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields each example as the export takes it, and as the SavedModel does."""
    import tensorflow as tf

    from zoo.serving.codecs import load_codecs
    from zoo.serving.load import load_servable

    specs = load_servable(model).signatures["serving_default"].structured_input_signature[1]
    # Ids where the export has no tokenizer.
    codec = (
        load_codecs(model)[0] if task in _OF_TEXTS and not runner.manifest["tokenizers"] else None
    )
    for example in examples:
        given = example if isinstance(example, dict) else {runner.inputs[0]: example}
        values = list(given.values())
        if task == "captioning":
            values = [Path(example).read_bytes()]
            given = {"image": _picture(values[0], runner.manifest["image"])}
        elif task == "tabular":
            given = {"row": given}
        elif task == "algorithms":
            given = {"vectors": given["vectors"]}
        elif codec is not None:
            given = {name: codec.encode([text]).to_list()[0] for name, text in given.items()}
        names = specs if len(specs) == 1 else example
        served = {k: tf.constant([v], specs[k].dtype) for k, v in zip(names, values, strict=True)}
        yield dict(given), served


def _picture(file: bytes, shape: list[int]) -> Any:
    """Pixels of a picture in the size that the model reads."""
    import tensorflow as tf

    from zoo.images.decoding import decode_images

    return decode_images(tf.constant([file]), shape[2], (shape[0], shape[1]))[0].numpy()
