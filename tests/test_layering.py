"""The tree keeps its layers, and the checker that says so sees each kind of breach."""

from pathlib import Path

import pytest

from tests.layering import (
    MAXIMUM_FILE_LINES,
    MAXIMUM_FUNCTION_LINES,
    MAY_IMPORT,
    architectures,
    breaches,
    name_breaches,
    read_sources,
)

ROOT = Path(__file__).resolve().parent.parent

# A small tree without fault; each test of the checker adds one file to it.
SOUND = {
    "zoo/ops/masking.py": "from keras import ops\n",
    "zoo/layers/recurrence/scan.py": "import tensorflow as tf\nfrom keras import ops\n",
    "zoo/layers/lstm.py": (
        "from zoo.layers.recurrence.scan import scan\nfrom ..ops import masking\n"
    ),
    "zoo/attention/additive.py": "import keras\nfrom zoo.ops.masking import softmax\n",
    "zoo/models/core/base.py": "import keras\nfrom zoo.models.core import training_step\n",
    "zoo/models/core/training_step.py": "import tensorflow as tf\nfrom keras import ops\n",
    "zoo/models/core/registry.py": "import keras\n",
    "zoo/models/__init__.py": "",
    "zoo/models/dcn/__init__.py": "from zoo.models.dcn.dcn import Model\n",
    "zoo/models/dcn/dcn.py": (
        "from zoo.models.core.base import BaseModel\nfrom zoo.models.dcn import pointing\n"
    ),
    "zoo/models/dcn/pointing.py": "from zoo.layers import lstm\n",
    "zoo/models/aoa/aoa_reader.py": "from zoo.models.core.base import BaseModel\n",
    "zoo/text_files.py": "import gzip\n",
    "zoo/text/tokenizer.py": "import tensorflow_text\nfrom zoo.text.vocabulary import ids\n",
    "zoo/text/vocabulary.py": "import tensorflow as tf\n",
    "zoo/data/squad.py": "import pandas as pd\nfrom zoo.text_files import read_content\n",
    "zoo/decoding/spans.py": "import tensorflow as tf\n",
    "zoo/metrics/squad.py": "import re\n",
    "zoo/training/loop.py": "from zoo import plots\nfrom zoo.models.core import registry\n",
    "zoo/tasks/shared/given.py": "from zoo.training import loop\nfrom zoo.text import tokenizer\n",
    "zoo/tasks/reading/data.py": "from zoo.tasks.shared import given\n",
    "zoo/tasks/cloze/data.py": "from zoo.tasks.shared import given\n",
    "zoo/benchmarks/speed.py": "import tensorflow as tf\nfrom zoo.tasks.reading import data\n",
    "zoo/plots.py": "import matplotlib\n",
    "zoo/cli/main.py": "import tyro\nfrom zoo.tasks.reading import data\n",
    "zoo/__main__.py": "from zoo.cli.main import main\n",
    "recipes/squad_dcn.py": "import zoo\nfrom zoo.tasks.reading import data\nimport keras\n",
}


def test_the_tree_keeps_its_rules():
    found = breaches(read_sources(ROOT))
    assert not found, "\n" + "\n".join(found)


def test_no_task_names_an_architecture():
    found = name_breaches(read_sources(ROOT))
    assert not found, "\n" + "\n".join(found)


def test_the_files_are_found():
    paths = set(read_sources(ROOT))
    assert {"zoo/__init__.py", "zoo/ops/masking.py", "zoo/layers/recurrence/scan.py"} <= paths
    assert any(path.startswith("recipes/") for path in paths)


def test_the_names_of_architectures_are_those_of_folders_files_and_classes():
    names = architectures(read_sources(ROOT))
    assert {
        "dcn",
        "lstmn",
        "transformer",
        "aoa_reader",
        "DynamicCoattentionNetworkPlus",
        "LSTMNInference",
    } <= names


@pytest.mark.parametrize(
    "line",
    [
        "# the tapes of the LSTMN",
        "def draw_lstmn(): ...",
        "x = model.dcn",
        '"""Like `AOA`."""',
        "MODEL: 'zoo>LSTMNClassifier'",
    ],
)
def test_a_task_that_names_a_family_is_found(line):
    sources = {
        **SOUND,
        "zoo/models/lstmn/classifier.py": "@register_model(task='x')\nclass LSTMNClassifier: ...",
        "zoo/tasks/cloze/new.py": line,
    }
    assert {message.split(":")[0] for message in name_breaches(sources)} == {
        "zoo/tasks/cloze/new.py"
    }
    assert not name_breaches({**sources, "zoo/tasks/cloze/new.py": "# lstmnesia of no dcnx"})


def test_sound_sources_pass():
    assert breaches(SOUND) == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        # From a lower layer to a higher one, however the import is written.
        ("zoo/ops/new.py", "from zoo.layers.lstm import X", "ops may not import layers"),
        ("zoo/ops/new.py", "import zoo.layers.lstm", "ops may not import layers"),
        ("zoo/ops/new.py", "from zoo import layers", "ops may not import layers"),
        ("zoo/ops/new.py", "from ..layers import lstm", "ops may not import layers"),
        ("zoo/ops/new.py", "def f():\n    import zoo.text", "ops may not import text"),
        (
            "zoo/ops/new.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from zoo.data import squad",
            "ops may not import data",
        ),
        ("zoo/text_files.py", "from zoo.text import tokenizer", "text_files may not import text"),
        ("zoo/layers/new.py", "from zoo import text_files", "layers may not import text_files"),
        ("zoo/layers/new.py", "from zoo.models import dcn", "layers may not import models"),
        ("zoo/attention/new.py", "from zoo.layers import lstm", "attention may not import layers"),
        ("zoo/text/new.py", "from zoo.data import squad", "text may not import data"),
        ("zoo/data/new.py", "from zoo.text import tokenizer", "data may not import text"),
        ("zoo/metrics/new.py", "import zoo.decoding", "metrics may not import decoding"),
        ("zoo/decoding/new.py", "from zoo.models import dcn", "decoding may not import models"),
        ("zoo/tasks/reading/new.py", "import zoo.cli.main", "tasks may not import cli"),
        # Tasks know nothing of each other, and what they stand on knows nothing of tasks.
        ("zoo/tasks/reading/new.py", "from zoo.tasks.cloze import data", "not cloze"),
        ("zoo/tasks/shared/new.py", "from zoo.tasks.reading.data import X", "not reading"),
        ("zoo/training/new.py", "from zoo.tasks.reading import data", "may not import tasks"),
        ("zoo/serving/new.py", "from zoo.tasks.shared import given", "may not import tasks"),
        ("zoo/tasks/reading/new.py", "from zoo.benchmarks import speed", "may not import bench"),
        # The command line stands on all of it, and leaves the work to it.
        ("zoo/serving/new.py", "from zoo.cli import main", "serving may not import cli"),
        ("zoo/cli/new.py", "import recipes.squad_dcn", "nothing imports recipes"),
        ("zoo/cli/new.py", "import tensorflow as tf", "imports tensorflow"),
        ("zoo/cli/new.py", "from zoo import load", "name the module"),
        ("zoo/__main__.py", "from zoo.serving import load", "__main__ may not import serving"),
        # A paper's folder stands alone, and what all share knows none of them.
        (
            "zoo/models/new/new.py",
            "from zoo.models.dcn.dcn import X",
            "only itself and core, not dcn",
        ),
        ("zoo/models/new/new.py", "from ..dcn import pointing", "only itself and core, not dcn"),
        ("zoo/models/new/new.py", "from zoo.models.aoa import aoa_reader", "not aoa"),
        ("zoo/models/core/new.py", "from zoo.models.dcn import pointing", "not dcn"),
        ("zoo/models/new/new.py", "import zoo.models", "not the package"),
        ("zoo/models/new/new.py", "from zoo.text import tokenizer", "models may not import text"),
        ("zoo/models/new/new.py", "from zoo.decoding import spans", "may not import decoding"),
        ("zoo/models/core/new.py", "from zoo.training import loop", "may not import training"),
        # Recipes are the end of every chain.
        ("zoo/tasks/new.py", "import recipes.squad_dcn", "nothing imports recipes"),
        ("recipes/new.py", "from recipes.squad_dcn import X", "nothing imports recipes"),
        ("recipes/new.py", "from . import squad_dcn", "nothing imports recipes"),
        # The package as a whole hides what is needed of it.
        ("zoo/tasks/new.py", "import zoo", "name the module"),
        ("zoo/tasks/new.py", "from zoo import load", "name the module"),
        ("zoo/extras/new.py", "import re", "'extras' has no place in the layers"),
        # The framework of each part.
        ("zoo/layers/new.py", "import tensorflow as tf", "imports tensorflow"),
        ("zoo/ops/new.py", "from tensorflow import raw_ops", "imports tensorflow"),
        ("zoo/models/new/new.py", "import tensorflow_text", "imports tensorflow"),
        ("zoo/metrics/new.py", "import tensorflow as tf", "imports tensorflow"),
        ("zoo/text/new.py", "from keras import ops", "uses keras.ops"),
        ("zoo/tasks/new.py", "import keras\nx = keras.ops.ones(3)", "uses keras.ops"),
        ("zoo/training/new.py", "from keras.ops import ones", "uses keras.ops"),
        # Cycles.
        ("zoo/plots.py", "from zoo.training import loop", "zoo.plots imports zoo.training.loop"),
        ("zoo/layers/recurrence/scan.py", "from zoo.layers import lstm", "cycle"),
        ("zoo/ops/masking.py", "from zoo.ops.masking import X", "cycle"),
    ],
)
def test_a_breach_is_seen(path, source, expected):
    found = breaches(SOUND | {path: source})
    assert len(found) == 1
    assert expected in found[0]


def test_long_file_is_seen():
    allowed = "x = 1\n" * MAXIMUM_FILE_LINES
    assert breaches({"zoo/ops/new.py": allowed}) == []
    assert "331 lines" in breaches({"zoo/ops/new.py": allowed + "x = 1\n"})[0]


@pytest.mark.parametrize("template", ["{}", "class C:\n    {}", "def g():\n    {}"])
def test_long_function_is_seen(template):
    """Methods and nested functions count as well; a docstring does not add to the length."""
    indent = "        "
    head = template.format("def f():\n" + indent + '"""First.\n\n' + indent + 'Last.\n"""')
    allowed = head + f"\n{indent}x = 1" * (MAXIMUM_FUNCTION_LINES - 3)
    outer = 1 if template.startswith("def") else 0
    assert not any(": f has" in line for line in breaches({"zoo/ops/new.py": allowed}))
    found = breaches({"zoo/ops/new.py": allowed + f"\n{indent}x = 1\n{indent}x = 1"})
    assert sum(": f has 40 lines" in line for line in found) == 1
    assert len(found) == 1 + outer


def test_every_part_of_the_package_has_its_place():
    parts = {path.name for path in (ROOT / "zoo").iterdir() if (path / "__init__.py").is_file()}
    assert "ops" in parts
    assert parts <= set(MAY_IMPORT)
