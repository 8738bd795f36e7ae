"""The picture of the LSTMN's paper: which words before it each word was read beside."""

from pathlib import Path

from zoo.plots import inter_attention, intra_attention, save_figure
from zoo.serving.servable import Servable


def draw_intra_attention(folder: Path, text: str, picture: Path) -> bool:
    """Asks a SavedModel about a text and draws the map of its top layer.

    Args:
        folder: of the SavedModel, which takes ``text`` and gives ``attention_intra``.
        text: what is read.
        picture: PNG file to write.

    Returns:
        Whether the text has a word, and so there was anything to draw.
    """
    result = Servable(folder).ask({"text": [text]})
    if not result["text_length"][0]:
        return False
    save_figure(intra_attention(result), picture)
    return True


def draw_inter_attention(folder: Path, premise: str, hypothesis: str, picture: Path) -> bool:
    """Asks a SavedModel about a pair and draws which words of the premise the hypothesis read.

    Args:
        folder: of the SavedModel, which gives ``attention_inter``.
        premise: the first text.
        hypothesis: the second one.
        picture: PNG file to write.

    Returns:
        Whether both texts have a word, and so there was anything to draw.
    """
    result = Servable(folder).ask({"premise": [premise], "hypothesis": [hypothesis]})
    if not (result["premise_length"][0] and result["hypothesis_length"][0]):
        return False
    save_figure(inter_attention(result), picture)
    return True
