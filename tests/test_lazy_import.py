"""`import zoo` stays cheap, its lazy names are real, and a wrong Keras backend is refused.

The behaviour of a fresh interpreter shows only in one, so each test below runs a child process.
"""

import ast
import configparser
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import zoo
from tests.published import published

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("keras", "keras_nlp", "matplotlib", "numpy", "pandas", "tensorflow", "tensorflow_text")

RECIPES = sorted(
    f"recipes.{path.stem}" for path in (ROOT / "recipes").glob("*.py") if path.stem != "__init__"
)


def stub_imports() -> list[ast.ImportFrom]:
    """The imports of the stub that says what `zoo` exports."""
    tree = ast.parse((ROOT / "zoo" / "__init__.pyi").read_text())
    return [node for node in tree.body if isinstance(node, ast.ImportFrom)]


HOMES = {
    alias.name: node.module and f"zoo.{node.module}"
    for node in stub_imports()
    for alias in node.names
}
"""The module that each public name comes from; None for the parts of the package."""


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter started in the checkout."""
    inherited = {key: value for key, value in os.environ.items() if key != "KERAS_BACKEND"}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def heavy_modules_after(statement: str) -> str:
    """The heavy packages that a statement loads, separated by commas."""
    child = run_python(
        f"{statement}\n"
        "import sys\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        f"print(','.join(sorted(loaded & set({HEAVY!r}))))"
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


def test_import_zoo_loads_nothing_heavy():
    assert heavy_modules_after("import zoo; dir(zoo); zoo.__version__") == ""


def test_the_probe_sees_a_heavy_import():
    assert heavy_modules_after("import zoo, numpy") == "numpy"


@pytest.mark.parametrize("recipe", RECIPES)
def test_help_of_a_recipe_loads_no_tensorflow(recipe):
    loaded = heavy_modules_after(
        "import contextlib, io, runpy, sys\n"
        f"sys.argv = ['{recipe}', '--help']\n"
        "shown = io.StringIO()\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(shown):\n"
        f"    runpy.run_module('{recipe}', run_name='__main__', alter_sys=True)\n"
        f"assert shown.getvalue().startswith('usage: python -m {recipe} '), shown.getvalue()"
    )
    assert not set(loaded.split(",")) & {"keras", "keras_nlp", "tensorflow", "tensorflow_text"}


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["list"],
        ["info", "squad_dcn"],
        ["run", "--help"],
        ["serve", "--help"],
        ["explore", "--help"],
        ["run", "no_such_model", "text"],
        ["serve", "no_such_model"],
        ["explore", "no_such_model"],
        ["run", "squad_dcn", "--context-file", "no_such_file"],
        ["--tyro-print-completion", "bash"],
    ],
    ids=" ".join,
)
def test_what_needs_no_tensorflow_loads_none(command):
    loaded = heavy_modules_after(
        "import contextlib, io, runpy, sys\n"
        f"sys.argv = ['zoo', *{command!r}]\n"
        "shown = io.StringIO()\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(shown):\n"
        "    runpy.run_module('zoo', run_name='__main__', alter_sys=True)\n"
        "assert shown.getvalue() or 'no_such' in sys.argv[-1] + sys.argv[-2]"
    )
    assert loaded == ""


def test_a_model_is_asked_without_keras():
    loaded = heavy_modules_after(
        "import runpy, sys\n"
        "sys.argv = ['zoo', 'run', 'multi30k_rnnsearch_en_de', 'A dog runs .']\n"
        "runpy.run_module('zoo', run_name='__main__', alter_sys=True)"
    )
    assert loaded.splitlines()[-1] == "numpy,tensorflow"


def test_keras_and_tensorflow_text_can_be_imported_after_a_start_without_keras():
    child = run_python(
        "from zoo.cli.quiet import without_keras\n"
        "with without_keras():\n"
        "    from zoo.serving.load import load_servable\n"
        "    import tensorflow as tf\n"
        "import sys\n"
        "assert 'keras' not in sys.modules\n"
        "asked = load_servable('multi30k_rnnsearch_en_de').signatures['serving_default']\n"
        "import keras, tensorflow_text\n"
        "tokens = tensorflow_text.WhitespaceTokenizer().tokenize(['two words'])\n"
        "print(tokens.shape[1], tf.keras.optimizers.Adam is keras.optimizers.Adam)"
    )
    assert child.stdout.split() == ["None", "True"], child.stderr


def test_the_page_is_served_without_tensorflow():
    """It is there before the models are."""
    loaded = heavy_modules_after("import zoo.explorer.app, zoo.serving.running")
    assert not set(loaded.split(",")) & {"keras", "keras_nlp", "tensorflow", "tensorflow_text"}


@pytest.mark.parametrize("name", sorted(zoo.__all__))
def test_every_public_name_resolves(name):
    value = getattr(zoo, name)
    assert getattr(zoo, name) is value  # once imported, an ordinary attribute
    assert name in dir(zoo)
    home = HOMES[name]
    assert value.__name__ == f"zoo.{name}" if home is None else value.__module__.startswith(home)


def test_every_part_of_the_package_is_public():
    parts = {path.parent.name for path in (ROOT / "zoo").glob("*/__init__.py")}
    parts |= {path.stem for path in (ROOT / "zoo").glob("*.py")} - {"__init__", "__main__"}
    assert parts - {"cli", "explorer"} == {name for name, home in HOMES.items() if home is None}


def test_every_registered_model_is_public():
    homes = {name: home for name, home in HOMES.items() if home and "models" in home}
    assert homes == {
        name: entry.cls.__module__.rpartition(".")[0] for name, entry in published().items()
    }


def test_every_public_name_is_an_export_for_type_checkers():
    """A stub exports only what it imports under a name of its own."""
    names = [alias for node in stub_imports() for alias in node.names]
    assert {alias.name for alias in names} == set(zoo.__all__)
    assert all(alias.asname == alias.name for alias in names)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="attribute transformers"):
        zoo.transformers  # noqa: B018


def test_version_has_one_source():
    """setup.cfg reads the version from the package: the two cannot differ, installed or not."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg")
    assert config["metadata"]["version"] == "attr: zoo.__version__"
    assert re.fullmatch(r"\d+\.\d+\.\d+", zoo.__version__)


def test_another_backend_in_the_environment_is_refused():
    child = run_python("import zoo.ops", KERAS_BACKEND="torch")
    assert child.returncode == 1
    assert "KERAS_BACKEND is 'torch'" in child.stderr
    assert "Set KERAS_BACKEND=tensorflow" in child.stderr


def test_keras_already_on_another_backend_is_refused():
    """A stand-in for Keras: the other backends are not installed."""
    child = run_python(
        "import sys, types\n"
        "sys.modules['keras'] = keras = types.ModuleType('keras')\n"
        "keras.config = types.SimpleNamespace(backend=lambda: 'jax')\n"
        "import zoo\n"
    )
    assert child.returncode == 1
    assert "Keras was imported earlier with the backend 'jax'" in child.stderr


def test_backend_outranks_the_keras_configuration_file(tmp_path):
    (tmp_path / "keras.json").write_text('{"backend": "torch"}')
    child = run_python("import zoo, keras; print(keras.config.backend())", KERAS_HOME=str(tmp_path))
    assert child.stdout.strip() == "tensorflow", child.stderr


def test_installed_package_carries_its_type_marker():
    assert find_spec("zoo").origin == str(ROOT / "zoo" / "__init__.py")
    assert (ROOT / "zoo" / "py.typed").is_file()
