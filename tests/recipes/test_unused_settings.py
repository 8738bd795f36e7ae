"""Settings that the chosen optimizer has no use for are refused, not ignored in silence."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from zoo.training.command import start


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
    module, folder = import_module(f"recipes.{recipe}"), tmp_path / "run"
    own = ("--data", "sample", "--optimizer", optimizer, "--run-dir", str(folder))
    monkeypatch.setattr(sys, "argv", [module.__name__, *own, *flags])
    with pytest.raises(SystemExit) as exit_:
        start(module.main, module.Settings, module.__doc__)
    name = flags[0].removeprefix("--").replace("-", "_")
    message = f"error: {name} must be left out with the optimizer {optimizer}, got {flags[1]}"
    assert exit_.value.code == message
    assert not folder.exists()
