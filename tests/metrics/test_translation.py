"""BLEU, exact match and perplexity, against values worked out by hand from the definitions."""

import math

import pandas as pd
import pytest
import sacrebleu
from sacrebleu.tokenizers import tokenizer_ja_mecab

from zoo.metrics.translation import (
    bleu,
    choose_bleu_tokenizer,
    exact_match,
    perplexity,
    until_failure,
)

PREDICTIONS = ["A dog runs over the green grass.", "Zwei Männer stehen am Herd, oder?"]
REFERENCES = ["A dog is running over green grass.", "Zwei Männer stehen am Herd."]


def test_bleu_by_hand() -> None:
    """13a cuts off the punctuation marks: 8 + 8 tokens against 8 + 6."""
    result = bleu(PREDICTIONS, REFERENCES)
    precisions = (11 / 16, 7 / 14, 4 / 12, 2 / 10)
    assert result.precisions == pytest.approx([100 * value for value in precisions])
    assert result.score == pytest.approx(100 * math.prod(precisions) ** 0.25)
    assert result.brevity_penalty == 1.0
    assert result.length_ratio == pytest.approx(16 / 14)


def test_short_translations_are_penalised() -> None:
    result = bleu(["a b c d e"], ["a b c d e f g"])
    assert result.precisions == (100.0,) * 4
    assert result.brevity_penalty == pytest.approx(math.exp(1 - 7 / 5))
    assert result.score == pytest.approx(100 * math.exp(1 - 7 / 5))


def test_signature_says_how() -> None:
    version = sacrebleu.__version__
    rest = f"eff:no|tok:13a|smooth:exp|version:{version}"
    assert bleu(PREDICTIONS, REFERENCES).signature == f"nrefs:1|case:mixed|{rest}"
    lower = bleu(PREDICTIONS, REFERENCES, lowercase=True)
    assert lower.signature == f"nrefs:1|case:lc|{rest}"


SENTENCES = {
    "zh": ("两只狗在绿色的草地上奔跑。", "一只狗在绿色的草地上睡觉。", "zh"),
    "zh-Hant": ("兩隻狗在綠色的草地上奔跑。", "一隻狗在綠色的草地上睡覺。", "zh"),
    "ja": ("二匹の犬が緑の草の上を走っている。", "一匹の犬が緑の草の上で寝ている。", "char"),
    "ko": ("개 두 마리가 풀밭을 달린다.", "개 한 마리가 풀밭에서 잔다.", "char"),
    "th": ("สุนัขสองตัววิ่งบนหญ้า", "สุนัขตัวหนึ่งนอนบนหญ้า", "char"),
    "de": ("Zwei Hunde rennen über das Gras.", "Ein Hund schläft auf dem Gras.", "13a"),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_of_any_language_is_scored_by_degrees(language: str) -> None:
    right, similar, tokens = SENTENCES[language]
    tokenize = choose_bleu_tokenizer(language)
    result = bleu([right], [right], tokenize=tokenize)
    assert result.score == 100.0
    assert f"|eff:no|tok:{tokens}|" in result.signature
    assert "order" not in result.signature
    assert 5 < bleu([similar], [right], tokenize=tokenize).score < 95


@pytest.mark.parametrize(
    ("phrase", "order"), [("Hund", 1), ("Zwei Hunde", 2), ("Ein Hund rennt", 3)]
)
def test_phrases_without_four_tokens_are_scored_by_the_n_grams_they_hold(phrase, order) -> None:
    result = bleu([phrase], [phrase])
    assert result.score == 100.0
    assert result.precisions == (100.0,) * order
    assert result.signature.endswith(f"|order:{order}")
    assert "order" not in bleu([phrase], [f"{phrase} {'x ' * (4 - order)}"]).signature


def test_the_longest_n_grams_are_those_of_the_references() -> None:
    """With sacreBLEU's effective order one word is worth more than two words of three."""
    references = ["ein alter Hund", "eine junge Katze"]
    words = bleu(["ein", "eine"], references)
    phrases = bleu(["ein alter Esel", "eine junge Maus"], references)
    assert words.score == 0.0
    assert phrases.score == pytest.approx(100 * (4 / 6 * 2 / 4 * 1 / 4) ** (1 / 3))
    effective = sacrebleu.BLEU(effective_order=True)
    assert effective.corpus_score(["ein", "eine"], [references]).score > 13


def test_a_tokeniser_is_chosen_by_language_or_by_name() -> None:
    for language in ("zh_CN", "ZHO", "cmn-Hans", "yue"):
        assert choose_bleu_tokenizer(language) == "zh"
    assert choose_bleu_tokenizer("jpn") == "char"
    for language in ("fr", "cs", "zha", ""):
        assert choose_bleu_tokenizer(language) == "13a"
    assert choose_bleu_tokenizer("zh", "intl") == "intl"


def test_a_tokeniser_that_cannot_be_had_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"tokenize must be one of .*, got 'moses'"):
        choose_bleu_tokenizer("de", "moses")
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(ModuleNotFoundError, match=r"ja-mecab needs .*: pip install \.\[mecab\]$"):
        choose_bleu_tokenizer("ja", "ja-mecab")


def test_case_counts_unless_it_is_lowered() -> None:
    shouted = [text.upper() for text in REFERENCES]
    assert bleu(shouted, REFERENCES).score < 10
    assert bleu(shouted, REFERENCES, lowercase=True).score == 100.0
    assert bleu(REFERENCES, REFERENCES).score == 100.0


def test_a_corpus_is_not_the_mean_of_its_sentences() -> None:
    alone = [bleu([p], [r]).score for p, r in zip(PREDICTIONS, REFERENCES, strict=True)]
    assert bleu(PREDICTIONS, REFERENCES).score != pytest.approx(sum(alone) / 2, abs=0.1)
    backwards = bleu(PREDICTIONS[::-1], REFERENCES[::-1])
    assert backwards == bleu(PREDICTIONS, REFERENCES)


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", "a b"), ("a", ""), ("", ""), ("\0", "a"), (" ", "日本")]
)
def test_empty_and_strange_translations_score_nothing(prediction: str, reference: str) -> None:
    result = bleu([prediction], [reference])
    assert result.score == 0.0
    assert math.isfinite(result.length_ratio)


def test_columns_of_a_frame_are_taken() -> None:
    frame = pd.DataFrame({"prediction": PREDICTIONS, "target": REFERENCES}).iloc[::-1]
    assert bleu(frame["prediction"], frame["target"]) == bleu(PREDICTIONS, REFERENCES)
    assert exact_match(frame["target"], frame["target"]) == 100.0


def test_exact_match() -> None:
    assert exact_match(["a", "b", "c", ""], ["a", "B", "c ", ""]) == 50.0


def test_exact_match_is_of_the_text_that_a_model_can_write() -> None:
    """Tokenizers normalise: no model writes a no-break space, an ellipsis or a wide digit."""
    references = ["Qui\u202f?", "Attends\u2026", "\uff18\u6642", "cafe\u0301"]
    assert exact_match(["Qui ?", "Attends...", "8\u6642", "caf\u00e9"], references) == 100.0
    assert exact_match(references, references) == 100.0


@pytest.mark.parametrize("score", [bleu, exact_match])
def test_what_cannot_be_scored_is_named(score) -> None:
    with pytest.raises(ValueError, match="predictions must be at least one, got none"):
        score([], [])
    with pytest.raises(
        ValueError, match="predictions must be one for each of the 2 references, got 1"
    ):
        score(["a"], ["a", "b"])
    with pytest.raises(TypeError, match=r"predictions\[1\] must be a string, got b'b'"):
        score(["a", b"b"], ["a", "b"])
    with pytest.raises(TypeError, match=r"references\[0\] must be a string, got None"):
        score(["a"], [None])
    with pytest.raises(TypeError, match="references must be a sequence of strings, got 'ab'"):
        score(["a", "b"], "ab")


def test_perplexity() -> None:
    assert perplexity(0.0, 5) == 1.0
    assert perplexity(10 * math.log(7), 10) == pytest.approx(7)
    assert perplexity(1e6, 1) == math.inf
    assert perplexity(math.inf, 1) == math.inf


@pytest.mark.parametrize(
    ("total", "tokens", "message"),
    [
        (1.0, 0, "tokens must be at least 1, got 0"),
        (-1.0, 3, "total_nll must be at least 0, got -1.0"),
        (math.nan, 3, "total_nll must be at least 0, got nan"),
    ],
)
def test_perplexity_of_nothing(total: float, tokens: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        perplexity(total, tokens)


@pytest.mark.parametrize(
    ("prediction", "share"),
    [
        ([7, 8, 9, 3], 1.0),
        ([7, 8, 9, 3, 0, 0], 1.0),  # padding after the end
        ([7, 8, 9, 9], 0.75),  # it does not end
        ([7, 8, 3], 0.5),  # it ends too soon
        ([7, 6, 9, 3], 0.25),  # what follows a mistake does not count
        ([6, 8, 9, 3], 0.0),
        ([], 0.0),
    ],
)
def test_length_to_failure_is_what_is_right_before_the_first_mistake(prediction, share) -> None:
    assert until_failure(prediction, [7, 8, 9, 3]) == share


def test_length_to_failure_of_an_empty_target_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^target must have a token, got \[\]"):
        until_failure([1], [])
