"""Help of recipes: flags in groups, each with its default, also where that depends on the data."""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_type_hints

import tyro

from zoo.training.settings import TrainingSettings

_DATA = re.compile(
    r"data(_dir)?|task|canvas|kind|source|target|classes|phrases|more_questions|readings|case_fold"
    r"|vectors|vector_(norm|words)|minimum_count|unknown_slots|segment_length|maximum_\w*tokens"
    r"|vocabulary(_size)?|maximum_vocabulary|(train|validation|test|dev)(_(?!vectors)\w+)?|held_out\w*"
    r"|(\w+_)?(columns?|file)|questions|(source|target)_language|folder|splits|digits|scenes"
    r"|encoder(_\w+)?|cache_dir|alphabet|shortest|longest|categorical|maximum_words"
)
_OUTPUT = re.compile(
    r"run_dir|fresh|checkpoint_every|beam_width|length_penalty|bleu_tokenize|maximum_answer_tokens"
)
_TRAINING = re.compile(
    r"(\w+_)?(dropout|l2)|label_smoothing|smoothing_over|batch_tokens|first_epoch_gradient"
    r"|train_vectors|optimizer|decay|least_gain|hide_candidates|loss_over"
    r"|start_(backward_)?from|steps_per_epoch|evaluation_\w+"
)
GROUPS = ("data", "model", "training", "output")
"""In the order of the help. `output` is also how answers are searched for and measured."""


def group_of(name: str) -> str:
    """Names the group of a setting: of those that no other group claims, the model's.

    Args:
        name: Of the field.
    """
    trained = {field.name for field in dataclasses.fields(TrainingSettings)}
    if _OUTPUT.fullmatch(name):
        return "output"
    if _DATA.fullmatch(name):
        return "data"
    return "training" if name in trained or _TRAINING.fullmatch(name) else "model"


def parse_grouped(settings: type[TrainingSettings], **options: Any) -> Any:
    """Parses settings as `tyro.cli` does, with the flags of its help in groups.

    Args:
        settings: A dataclass whose fields have defaults. Those that are None may depend on the
            data: values by data set stand in the dicts DEFAULTS and SHARED_DEFAULTS of the modules
            of the class and its bases.
        options: Of `tyro.cli`.

    Returns:
        An instance.
    """
    hints, told = get_type_hints(settings, include_extras=True), _docstrings(settings)
    by_data = _defaults(settings)
    members: dict[str, list[Any]] = {group: [] for group in GROUPS}
    for field in dataclasses.fields(settings):
        text = told.get(field.name, "")
        shown = _shown(by_data.get(field.name, {}), text) if field.default is None else None
        about = tyro.conf.arg(help=text, help_behavior_hint=shown)
        default = dataclasses.field(default=field.default, default_factory=field.default_factory)
        member = (field.name, Annotated[hints[field.name], about], default)
        members[group_of(field.name)].append(member)
    groups = {name: dataclasses.make_dataclass(name, of) for name, of in members.items() if of}
    fields: list[Any] = [
        (
            name,
            Annotated[group, tyro.conf.OmitArgPrefixes],
            dataclasses.field(default_factory=group),
        )
        for name, group in groups.items()
    ]
    parsed: Any = tyro.cli(dataclasses.make_dataclass(settings.__name__, fields), **options)
    values: dict[str, Any] = {}
    for name in groups:
        values |= vars(getattr(parsed, name))
    return settings(**values)


def _bases(settings: type) -> Iterator[type]:
    """Yields the dataclasses that fields come from, the most general first."""
    return (one for one in reversed(settings.__mro__) if dataclasses.is_dataclass(one))


def _docstrings(settings: type) -> dict[str, str]:
    """Finds the string below each field, in the sources of the class and its bases."""
    found = {}
    for one in _bases(settings):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                found[field.target.id] = " ".join(str(below.value.value).split())
    return found


def _defaults(settings: type) -> dict[str, dict[str, Any]]:
    """Setting -> data set -> value; those of the recipe come before those of its task.

    Those of a module that speaks of other data sets alone, as of amounts of data, stand instead.
    """
    found: dict[str, dict[str, Any]] = {}
    known: set[str] = set()
    for one in _bases(settings):
        for name in ("SHARED_DEFAULTS", "DEFAULTS"):
            by_data = vars(sys.modules[one.__module__]).get(name, {})
            if by_data and known.isdisjoint(by_data):
                found, known = {}, set()
            known |= by_data.keys()
            for data, values in by_data.items():
                for key, value in values.items():
                    found.setdefault(key, {})[data] = value
    return found


def _shown(values: Mapping[str, Any], text: str) -> str | None:
    """Shows a default that depends on the data; None if it does not.

    Args:
        values: Data set -> default.
        text: The help of the setting, which may tell the default itself.
    """
    if not values:
        return "" if "by default" in text else None
    if len({str(value) for value in values.values()}) == 1 and len(values) > 1:
        return f"(default: {next(iter(values.values()))})"
    listed = ", ".join(f"{value} for {data}" for data, value in values.items())
    return f"(default: {listed})"
