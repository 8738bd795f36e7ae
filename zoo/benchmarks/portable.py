"""Exported models against their SavedModels: equal answers, size, and time an example.

Each example goes to both in turn, one at a time, so that a machine that others use too slows both.
The time is what the processors worked, on one thread.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.portable.runner import Model

_ANSWERS = {
    "algorithms": "bits",
    "captioning": "caption",
    "classification": "label",
    "cloze": "answer",
    "images": "label",
    "inference": "label",
    "language_model": "next_tokens",
    "reading": "answer",
    "stories": "answer",
    "symbols": "answer",
    "tabular": "label",
    "translation": "translation",
}
_OF_TEXTS = ("classification", "inference", "language_model", "reading")
_OF_NUMBERS = ("algorithms", "images", "symbols", "tabular")
_WARM_UP = 3
_TOLERANCE = 1e-3  # of values, in deviations of the column: what an export may differ


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
    """Right answers, a line each: a translation, or a JSON list of the answers to a question. Both
    are scored too, by BLEU or by exact match and F1."""

    def measure(self) -> dict[str, float]:
        """Returns the figures by name.

        Raises:
            ValueError: the file has no line, or ``references`` too few or of a task without them.
        """
        import tensorflow as tf

        from zoo.portable.runner import load_model
        from zoo.serving.load import load_card, load_servable

        task = load_card(self.model).task
        if self.references is not None and task not in _SCORES:
            raise ValueError(f"references must be left out for {task}, got {self.references}")
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        runner = load_model(self.folder, threads=1)
        signature = load_servable(self.model).signatures["serving_default"]
        plain = task == "captioning" or (task not in _OF_NUMBERS and len(runner.inputs) == 1)
        examples = read_examples(self.texts, None if plain else inputs_of(signature), self.count)
        output = _output(task, runner.manifest)
        found: list[tuple[Any, Any]] = []
        seconds = {"export": 0.0, "SavedModel": 0.0}
        cases = list(_cases(runner, self.model, task, examples))
        first = cases[:_WARM_UP]
        for place, case in enumerate(first + cases):
            began = time.process_time()
            own = runner.answer(**case.given)[output]
            middle = time.process_time()
            outputs = signature(**case.served)
            answer = _served(outputs[output].numpy()[0])
            end = time.process_time()
            if place >= len(first):
                found.append((case.words.get(own, own) if case.words else own, answer))
                seconds["export"] += middle - began
                seconds["SavedModel"] += end - middle
        figures = {f"milliseconds, {k}": 1000 * v / len(examples) for k, v in seconds.items()}
        size = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        alike = sum(_alike(*pair, runner.manifest) for pair in found)
        figures |= {} if self.references is None else _SCORES[task](found, self.references)
        return {"texts": len(examples), "equal answers": alike, "megabytes": size / 1e6} | figures


def _output(task: str, manifest: dict[str, Any]) -> str:
    """The output that is the answer; of a table of values, which has no labels, the value."""
    is_value = task == "tabular" and not manifest["labels"]
    return "value" if is_value else _ANSWERS[task]


def _served(answer: Any) -> Any:
    """The answer of a SavedModel for one row: a text, a list of texts or a number."""
    if isinstance(answer, bytes):
        return answer.decode()
    return [text.decode() for text in answer] if answer.ndim else float(answer)


def _alike(own: Any, served: Any, manifest: dict[str, Any]) -> bool:
    """Tells whether both answer the same; values as nearly as exports do at all."""
    if not isinstance(served, float):
        return bool(own == served)
    deviation = manifest["columns"]["target"]["deviation"]
    return math.isclose(own, served, rel_tol=1e-6, abs_tol=_TOLERANCE * deviation)


def bleu(found: list[tuple[str, str]], path: Path) -> dict[str, float]:
    """Scores the translations of an export and of its SavedModel.

    Raises:
        ValueError: there are fewer references than translations.
    """
    return {f"BLEU, {name}": bleu_of(texts, path) for name, texts in _by_side(found)}


def bleu_of(translations: Sequence[str], path: Path) -> float:
    """Scores translations by the first lines of a file.

    Raises:
        ValueError: there are fewer references than translations.
    """
    import sacrebleu

    references = _references(path, len(translations))
    return float(sacrebleu.corpus_bleu(list(translations), [references]).score)


def reading_scores(found: list[tuple[str, str]], path: Path) -> dict[str, float]:
    """Scores the spans of an export and of its SavedModel: percent of exact matches, and F1.

    Raises:
        ValueError: there are fewer references than answers.
    """
    from zoo.metrics.squad import exact_match, f1

    lines = enumerate(_references(path, len(found)), 1)
    golds = [_parsed("references", path, number, line) for number, line in lines]
    return {
        f"{measure}, {name}": 100 * sum(map(score, texts, golds)) / len(golds)
        for name, texts in _by_side(found)
        for measure, score in (("exact match", exact_match), ("F1", f1))
    }


_SCORES = {"reading": reading_scores, "translation": bleu}


def _references(path: Path, count: int) -> list[str]:
    """The first lines of a file."""
    lines = path.read_text(encoding="utf-8").split("\n")[:count]
    if len(lines) < count:
        raise ValueError(f"references must have {count} lines, got {len(lines)}")
    return lines


def _by_side(found: list[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """All answers of the export, and all of the SavedModel."""
    return zip(("export", "SavedModel"), zip(*found, strict=True), strict=True)


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
        ValueError: there is none, one is empty, as no reference is, or one lacks an input.
    """
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")[:count]
    if "" in lines:  # it would pair the texts with the wrong references
        place = 1 + lines.index("")
        raise ValueError(f"texts must have no empty line, got one in line {place} of {path}")
    if names is None:
        return lines
    found = [_parsed("texts", path, number, line) for number, line in enumerate(lines, 1)]
    if wrong := [one for one in found if not isinstance(one, dict) or set(one) != set(names)]:
        raise ValueError(f"lines of texts must be objects of {', '.join(names)}, got {wrong[0]}")
    return found


def _parsed(argument: str, path: Path, number: int, line: str) -> Any:
    """A line of a file as JSON."""
    import json

    try:
        return json.loads(line)
    except ValueError:
        raise ValueError(
            f"{argument} must be JSON in line {number} of {path}, got {line}"
        ) from None


class Case(NamedTuple):
    """An example as both take it."""

    given: dict[str, Any]
    """Inputs of the export."""
    served: dict[str, Any]
    """Inputs of the SavedModel."""
    words: dict[int, str] | None = None
    """Words of the ids that the export answers with; None: it answers as the SavedModel does."""


def cloze_cases(model: str, signature: Any) -> Callable[[dict[str, Any]], Case]:
    """Makes a function that gives the export ids of the tokens that the SavedModel cuts."""
    import tensorflow as tf

    from zoo.serving.load import load_card, load_vocabulary
    from zoo.text.slots import ids_with_slots

    vocabulary = load_vocabulary(model)
    slots = int(load_card(model).tokenizer["unknown_slots"])

    def case(served: dict[str, Any]) -> Case:
        outputs = signature(**served)
        texts = [
            tf.RaggedTensor.from_tensor(outputs[f"{name}_tokens"], outputs[f"{name}_length"])
            for name in ("document", "query")
        ]
        document, query = (one.to_list()[0] for one in ids_with_slots(vocabulary, slots, *texts))
        words = [token.decode() for token in texts[0].to_list()[0]]
        names = dict(zip(document, words, strict=True))
        return Case({"document": document, "query": query}, served, names)

    return case


def _cases(runner: "Model", model: str, task: str, examples: list[Any]) -> Iterator[Case]:
    """Yields each example as the export takes it, and as the SavedModel does."""
    import tensorflow as tf

    from zoo.serving.codecs import load_codecs
    from zoo.serving.load import load_servable

    signature = load_servable(model).signatures["serving_default"]
    specs = signature.structured_input_signature[1]
    # Ids where the export has no tokenizer.
    by_ids = task in _OF_TEXTS and not runner.manifest["tokenizers"]
    codec = load_codecs(model)[0] if by_ids else None
    cloze = cloze_cases(model, signature) if task == "cloze" else None
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
        yield Case(dict(given), served) if cloze is None else cloze(served)


def _picture(file: bytes, shape: list[int]) -> Any:
    """Pixels of a picture in the size that the model reads."""
    import tensorflow as tf

    from zoo.images.decoding import decode_images

    return decode_images(tf.constant([file]), shape[2], (shape[0], shape[1]))[0].numpy()
