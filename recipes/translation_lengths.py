"""BLEU by source length, with and without attention: the figure of Bahdanau et al. 2014.

    python -m recipes.translation_lengths runs/multi30k_rnnsearch_multi30k \
        runs/multi30k_rnnencdec_multi30k

It measures exported translators, all searched with the same beam. Each is given as a run folder,
the folder of a SavedModel or the name of a shipped model.

Captions are short, so consecutive sentences of the test part are joined, two, three and more at a
time. Each joined source is translated as one text, and its reference is the joined references. Such
a source is not a real long sentence: its parts are unrelated, and the training part has nothing
like it. But it is the same for all models. Two tables are printed: by words of the source, and by
the number of joined sentences, whose rows all hold the same sentences. The run folder gets both as
``result.json``, and ``lengths.png``.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from zoo.training.bounds import Count, NotNegative
from zoo.training.command import start

if TYPE_CHECKING:
    import pandas as pd

NOTE = (
    "Sources are 1 to {joined} neighbouring sentences of {data}, joined and translated as one text;"
    " in brackets, how many. Beam {beam_width}, length penalty {length_penalty:g}."
)


@dataclass(frozen=True)
class Settings:
    """Settings of the measurement."""

    models: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of SavedModels, or names of shipped models."""
    labels: tuple[str, ...] = ()
    """Names in the table; by default the folders' names."""
    data: Literal["auto", "sample", "multi30k"] = "auto"
    """auto: Multi30k if present, else the generated sample; multi30k downloads it."""
    source: str = "en"
    """Language to translate from."""
    target: str = "de"
    """Language to translate to."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    joined: Count = 5
    """Number of sentences joined in the longest sources."""
    bucket_words: Count = 10
    """Width of a length bucket, in words."""
    minimum_sources: Count = 50
    """Buckets with fewer sources are left out."""
    beam_width: Count = 5
    """Width of the beam search."""
    length_penalty: NotNegative = 1.0
    """Exponent of GNMT's length penalty."""
    bleu_tokenize: Literal["auto", "13a", "intl", "zh", "char", "ja-mecab", "ko-mecab", "none"] = (
        "auto"
    )
    """Tokeniser of sacreBLEU. auto: zh for Chinese, char for Japanese, Korean and languages without
    spaces, 13a for others. The two of MeCab need the extra: pip install .[mecab]"""
    batch_size: Count = 32
    """Sources translated at a time."""
    run_dir: Path = Path("runs/translation_lengths")
    """Folder to write to."""


def main(settings: Settings) -> dict[str, Any]:
    """Measures, prints and draws; returns the content of ``result.json``.

    Raises:
        ValueError: if there is no such model, or one of another task, labels do not fit, a number
            is too small, a source is longer than a model reads, no bucket has enough sources, or
            languages are named with the sample, which has its own.
        OSError: if data are missing.
    """
    from zoo.metrics.translation import bleu, choose_bleu_tokenizer
    from zoo.plots import save_figure, scores_by_length
    from zoo.tasks.shared.exported import find_translators
    from zoo.tasks.translation.lengths import buckets_of_words, join_sentences, score_buckets
    from zoo.training.json_files import write_json

    check(settings)
    tokenizer = choose_bleu_tokenizer(settings.target, settings.bleu_tokenize)
    folders = find_translators(settings.models, settings.labels)
    data, pairs = read_test_part(settings)
    frame = join_sentences(pairs, settings.joined)
    sources, references = [*frame["source"]], [*frame["target"]]
    translations, aligned = {}, {}
    for label, folder in folders.items():
        translations[label], aligned[label] = translate_all(folder, label, sources, settings)
    words = buckets_of_words(sources, settings.bucket_words)
    score = partial(score_buckets, bleu_tokenizer=tokenizer)
    by_words = score(words, references, translations, settings.minimum_sources)
    by_sentences = score([*frame["sentences"]], references, translations)
    for name, rows in (("words", by_words), ("sentences joined", by_sentences)):
        print(f"\n{table(name, rows)}")
    signature = bleu(references, references, tokenize=tokenizer).signature
    print(f"\nBLEU (tokens per token of the references), {signature}")

    settings.run_dir.mkdir(parents=True, exist_ok=True)
    result = {"settings": settings, "data": data, "signature": signature}
    result |= {"by_words": by_words, "by_sentences": by_sentences}
    write_json(settings.run_dir / "result.json", result)
    figure = scores_by_length(
        [row["bucket"] for row in by_words],
        {label: [row["bleu"][label] for row in by_words] for label in folders},
        counts=[row["sources"] for row in by_words],
        dashed=[label for label in folders if not aligned[label]],
        length_name="words of the source",
        note=NOTE.format(**vars(settings) | {"data": data}),
    )
    print(save_figure(figure, settings.run_dir / "lengths.png"))
    return result


def check(settings: Settings) -> None:
    """Refuses settings that cannot be measured.

    Raises:
        ValueError: names the setting.
    """
    for name in ("joined", "bucket_words", "minimum_sources", "beam_width", "batch_size"):
        if getattr(settings, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(settings, name)}")


def read_test_part(settings: Settings) -> tuple[str, "pd.DataFrame"]:
    """Returns the name of the data, and the pairs."""
    from zoo.data.multi30k import load_multi30k
    from zoo.data.translation_sample import translation_sample
    from zoo.tasks.translation.data import SPLITS, multi30k_record, resolve_data
    from zoo.training.unused import refuse_given

    languages = (settings.source, settings.target)
    if resolve_data(settings.data, *languages, settings.data_dir) == "sample":
        refuse_given(settings, ("source", "target"), "with the data sample")
        return "the generated sample", translation_sample("test")
    part = SPLITS[-1]
    frame = load_multi30k(part, *languages, settings.data_dir, download=True)
    logger = logging.getLogger(__name__)
    name = multi30k_record([frame], (part, part), *languages, logger).name
    return f"{name} {part} ({'-'.join(languages)})", frame


def translate_all(
    folder: Path, label: str, sources: Sequence[str], settings: Settings
) -> tuple[list[str], bool]:
    """Translates with an exported model; also returns whether it has an alignment.

    Raises:
        ValueError: if the model would not read a source to its end.
    """
    from tqdm import tqdm

    from zoo.serving.load import load_card, load_servable
    from zoo.tasks.translation.lengths import translate

    servable = load_servable(folder)  # keeps the variables of the signature alive
    search = servable.signatures["beam"]
    limit = load_card(folder).limits["maximum_source_tokens"]
    aligned = "attention_alignment" in search.structured_outputs
    with tqdm(total=len(sources), desc=label) as bar:
        translations = translate(
            search,
            sources,
            beam_width=settings.beam_width,
            length_penalty=settings.length_penalty,
            batch_size=settings.batch_size,
            maximum_tokens=limit,
            progress=bar.update,
        )
    return translations, aligned


def table(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the scores as a table in Markdown."""
    labels = list(rows[0]["bleu"])
    lines = [[name, "sources", *labels], ["---"] * (2 + len(labels))]
    for row in rows:
        cells = [f"{row['bleu'][one]:.2f} ({row['length_ratio'][one]:.2f})" for one in labels]
        lines.append([row["bucket"], f"{row['sources']:,}", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    start(main, Settings, __doc__)
