"""Questions about stories, for the contracts: sentences of words."""

from pathlib import Path

import numpy as np

from tests.contracts.batches import FIRST_WORD, Example, Servable
from tests.contracts.text_tasks import WORDS, Classification
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import Sentences, Tokens
from zoo.tasks.stories.endpoint import StoryEndpoint

LABELS = ("garden", "hall", "Łódź")
KINDS = {"story": Sentences(), "question": Tokens()}
_WIDEST = 4


class Stories(Classification):
    """Random stories, questions and answers."""

    sides = {"story": 6, "question": 5}  # noqa: RUF012
    may_be_empty = ("story", "question")
    sizes = {"vocabulary_size": FIRST_WORD + len(WORDS), "classes": len(LABELS)}  # noqa: RUF012
    strings = {  # noqa: RUF012
        "question": ["Sees the cat?", "good", ""],
        "story": [
            "The dog runs.\nA cat sees no dog!\n\n a film . ",
            "",
            "no\n.\n\U0001f415 of Łódź",
        ],
    }
    signatures = {  # noqa: RUF012
        "serving_default": {},
        "sentences": {
            "story": None,
            "story_sentences": np.array(
                [["The dog runs.", "", "A cat!"], ["", "", ""], ["no", "dog", "."]], object
            ),
        },
    }

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        endpoint = StoryEndpoint(model, self.codec(folder), LABELS)
        return Servable(endpoint.endpoints(), endpoint.assets)

    def example(self, seed: int, **lengths: int) -> Example:
        """A random example; sides that are not in `lengths` get a random length."""
        generator = np.random.default_rng(seed)
        drawn = {name: int(generator.integers(2, top + 1)) for name, top in self.sides.items()}
        drawn |= lengths
        size = self.sizes["vocabulary_size"]
        story = generator.integers(FIRST_WORD, size, (drawn["story"], _WIDEST))
        for sentence in story:
            sentence[generator.integers(1, _WIDEST + 1) :] = 0
        question = generator.integers(FIRST_WORD, size, drawn["question"])
        inputs = {"story": story, "question": question}
        return Example(inputs, self.target(inputs, generator), KINDS)
