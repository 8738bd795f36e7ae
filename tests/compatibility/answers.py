"""Answers of the shipped models to the texts of this file, as earlier versions gave them.

`python -m tests.compatibility.answers` writes the answers of models that have none kept yet. Kept
answers stay as they are until a model's weights are replaced on purpose.
"""

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from zoo.data.algorithms import Copy
from zoo.data.digit_sample import digit_sample
from zoo.data.painting import dog_on_grass
from zoo.serving.cards import read_card
from zoo.serving.load import list_models, load_servable, resolve

FOLDER = Path(__file__).parent / "answers"

SENTENCES = (
    "A man in a red shirt is sleeping.",
    "Two dogs run through the snow.",
    "A little girl in a pink dress climbs up a set of stairs.",
    "Three people are sitting on a bench and eating ice cream.",
    "A woman with a guitar sings in front of a microphone.",
    "The children play football on the beach.",
    "An old man reads a newspaper in a café.",
    "A cyclist rides down a steep hill, wearing a yellow helmet!",
    "People wait for the train at the station",
    "a black cat",
    "He throws the ball; she catches it.",
    "Nobody expected the quartet of xylophones in Łódź.",
    "A boy jumps into a swimming pool while his friends watch from the edge of the water.",
    "Workers in orange vests repair the road at night.",
    "What a lovely day it is ...",
    "A dull and lifeless story, told without any hope.",
    "An absolute joy from the first minute to the last!",
    "The captain went down to the harbour and asked for the letters.",
    "\U0001f415 \U0001f415 run",
    "",
)
CONTEXT = (
    "The lighthouse of Port Ellery was built in 1874 by the engineer Tom Garrick . Its lamp was "
    "repaired by a clockmaker, Ida Moreau, who lived in the village for eleven years. In "
    "the winter of 1902 a storm broke the great window, and the keeper moved his family to the "
    "mainland."
)
QUESTIONS = (
    "Who repaired the lamp?",
    "Who built the lighthouse?",
    "When was the lighthouse built?",
    "What broke the great window?",
    "How long did Ida Moreau live in the village?",
    "Where did the keeper move his family?",
    "In which year did the storm come?",
    "What was Ida Moreau?",
    "Which lighthouse was built in 1874?",
    "",
)
STORY = (
    "The miller lived by the river with his old horse . Every morning the horse carried flour to "
    "the village . One day the miller fell ill , and his daughter Jenny led the horse . The baker "
    "gave Jenny a loaf of bread , and she shared the bread with the horse at the river ."
)
MOVES = tuple(
    sentence
    for person, other, thing, place, elsewhere in (
        ("Mary", "John", "milk", "kitchen", "garden"),
        ("Daniel", "Sandra", "football", "office", "bathroom"),
        ("Sandra", "Daniel", "apple", "hallway", "bedroom"),
        ("John", "Somebody", "xylophone", "garden", "zoo"),
    )
    for sentence in (
        f"{person} went to the {place}.",
        f"{person} grabbed the {thing}.",
        f"{other} journeyed to the {elsewhere}.",
        f"{person} moved to the {elsewhere}.",
        f"{person} left the {thing} there.",
    )
)
QUERIES = (
    "Jenny held the XXXXX by its bridle .",
    "`` Good morning , '' said XXXXX to the baker .",
    "The XXXXX could not get up from his bed .",
    "They drank from the XXXXX .",
    "XXXXX",
    "The loaf of XXXXX was still warm .",
    "She thanked the XXXXX and went home .",
    "Nobody in the XXXXX had seen a finer animal .",
    "His XXXXX was a brave girl .",
    "On the next XXXXX the sun was shining .",
)


def rows_of(columns: dict[str, Any]) -> dict[str, tf.Tensor]:
    """Twenty rows of the columns that a card lists, a tenth of their values missing."""
    generator = np.random.default_rng(0)
    inputs = {}
    for one in columns["numeric"]:
        values = one["mean"] + one["deviation"] * generator.normal(size=20)
        values[generator.random(20) < 0.1] = np.nan
        inputs[one["input"]] = tf.constant(values, tf.float32)
    for one in columns["categorical"]:
        known = generator.choice(one["categories"], 20)
        inputs[one["input"]] = tf.constant(np.where(generator.random(20) < 0.1, "?", known))
    return inputs


def files() -> tf.Tensor:
    """Twenty pictures: a painted one, moved, turned and made lighter or darker."""
    painting = dog_on_grass().astype("float64")
    moved = [np.roll(painting, 9 * step, axis=1) for step in range(20)]
    changed = [(0.6 + 0.04 * step) * picture for step, picture in enumerate(moved)]
    turned = [picture[:, :: -1 if step % 2 else 1] for step, picture in enumerate(changed)]
    pixels = [picture.clip(0, 255).astype("uint8") for picture in turned]
    return tf.stack([tf.io.encode_png(picture) for picture in pixels])


def digits() -> tf.Tensor:
    """Twenty drawn digits, from 0 to 1."""
    return tf.constant(digit_sample("test").images[:20, ..., None] / 255.0, tf.float32)


def inputs_of(name: str) -> dict[str, tf.Tensor]:
    """Twenty inputs for a shipped model."""
    card = read_card(resolve(name))
    task = card.task
    if task == "tabular":
        return rows_of(card.tokenizer)
    if task in ("captioning", "images"):
        return {"image_bytes": files()} if task == "captioning" else {"image": digits()}
    if task == "reading":
        contexts = [CONTEXT] * 10 + [*SENTENCES[:10]]
        return {"question": tf.constant(QUESTIONS * 2), "context": tf.constant(contexts)}
    if task == "algorithms":
        drawn = [
            Copy().draw(np.random.default_rng(row), 1, 1 + row).vectors[0] for row in range(20)
        ]
        lengths = np.array([len(one) for one in drawn], "int32")
        vectors = np.zeros((20, lengths.max(), 10), "float32")
        for row, one in enumerate(drawn):
            vectors[row, : len(one)] = one
        return {"vectors": tf.constant(vectors), "length": tf.constant(lengths)}
    if task == "symbols":
        generator = np.random.default_rng(0)
        texts = ["".join(generator.choice(["0", "1"], 2 * row)) for row in range(20)]
        return {"symbols": tf.constant(texts)}
    if task == "stories":
        stories = ["\n".join(MOVES[first : first + 9]) for first in range(20)]
        things = ["milk", "football", "apple", "xylophone"]
        questions = [f"Where is the {things[row % 4]}?" for row in range(19)]
        return {"question": tf.constant([*questions, ""]), "story": tf.constant(stories)}
    if task == "cloze":
        documents = [STORY] * 10 + [STORY.lower()[:150]] * 10
        return {"document": tf.constant(documents), "query": tf.constant(QUERIES * 2)}
    if task == "inference":
        others = [*SENTENCES[1:], SENTENCES[0]]
        return {"premise": tf.constant(SENTENCES), "hypothesis": tf.constant(others)}
    return {"text": tf.constant(SENTENCES)}


def answers_of(name: str) -> dict[str, np.ndarray]:
    """Asks the model's first signature; strings come as bytes of one length."""
    answers = load_servable(name).signatures["serving_default"](**inputs_of(name))
    arrays = {key: value.numpy() for key, value in answers.items()}
    return {
        key: value.astype("S") if value.dtype.kind == "O" else value
        for key, value in arrays.items()
    }


def write_missing() -> None:
    """Writes the answers of models that have none yet."""
    FOLDER.mkdir(exist_ok=True)
    for name in list_models():
        if not (FOLDER / f"{name}.npz").exists():
            np.savez_compressed(FOLDER / f"{name}.npz", **answers_of(name))


if __name__ == "__main__":
    write_missing()
