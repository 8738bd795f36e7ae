"""Short ways to read a page."""


def texts(page, selector):
    return page.locator(selector).all_text_contents()


def color(page, selector, name="background-color"):
    return page.locator(selector).first.evaluate(f"e => getComputedStyle(e)['{name}']")


def saved(page, ending, folder):
    """The path of a picture that was saved by the button of the page."""
    with page.expect_download() as waited:
        page.click(f"[aria-label='Save as {ending.upper()}']")
    path = folder / waited.value.suggested_filename
    waited.value.save_as(path)
    return path
