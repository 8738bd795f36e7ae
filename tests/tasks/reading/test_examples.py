import numpy as np
import pandas as pd
import pytest

from zoo.tasks.reading.examples import ReadingExamples, encode_examples
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary, choose_words, count_words, write_vocabulary

CONTEXT = "Ada’s café, opened in 1905, is 😀 in Łódź. Café Ada sold 1,200 cakes."


def row(answer: str, start: int | None = None, context: str = CONTEXT, question: str = "Ada ?"):
    """Returns a row of a frame; the answer starts where it first occurs, if not said."""
    start = context.find(answer) if start is None else start
    return {
        "question": question,
        "context": context,
        "answers": [answer, "another"],
        "answer_starts": [start, 0],
    }


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory) -> Vocabulary:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    counts = count_words(WordTokenizer()([CONTEXT]).folded)
    write_vocabulary(path, choose_words(counts))
    return Vocabulary(path)


@pytest.fixture
def encode(vocabulary):
    def call(rows, training=True, maximum_context_tokens=None) -> ReadingExamples:
        return encode_examples(
            pd.DataFrame(rows),
            WordTokenizer(),
            vocabulary,
            training=training,
            maximum_context_tokens=maximum_context_tokens,
        )

    return call


def recovered(examples: ReadingExamples, contexts: list[str]) -> list[str]:
    """Returns the strings between the start of the first and the end of the last token."""
    starts, ends = examples.context_starts.to_list(), examples.context_ends.to_list()
    return [
        contexts[position].encode()[starts[i][first] : ends[i][last]].decode()
        for i, (position, first, last) in enumerate(
            zip(examples.rows, examples.start, examples.end, strict=True)
        )
    ]


def test_answers_become_tokens_and_back(encode):
    """Characters before the answers have one to four bytes."""
    answers = ["Ada", "Ada’s café", "1905", "😀", "Łódź", "in Łódź.", "1,200", "cakes.", CONTEXT]
    examples = encode([row(answer) for answer in answers])
    assert recovered(examples, [CONTEXT] * len(answers)) == answers
    assert examples.start.dtype == examples.end.dtype == np.int32
    assert examples.start.tolist() == [0, 0, 6, 9, 11, 10, 16, 17, 0]
    assert examples.end.tolist() == [0, 2, 6, 9, 11, 12, 16, 18, 18]
    assert examples.counts.mapped == examples.counts.rows == len(answers)


def test_the_occurrence_that_the_row_names_is_taken(encode):
    second = CONTEXT.rindex("Ada")
    examples = encode([row("Ada"), row("Ada", second)])
    assert examples.start.tolist() == [0, 14]


def test_ids_and_offsets(encode, vocabulary):
    examples = encode([row("Ada", question="Ada zebra"), row("x y", context="x y")])
    ada = vocabulary.words.index("ada")
    assert examples.question.to_list() == [[ada, 1], [ada, vocabulary.ids(["?"]).numpy()[0]]]
    assert examples.context.to_list()[1] == [1, 1]
    assert examples.context_starts.to_list()[1] == [0, 2]
    assert examples.context_ends.to_list()[1] == [1, 3]


BROKEN = [
    row("cake"),  # inside a token
    row("afé"),
    row("Ada "),  # ends with a space
    row("zebra", 0),  # wrong
    row("Ada", 1),
    row("Ada", -1),
    row("Ada", 10**6),
    row("", 0),  # no answer
    row("Ada", context=""),
    row("1905"),  # good
]


def test_training_drops_and_counts_what_cannot_be_mapped(encode):
    examples = encode(BROKEN)
    assert examples.rows.tolist() == [9]
    assert examples.counts.rows == 10
    assert examples.counts.wrong == 5
    assert examples.counts.unmappable == 4
    assert examples.counts.mapped == 1
    assert examples.question.shape[0] == examples.context.shape[0] == 1


def test_evaluation_keeps_all_rows(encode):
    examples = encode(BROKEN, training=False)
    assert examples.rows.tolist() == list(range(10))
    assert examples.start.tolist() == examples.end.tolist() == [-1] * 9 + [6]
    assert examples.counts == encode(BROKEN).counts
    assert examples.context.row_lengths().numpy().tolist() == [19] * 8 + [0, 19]


def test_rows_without_answers(encode):
    rows = [{"question": "q", "context": "c", "answers": [], "answer_starts": []}]
    assert encode(rows, training=False).start.tolist() == [-1]
    assert encode(rows).counts.unmappable == 1


def test_contexts_are_cut(encode):
    rows = [row("1905"), row("Ada’s café, opened in 1905"), row("Łódź"), row("c", context="a b c")]
    examples = encode(rows, maximum_context_tokens=7)
    assert examples.rows.tolist() == [0, 1, 3]
    assert examples.end.tolist() == [6, 6, 2]
    assert examples.context.row_lengths().numpy().tolist() == [7, 7, 3]
    assert examples.context_ends.row_lengths().numpy().tolist() == [7, 7, 3]
    assert (examples.counts.truncated, examples.counts.truncated_contexts) == (1, 3)
    kept = encode(rows, training=False, maximum_context_tokens=7)
    assert kept.start.tolist() == [6, 0, -1, 2]


def test_each_distinct_context_is_tokenised_once(vocabulary):
    class Counting(WordTokenizer):
        strings = 0

        def __call__(self, strings):
            self.strings += int(strings.shape[0])
            return super().__call__(strings)

    tokenizer = Counting()
    rows = [row("Ada"), row("x", context="x"), row("1905"), row("Łódź")]
    examples = encode_examples(pd.DataFrame(rows), tokenizer, vocabulary, training=True)
    assert tokenizer.strings == 2 + 4  # contexts, questions
    assert examples.context.row_lengths().numpy().tolist() == [19, 1, 19, 19]


def test_more_strings_than_a_chunk(encode):
    contexts = [f"{'pad ' * (i % 3)}word{i} end" for i in range(2500)]
    examples = encode([row(f"word{i}", context=context) for i, context in enumerate(contexts)])
    assert recovered(examples, contexts) == [f"word{i}" for i in range(2500)]
    assert examples.start.tolist() == [i % 3 for i in range(2500)]


def test_empty_frame(encode):
    examples = encode(pd.DataFrame([row("Ada")])[:0])
    assert examples.counts.rows == examples.context.shape[0] == examples.question.shape[0] == 0
    assert list(examples.batches(4).training(0)) == []


def test_batches(encode):
    examples = encode([row("Ada", question="Ada"), row("x", context="x", question="")])
    inputs, rows = next(iter(examples.batches(8).evaluation()))
    assert rows.numpy().tolist() == [1, 0]
    assert inputs["context"].shape == (2, 19)
    assert inputs["question"].shape == (2, 1)
    _, targets = next(iter(examples.batches(8).training(0)))
    assert sorted(targets) == ["end", "start"]


def test_bad_arguments(encode):
    with pytest.raises(ValueError, match="maximum_context_tokens must be positive, got 0"):
        encode([row("Ada")], maximum_context_tokens=0)
    with pytest.raises(ValueError, match=r"frame must have the columns \['answer_starts'\], got"):
        encode(pd.DataFrame([row("Ada")]).drop(columns="answer_starts"))
