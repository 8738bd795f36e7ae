"""Settings that the chosen variant has no use for are refused, not ignored in silence."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

import recipes.copy_ntm as copying
import recipes.flickr8k_caption as captions
import recipes.multi30k_transformer as transformer
from zoo.tasks.translation.recipe import TranslationTask
from zoo.training import help as help_of_recipes
from zoo.training.command import start
from zoo.training.settings import TrainingSettings
from zoo.training.unused import refuse_given


@pytest.mark.parametrize("flags", [("--beta-2", "0.98"), ("--warmup-steps", "9")])
@pytest.mark.parametrize(
    ("recipe", "optimizer"),
    [
        ("wikitext_lstmn", "sgd"),
        ("mnist_glimpse", "sgd"),
        ("formulas_structured", "sgd"),
        ("sick_decomposable", "adagrad"),
        ("copy_ntm", "rmsprop"),
    ],
)
def test_adam_s_settings_are_refused_with_another_optimizer(
    recipe, optimizer, flags, tmp_path: Path, monkeypatch
) -> None:
    chosen = ("--data", "sample", "--optimizer", optimizer)
    name = flags[0].removeprefix("--").replace("-", "_")
    told = f"{name} must be left out with the optimizer {optimizer}, got {flags[1]}"
    assert refusal(recipe, (*chosen, *flags), tmp_path / "run", monkeypatch) == f"error: {told}"


MEMORY = ["--slots=9", "--slot-dim=9", "--heads=2", "--head-limit=9.0", "--first-memory=random"]
SUTSKEVERS = ["--depth=2", "--no-reverse-source", "--initial-range=0.5"]
OF_FILES = ["--encoder=VGG16", "--encoder-size=9", "--encoder-layer=a", "--encoder-weights=b"]
UNUSED = [
    ("squad_dcn", "model dcn_plus", ["--attention=question", "--scorer=perceptron"]),
    ("squad_dcn", "scorer perceptron", ["--pool-size=9"]),
    ("multi30k_seq2seq", "model sutskever", ["--maxout-dim=9"]),
    ("multi30k_seq2seq", "model cho", SUTSKEVERS),
    ("multi30k_seq2seq", "model rnnencdec", SUTSKEVERS),
    ("multi30k_luong", "mechanism global", ["--half-width=2", "--window=real", "--renormalise"]),
    ("multi30k_luong", "mechanism local_m", ["--window=real", "--renormalise"]),
    ("tatoeba_biased", "readout tanh", ["--maxout-dim=9"]),
    ("copy_ntm", "model lstm", [*MEMORY, "--controller=lstm", "--controller-dim=9"]),
    ("copy_ntm", "model ntm", ["--hidden-dim=9"]),
    ("babi_structured", "attention memn2n", ["--queries=memory", "--counting=pairs"]),
    ("babi_structured", "attention memn2n", ["--no-shared-keys", "--normalisation=transitions"]),
    ("babi_structured", "attention unary", ["--normalisation=transitions"]),
    ("babi_structured", "normalisation transitions", ["--counting=edges", "--counting=pairs"]),
    ("babi_structured", "data sample", ["--task=14", "--held-out=0.2"]),
    ("flickr8k_caption", "data sample", [*OF_FILES, "--cache-dir=c", "--held-out=0.2"]),
    ("flickr8k_caption", "data flickr8k", ["--canvas=9", "--digits=9", "--scenes=9"]),
    ("flickr8k_caption", "data flickr8k", ["--held-out=0.2"]),
    ("flickr8k_caption", "encoder x.keras", ["--data=flickr8k --encoder-weights=b"]),
    ("flickr8k_caption", "attention soft", ["--soft-probability=0.2"]),
    ("formulas_structured", "attention none", ["--parser-dim=9", "--score-dim=9"]),
    ("mnist_glimpse", "locations random", ["--sigma=0.2", "--locator-dim=9", "--head-gradients"]),
    ("mnist_glimpse", "locations random", ["--mean-activation=linear"]),
    ("mnist_glimpse", "locations random", ["--first-location=centre"]),
]


@pytest.mark.parametrize(
    ("recipe", "chosen", "flags"),
    [(recipe, chosen, one.split()) for recipe, chosen, several in UNUSED for one in several],
)
def test_settings_of_another_variant_are_refused(
    recipe, chosen, flags, tmp_path: Path, monkeypatch
) -> None:
    data = [] if "data" in chosen or len(flags) > 1 else ["--data=sample"]
    variant = f"--{chosen.replace(' ', '=')}"
    name, equals, value = flags[-1].removeprefix("--").partition("=")
    value = value if equals else str(not name.startswith("no-"))
    name = name.removeprefix("no-").replace("-", "_")
    told = refusal(recipe, [*data, variant, *flags], tmp_path / "run", monkeypatch)
    assert told.replace("'", "") == f"error: {name} must be left out with the {chosen}, got {value}"


OWN = "--train t.csv --validation v.csv --held-out 0.4"
WITHOUT_USE = [
    ("babi_structured", "--task 14", "task: the data sample: 14"),  # where bAbI is not there
    ("wikitext_lstmn", "--data sample --decay 0.9", "decay: the optimizer adam: 0.9"),
    ("wikitext_lstmn", "--data ptb --least-gain 0.5", "least_gain: the optimizer adam: 0.5"),
    (
        "formulas_structured",
        "--optimizer adam --decay-after 3",
        "decay_after: the optimizer adam: 3",
    ),
    ("formulas_structured", "--data sample --decay-after 3", "decay_after: the optimizer adam: 3"),
    ("mnist_glimpse", "--data sample --canvas 80", "canvas: the task plain: 80"),
    ("mnist_glimpse", "--data sample --held-out 0.4", "held_out: the data sample: 0.4"),
    ("glimpse_paths", "a --data mnist --canvas 80", "canvas: the task plain: 80"),
    ("multi30k_luong", "--data sample --source fr", "source: the data sample: fr"),
    ("multi30k_luong", "--data sample --target cs", "target: the data sample: cs"),
    ("tatoeba_biased", "--data sample --source de", "source: the data sample: de"),
    ("enja_structured", "--attention simple --total 3", "total: the attention simple: 3.0"),
    (
        "multi30k_luong",
        "--data sample --batch-tokens 9 --batch-size 7",
        "batch_size: batch_tokens 9: 7",
    ),
    ("multi30k_transformer", "--data multi30k --batch-size 7", "batch_size: batch_tokens 4096: 7"),
    (
        "translation",
        "--train t.csv --batch-tokens 9 --batch-size 7",
        "batch_size: batch_tokens 9: 7",
    ),
    ("classification", OWN, "held_out: a validation part: 0.4"),
    ("cloze", OWN, "held_out: a validation part: 0.4"),
    ("language_model", OWN, "held_out: a validation part: 0.4"),
    ("reading", OWN, "held_out: a validation part: 0.4"),
    ("translation", OWN, "held_out: a validation part: 0.4"),
    ("adult_features", f"{OWN} --target y", "held_out: a validation part: 0.4"),
    ("adult_features", "--data sample --held-out 0.4", "held_out: the data sample: 0.4"),
    ("adult_features", "--normalise softmax --sparsity 1", "sparsity: normalise softmax: 1.0"),
    ("adult_features", "--normalise sparsemax --sparsity 1", "sparsity: normalise sparsemax: 1.0"),
    ("babi_structured", "--hops 1 --counting pairs", "counting: one hop: pairs"),
    ("babi_structured", "--hops 1 --queries memory", "queries: one hop: memory"),
    ("babi_structured", "--hops 1 --no-shared-keys", "shared_keys: one hop: False"),
    (
        "babi_structured",
        "--hops 1 --normalisation transitions",
        "normalisation: one hop: transitions",
    ),
    (
        "babi_structured",
        "--hops 2 --counting pairs",
        "counting: two hops, or be edges: pairs",
    ),
    # Where the number of hops follows from the data.
    (
        "babi_structured",
        "--data sample --counting pairs",
        "counting: two hops, or be edges: pairs",
    ),
    ("imdb_self_attentive", "--data imdb --pooling max --hops 4", "hops: the pooling max: 4"),
    (
        "imdb_self_attentive",
        "--data mr --pooling mean --penalty 1",
        "penalty: the pooling mean: 1.0",
    ),
    ("imdb_self_attentive", "--data sst --held-out 0.4", "held_out: the data sst: 0.4"),
    ("imdb_self_attentive", "--data imdb --fold 3", "fold: the data imdb: 3"),
    ("snli_self_attentive", "--data sample --pooling max --hops 4", "hops: the pooling max: 4"),
    (
        "sick_decomposable",
        "--data sample --normalise none --vector-norm 2",
        "vector_norm: normalise none: 2.0",
    ),
    ("sst_lstmn", "--data sample --phrases", "phrases: the data sample: True"),
    ("sst_lstmn", "--data sample --skip-connections", "skip_connections: depth 1: True"),
    ("wikitext_lstmn", "--data sample --skip-connections", "skip_connections: depth 1: True"),
    ("squad_dcn", "--data sample --vector-norm 3", "vector_norm: the data sample: 3.0"),
    ("squad_dcn", "--data sample --maximum-vocabulary 5", "maximum_vocabulary: the data sample: 5"),
]
VECTORS = [
    ("sst_lstmn", "--data sample", "--first-epoch-gradient 0.1 --no-train-vectors"),
    ("sst_lstmn", "--data sample", "--vector-words 7"),
    ("imdb_self_attentive", "--data sample", "--vector-words 0"),
    ("snli_self_attentive", "--data sample", "--vector-words 7"),
    ("classification", "--train t.csv", "--first-epoch-gradient 0.1 --no-train-vectors"),
    ("classification", "--train t.csv", "--vector-words 7"),
    ("sick_decomposable", "--data sample", "--common-components 5 --vector-words 7"),
    ("sick_decomposable", "--data sample", "--train-vectors"),
    ("squad_dcn", "--data squad", "--vector-norm 3.0 --train-vectors"),
    ("reading", "--train t.csv", "--vector-norm 3.0 --train-vectors"),
]


def refused(name, situation, value):
    return f"error: {name} must be left out {situation}, got {value}"


@pytest.mark.parametrize(("recipe", "flags", "told"), WITHOUT_USE)
def test_settings_that_others_leave_without_use_are_refused(
    recipe, flags, told, tmp_path: Path, monkeypatch
) -> None:
    name, situation, value = told.split(": ")
    found = refusal(recipe, flags.split(), tmp_path / "run", monkeypatch)
    assert found.replace("'", "") == refused(name, f"with {situation}", value)


@pytest.mark.parametrize(
    ("recipe", "flags"),
    [
        (recipe, [*data.split(), *f"--{flag}".split()])
        for recipe, data, flags in VECTORS
        for flag in flags.removeprefix("--").split(" --")
    ],
)
def test_settings_of_vectors_are_refused_without_any(
    recipe, flags, tmp_path: Path, monkeypatch
) -> None:
    value = flags[-1] if not flags[-1].startswith("--") else str("--no-" not in flags[-1])
    name = next(one for one in reversed(flags) if one.startswith("--")).removeprefix("--")
    name = name.removeprefix("no-").replace("-", "_")
    found = refusal(recipe, flags, tmp_path / "run", monkeypatch)
    assert found == refused(name, "without vectors", value)


@pytest.mark.parametrize("recipe", ["sst_lstmn", "snli_lstmn", "sick_decomposable"])
def test_vectors_have_a_size_of_their_own(recipe, tmp_path: Path, monkeypatch) -> None:
    flags = ["--data", "sample", "--vectors", "v.txt", "--embedding-dim", "7"]
    found = refusal(recipe, flags, tmp_path / "run", monkeypatch)
    assert found == refused("embedding_dim", "with vectors", "7")


def test_a_setting_of_tuned_vectors_is_refused_with_fixed_ones(tmp_path: Path, monkeypatch) -> None:
    flags = ["--data", "sample", "--vectors", "v.txt", "--first-epoch-gradient", "9.0"]
    found = refusal("sick_decomposable", flags, tmp_path / "run", monkeypatch)
    assert found == refused("first_epoch_gradient", "with vectors that are not tuned", "9.0")


@pytest.mark.parametrize(
    ("flags", "name", "situation"),
    [
        ("--distances 3", "distances", "without intra"),
        ("--intra --parser-dim 3", "parser_dim", "with the parents none"),
        ("--parents simple --distances 3", "distances", "with the parents simple"),
    ],
)
def test_settings_of_other_attention_within_sentences_are_refused(
    flags, name, situation, tmp_path: Path, monkeypatch
) -> None:
    given = ["--data", "sample", *flags.split()]
    found = refusal("sick_decomposable", given, tmp_path / "run", monkeypatch)
    assert found == refused(name, situation, 3)


def test_no_tokens_a_step_leave_a_use_for_pairs_a_step(tmp_path: Path) -> None:
    task = TranslationTask("none", transformer.make_model, transformer.DEFAULTS)
    settings = transformer.Settings(data="multi30k", batch_tokens=0, batch_size=7)
    assert task.resolve(settings).batch_tokens == 0


def test_what_a_default_of_the_data_takes_the_place_of_is_offered_in_no_help() -> None:
    """None stands for what depends on the data: it cannot also be a value of one's own."""
    modules = [import_module(f"recipes.{path.stem}") for path in Path("recipes").glob("*.py")]
    offered = []
    for module in modules:
        settings = vars(module).get("Settings", object)
        if not issubclass(settings, TrainingSettings):
            continue
        told = help_of_recipes._docstrings(settings)
        offered += [
            f"{module.__name__} {name}"
            for name in help_of_recipes._defaults(settings)
            if re.search(r"None: (?!by the amount|2 on real text)", told.get(name, ""))
        ]
    assert not offered


def test_a_share_is_refused_with_parts_of_captions_of_ones_own(tmp_path: Path) -> None:
    lines = ["a.png\tA dog.\ttrain", "b.png\tA cat.\tvalidation"]
    (tmp_path / "captions.tsv").write_text("\n".join(lines))
    settings = captions.Settings(folder=tmp_path, held_out=0.2, run_dir=tmp_path / "run")
    told = r"held_out must be left out with parts in captions\.tsv, got 0\.2"
    with pytest.raises(ValueError, match=told):
        captions.main(settings)
    assert not (tmp_path / "run").exists()


def test_settings_of_scenes_are_refused_with_a_folder_of_one_s_own(tmp_path) -> None:
    settings = captions.Settings(folder=tmp_path, canvas=9)
    with pytest.raises(ValueError, match="canvas must be left out with the data files, got 9"):
        captions.main(settings)


def test_what_is_given_as_it_is_by_default_is_not_refused() -> None:
    refuse_given(copying.Settings(heads=None, hidden_dim=9), ["heads"], "in this test")
    with pytest.raises(ValueError, match=r"run_dir must be left out in this test, got 'a'"):
        refuse_given(copying.Settings(run_dir=Path("a")), ["heads", "run_dir"], "in this test")


def refusal(recipe: str, flags: Sequence[str], folder: Path, monkeypatch) -> str:
    """Returns the error of a command, which leaves no folder."""
    module = import_module(f"recipes.{recipe}")
    own = ("--run-dir", str(folder))
    monkeypatch.setattr(sys, "argv", [module.__name__, *own, *flags])
    with pytest.raises(SystemExit) as exit_:
        start(module.main, module.Settings, module.__doc__)
    assert not folder.exists()
    return str(exit_.value.code)
