"""The one metric that a model is known by."""

from zoo.serving.cards import ModelCard

_HEADLINES = {
    "classification": "accuracy",
    "cloze": "accuracy",
    "inference": "accuracy",
    "language_model": "perplexity",
    "reading": "f1",
    "stories": "accuracy",
    "tabular": "accuracy",
    "translation": "bleu",
}


def headline(card: ModelCard) -> str:
    """Name of the metric that a model's task is known by; of other tasks, the card's first one.

    Args:
        card: The model's card.

    Returns:
        A key of `card.metrics`; "" if the card has no metric.
    """
    wanted = _HEADLINES.get(card.task, "")
    return wanted if wanted in card.metrics else next(iter(card.metrics), "")
