"""Rows of a table, for the contracts: numbers, categories and gaps."""

from pathlib import Path

import numpy as np

from tests.contracts.batches import Example, Servable
from tests.contracts.text_tasks import Classification
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import Features
from zoo.tasks.tabular.columns import CategoricalColumn, NumericColumn, RowCodec
from zoo.tasks.tabular.endpoint import TabularEndpoint, Target

LABELS = ("low", "middle", "high")
CODEC = RowCodec(
    (NumericColumn("Age", "age", 40.0, 10.0), NumericColumn("Gain", "gain", 1.0, 2.0)),
    (
        CategoricalColumn("Work", "work", ("none", "private", "public")),
        CategoricalColumn("Sex", "sex", ("female", "male")),
    ),
)


class Tabular:
    """Rows of two numbers and two categories, which lie the higher the higher the class."""

    sizes = {"classes": len(LABELS), **CODEC.sizes}  # noqa: RUF012
    sides: dict[str, int] = {}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012
    strings = {  # noqa: RUF012
        "age": np.array([25.0, 61.5, np.nan], "float32"),
        "gain": np.array([0.0, 1e6, -3.0], "float32"),
        "work": np.array(["private", "?", "Łódź \U0001f415"], object),
        "sex": np.array(["male", "female", ""], object),
    }
    """Columns for the exported model."""
    signatures = {  # noqa: RUF012
        "serving_default": {},
        "strings": {
            "age": np.array(["25", " 61.5", ""], object),
            "gain": np.array(["0", "1e6", "-3"], object),
        },
    }

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        endpoint = TabularEndpoint(model, CODEC, Target("Height", LABELS))
        return Servable(endpoint.endpoints(), endpoint.assets)

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random rows; every third has a gap, the second among the numbers."""
        rows = [self.example(seed + number) for number in range(count)]
        for number in range(1, count, 3):
            rows[number].inputs["row"][(number // 3) % 4] = np.nan
        return rows

    def example(self, seed: int) -> Example:
        """A random row of a random class."""
        generator = np.random.default_rng(seed)
        target = generator.choice(len(LABELS), p=(0.55, 0.3, 0.15))
        numbers = generator.normal(target - 1.0, 0.5, 2)
        ids = [generator.integers(0, 3), generator.integers(0, 2)]
        row = np.array([*numbers, *ids], "float32")
        return Example({"row": row}, np.asarray(target), {"row": Features(2, (3, 2))})

    output_axes = Classification.output_axes
    metrics = Classification.metrics
    metric_value = Classification.metric_value

    def padding_value(self, output: str) -> None:
        """Nothing is padded."""
