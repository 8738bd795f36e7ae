"""Defaults that are shortened for a short training, and stay so if the training gets longer."""

from zoo.training.json_files import as_json, read_object
from zoo.training.runs import RunFolder


def fit_length(run: RunFolder, name: str, default: int, fitting: int, training: str) -> int:
    """Shorten a default that does not fit the training, with a line.

    A run that is gone on with for more epochs keeps the shorter one. Else what has come to its end,
    such as the warm-up, would begin again in the middle.

    Args:
        run: the folder, which records a shortened one.
        name: of the setting.
        default: its default.
        fitting: the longest that fits the training; at least the default if that does.
        training: the length of the training, such as "30 epochs".

    Returns:
        The default, or what it is shortened to.

    Raises:
        ValueError: the record is damaged.
    """
    # Processes that are not the chief have a folder of their own, but resume from the chief's.
    shared = run.shared_checkpoints.parent / run.shortened.name
    held = read_object(shared) if shared.exists() else {}
    length = min(default, fitting, held.get(name, default))
    if length < default:
        began = ", as the run began," if length < min(default, fitting) else ","
        run.logger.info(f"{name}: {length} instead of {default}{began} for {training} in all")
        run.manifest.write_file(run.shortened.name, as_json(held | {name: length}))
    return length
