"""Shipped models as functions: strings in, plain Python values out, and trained on strings.

`zoo.pipeline(name)` loads a model of any task. `calling.py` asks it, `results.py` holds the
answers.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoo.pipelines.calling import Pipeline


def pipeline(name_or_path: str | Path) -> "Pipeline":
    """Loads a shipped model as a function of strings.

    Args:
        name_or_path: A name out of `zoo.list_models()`, the folder of a SavedModel, or an address
            (`docs/models.md`). A str is looked up as a name first, a `pathlib.Path` is a folder.

    Returns:
        Call it with a string or a list of strings per input; it can also be trained on strings
        (`fit`), scored (`evaluate`) and shipped again (`save`).

    Raises:
        ValueError: No such model, one without a card, or one of another task.
    """
    from zoo.pipelines.calling import Pipeline

    return Pipeline(name_or_path)
