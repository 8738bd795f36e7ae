"""Training of word vectors with gensim, for models that start from pretrained ones.

    python -m recipes.word_vectors --output vectors-100.txt --data-dir DIR

Skip-gram with negative sampling (Mikolov et al., "Distributed Representations of Words and Phrases
and their Compositionality", NeurIPS 2013). The models' tokenizer splits the texts, so that a model
finds its words. It needs the extra: `pip install .[vectors]`.

    python -m recipes.word_vectors --texts cloze --split-at-spaces --output vectors-books.txt

trains those of cloze readers, whose texts are tokens between spaces.

The default texts hold 12.5 million tokens and give 65,000 words of 100 dimensions (65 MB) in nine
minutes on two CPU cores shared with other work. A run with more than one worker is not repeatable
bit for bit, since the workers race.
"""

import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.text_files import read_lines
from zoo.training.bounds import Count, NotNegative, Positive, Seed
from zoo.training.command import start

if TYPE_CHECKING:
    import pandas as pd

    from zoo.text.vectors import WordVectors

_CHUNK = 1024  # texts tokenised at a time
_LONGEST_SENTENCE = 1000  # gensim ignores words beyond the 10,000th of a sentence


@dataclass(frozen=True)
class Settings:
    """Settings of the training."""

    output: Path
    """File to write, in word2vec's text format."""
    texts: tuple[str, ...] = ("squad", "wikitext-2", "imdb")
    """Training texts: names of known data sets (squad, wikitext-2, imdb, cloze, multi30k, sick,
    cad-nli, flickr8k: their training parts) or paths of UTF-8 text files, a text a line, compressed
    if they end in .gz."""
    split_at_spaces: bool = False
    """Whether to split only at spaces and keep case, as in cloze questions."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    dimensions: Count = 100
    """Size of a vector."""
    window: Count = 5
    """Maximum number of words predicted on either side."""
    negative: Count = 5
    """Noise words per predicted word."""
    minimum_count: Count = 3
    """Rarer words get no vector."""
    subsample: NotNegative = 3e-5
    """Words more frequent than this are skipped at random (Mikolov et al., section 2.3)."""
    epochs: Count = 6
    """Passes over the texts."""
    learning_rate: Positive = 0.025
    """Initial learning rate; falls linearly to almost zero."""
    workers: Count = 2
    """Training threads. With one, the seed makes a run repeatable."""
    seed: Seed = 0
    """Seed of the initial vectors and of the noise."""


@dataclass(frozen=True)
class Result:
    """Trained vectors."""

    words: int
    tokens: int
    seconds: float


class Sentences:
    """Lists of words, with a progress bar at each pass."""

    def __init__(self, sentences: list[list[str]], passes: int) -> None:
        """Takes the sentences, and the number of passes for the progress bar."""
        self.sentences = sentences
        self._tokens = sum(map(len, sentences))
        self._labels = iter(["counting", *(f"epoch {i + 1}/{passes}" for i in range(passes))])

    def __iter__(self) -> Iterator[list[str]]:
        """Yields the sentences once."""
        from tqdm import tqdm

        with tqdm(
            total=self._tokens, desc=next(self._labels), unit=" tokens", unit_scale=True
        ) as bar:
            for sentence in self.sentences:
                yield sentence
                bar.update(len(sentence))


def main(settings: Settings) -> Result:
    """Trains and writes vectors.

    Raises:
        ValueError: If a text is neither a known name nor a file, the output is a folder, or no word
            is frequent enough.
        FileNotFoundError: If a known data set, or the folder to write to, is not there.
        ModuleNotFoundError: If gensim is not installed.
    """
    from zoo.text.vectors import write_vectors

    started = time.time()
    if not settings.output.absolute().parent.is_dir():
        raise FileNotFoundError(f"output must be in a folder that exists, got {settings.output}")
    if settings.output.is_dir():  # else the vectors would be lost at the end
        raise ValueError(f"output must be a file, got the folder {settings.output}")
    import_word2vec()  # tokenising takes minutes, and would be in vain without it
    sentences: list[list[str]] = []
    for name in settings.texts:
        before = len(sentences)
        texts = read_texts(name, settings.data_dir)
        sentences += split(texts) if settings.split_at_spaces else tokenise(texts, name)
        tokens = sum(map(len, sentences[before:]))
        print(f"{name}: {len(sentences) - before:,} texts, {tokens:,} tokens", flush=True)
    vectors = train(sentences, settings)
    write_vectors(settings.output, vectors)
    tokens = sum(map(len, sentences))
    result = Result(len(vectors.words), tokens, round(time.time() - started, 1))
    print(result)
    return result


def train(sentences: list[list[str]], settings: Settings) -> "WordVectors":
    """Trains skip-gram vectors, most frequent words first."""
    from zoo.text.vectors import WordVectors

    model = import_word2vec()(
        vector_size=settings.dimensions,
        window=settings.window,
        negative=settings.negative,
        min_count=settings.minimum_count,
        sample=settings.subsample,
        alpha=settings.learning_rate,
        workers=settings.workers,
        seed=settings.seed,
        sg=1,
    )
    corpus = Sentences(sentences, settings.epochs)
    model.build_vocab(corpus)
    if not model.wv.index_to_key:
        raise ValueError(
            f"texts must hold a word {settings.minimum_count} times, got none (minimum_count)"
        )
    model.train(corpus, total_examples=model.corpus_count, epochs=settings.epochs)
    return WordVectors(list(model.wv.index_to_key), model.wv.vectors)


def import_word2vec() -> Any:
    """Returns gensim's class.

    Raises:
        ModuleNotFoundError: If gensim is not installed.
    """
    try:
        from gensim.models import Word2Vec
    except ModuleNotFoundError:
        raise ModuleNotFoundError("gensim is missing: pip install .[vectors]") from None
    return Word2Vec


def tokenise(texts: list[str], name: str) -> list[list[str]]:
    """Cuts texts into folded words, sentences of at most 1,000 words."""
    import tensorflow as tf
    from tqdm import tqdm

    from zoo.text.tokenizer import WordTokenizer

    tokenizer = WordTokenizer()
    known: dict[bytes, str] = {}  # one string object per word, not per token
    sentences: list[list[str]] = []
    for chunk in tqdm(range(0, len(texts), _CHUNK), desc=f"tokenising {name}", mininterval=1.0):
        folded = tokenizer(tf.constant(texts[chunk : chunk + _CHUNK], tf.string)).folded
        flat = folded.flat_values.numpy().tolist()
        for token in set(flat):
            known.setdefault(token, token.decode("utf-8"))
        words = [known[token] for token in flat]
        splits = folded.row_splits.numpy().tolist()
        for first, last in itertools.pairwise(splits):
            sentences += _parts(words[first:last])
    return sentences


def split(texts: list[str]) -> list[list[str]]:
    """Cuts texts at spaces, into sentences of at most 1,000 words."""
    return [part for text in texts for part in _parts([sys.intern(w) for w in text.split()])]


def _parts(words: list[str]) -> list[list[str]]:
    starts = range(0, len(words), _LONGEST_SENTENCE)
    return [words[start : start + _LONGEST_SENTENCE] for start in starts]


def read_texts(name: str, data_dir: Path | None) -> list[str]:
    """Reads the texts of a known data set or of a text file.

    Raises:
        ValueError: If `name` is neither, or the file is not valid UTF-8.
        FileNotFoundError: If the data set is not there.
    """
    if name in KNOWN_TEXTS:
        return KNOWN_TEXTS[name](data_dir)
    if not Path(name).is_file():
        raise ValueError(f"texts must be {', '.join(KNOWN_TEXTS)} or a file, got {name!r}")
    return [line for line in read_lines(name) if line and not line.isspace()]


def _squad(data_dir: Path | None) -> list[str]:
    """Returns the distinct contexts and the questions of SQuAD's training part."""
    from zoo.data.squad import find_squad, read_squad

    frame = read_squad(find_squad("train", data_dir))
    return [*frame["context"].unique(), *frame["question"]]


def _wikitext(data_dir: Path | None) -> list[str]:
    """Returns the paragraphs of WikiText-2's training part, its tokenisation marks undone."""
    paragraphs = []
    for line in read_lines(_find("wikitext-2", "wiki.train.tokens", data_dir)):
        if line.strip() and not line.startswith(" ="):
            for mark in "-,.":
                line = line.replace(f" @{mark}@ ", mark)
            paragraphs.append(line.replace("<unk>", " "))
    return paragraphs


def _imdb(data_dir: Path | None) -> list[str]:
    """Returns the reviews of IMDb's training part."""
    from zoo.data.imdb import find_imdb, read_imdb

    return read_imdb(find_imdb("train", data_dir))["text"].tolist()


def _cloze(data_dir: Path | None) -> list[str]:
    """Returns the distinct sentences of the training documents of both kinds of questions."""
    from zoo.data.cloze import find_cloze
    from zoo.data.cloze_format import read_cbt

    frames = [read_cbt(find_cloze("cloze", kind, "train", data_dir)) for kind in ("ne", "cn")]
    documents = itertools.chain(*(frame["document"] for frame in frames))
    return [*dict.fromkeys(line for document in documents for line in document.split("\n"))]


def _multi30k(data_dir: Path | None) -> list[str]:
    """Returns the English captions of Multi30k's training part."""
    return read_lines(_find("multi30k", "train.en", data_dir))


def _sick(data_dir: Path | None) -> list[str]:
    """Returns the distinct sentences of SICK's training part."""
    from zoo.data.sick import find_sick, read_sick

    return _sentences(read_sick(find_sick("train", data_dir)))


def _cad(data_dir: Path | None) -> list[str]:
    """Returns the distinct sentences of the counterfactual pairs."""
    from zoo.data.cad import find_cad, read_cad

    return _sentences(read_cad(find_cad(data_dir)))


def _flickr8k(data_dir: Path | None) -> list[str]:
    """Returns the captions of Flickr8k's training part."""
    from zoo.data.flickr8k import find_captions, read_captions

    return read_captions(find_captions(data_dir), "train")["caption"].tolist()


def _sentences(pairs: "pd.DataFrame") -> list[str]:
    return [*dict.fromkeys([*pairs["premise"], *pairs["hypothesis"]])]


KNOWN_TEXTS = {
    "squad": _squad,
    "wikitext-2": _wikitext,
    "imdb": _imdb,
    "cloze": _cloze,
    "multi30k": _multi30k,
    "sick": _sick,
    "cad-nli": _cad,
    "flickr8k": _flickr8k,
}


def _find(dataset: str, name: str, data_dir: Path | None) -> Path:
    """Finds a file of a data set, plain or compressed."""
    from zoo.data.download import locate_name, not_found

    path = locate_name(dataset, name, data_dir)
    if path is None:
        raise not_found(f"{name}[.gz]", (dataset,), data_dir, "--texts also takes files")
    return path


if __name__ == "__main__":
    start(main, Settings, __doc__)
