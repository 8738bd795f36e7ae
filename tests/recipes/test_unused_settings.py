"""Settings that the chosen variant has no use for are refused, not ignored in silence."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

import recipes.copy_ntm as copying
import recipes.flickr8k_caption as captions
from zoo.training.command import start
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
    ("babi_structured", "data sample", ["--task=14", "--held-out=0.2"]),
    ("flickr8k_caption", "data sample", [*OF_FILES, "--cache-dir=c", "--held-out=0.2"]),
    ("flickr8k_caption", "data flickr8k", ["--canvas=9", "--digits=9", "--scenes=9"]),
    ("flickr8k_caption", "data flickr8k", ["--held-out=0.2"]),
    ("flickr8k_caption", "encoder x.keras", ["--data=flickr8k --encoder-weights=b"]),
    ("flickr8k_caption", "attention soft", ["--soft-probability=0.2"]),
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
