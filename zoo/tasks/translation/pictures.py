"""The picture of all layers and heads of a translator."""

from pathlib import Path

from zoo.plots import save_figure, translation_heads
from zoo.serving.servable import Servable


def draw_heads(folder: Path, text: str, picture: Path) -> bool:
    """Draws the attention of all layers and heads, where an exported translator gives it.

    Args:
        folder: of the SavedModel.
        text: to translate.
        picture: PNG file to write.

    Returns:
        Whether there was anything to draw.
    """
    servable = Servable(folder)
    if "heads" not in servable.signatures:
        return False
    result = servable.ask({"text": [text]}, "heads")
    if not (result["source_length"][0] and result["target_length"][0]):
        return False
    save_figure(translation_heads(result), picture)
    return True
