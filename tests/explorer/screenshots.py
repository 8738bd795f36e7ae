"""The pictures of docs/explorer.md, taken from the shipped models by a running explorer.

python -m zoo explore &
python -m tests.explorer.screenshots http://127.0.0.1:8600/ docs           # all
python -m tests.explorer.screenshots http://127.0.0.1:8600/ docs machine   # some
"""

import io
import shutil
import sys
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from tests.explorer.conftest import BROWSERS, TIMEOUT

WIDTH = 1120  # pixels
TEXT = {"in.text": "A girl in a yellow raincoat is jumping over a puddle in front of a bakery."}
LIBRARY = {
    "in.question": "Who painted the ceiling of the library?",
    "in.context": "The library was planned by Pieter Haas and paid for by the widow of a merchant."
    " Its ceiling was painted by two brothers, Jan and Willem Roos, after the first painter, Karel"
    " Blom, had fallen ill.",
}
LONG = (
    "A man in a red shirt plays the violin while two brown dogs run through tall green grass near"
    " the lake and several children watch from wooden benches . "
)
SEQUENCE = np.zeros((22, 10), int)
SEQUENCE[0, 8] = SEQUENCE[11, 9] = 1
SEQUENCE[1:11, :8] = np.random.default_rng(0).integers(0, 2, (10, 8))
COPY = {
    "in.vectors": "\n".join(" ".join(map(str, step)) for step in SEQUENCE),
    "in.length": "",
    "step": "14",
}
"""Ten vectors to be copied, and the marks around them."""
PICTURES = {
    "machine": ("light", {"model": "copy_ntm", **COPY}),
    "translation": (
        "light",
        {"model": "multi30k_rnnsearch_en_de", "beside": "multi30k_transformer_en_de"}
        | {"kept": "column.5", **TEXT},
    ),
    "heads": (
        "dark",
        {"model": "multi30k_transformer_en_de", "map": "cross.2.4", "kept": "row.9", **TEXT},
    ),
    "reading": ("light", {"model": "squad_dcn", "step": "1", **LIBRARY}),
    "long": ("light", {"model": "multi30k_luong_en_de", "in.text": LONG * 6}),
}
"""Name -> colour scheme, and what the address of the page holds."""


def take(page, address: str, state: dict[str, str]) -> bytes:
    """Takes a picture of the page down to its answer, without the lines below."""
    page.goto(f"{address}#{urlencode(state)}")
    page.reload()  # as only the part behind "#" may have changed
    page.wait_for_selector("#said.done")
    height = page.locator(".bottom").bounding_box()["y"]
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    return page.screenshot(full_page=True, clip=clip)


def main(address: str, folder: Path, *names: str) -> None:
    """Takes pictures, by default all, each of a model's second answer: the first takes longer."""
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in names or PICTURES:
            scheme, state = PICTURES[name]
            page = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme=scheme)
            page.set_default_timeout(TIMEOUT)
            take(page, address, state)
            taken = Image.open(io.BytesIO(take(page, address, state)))
            small = taken.convert("RGB").quantize(256, dither=Image.Dither.NONE)
            small.save(folder / f"explorer_{name}.png", optimize=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
