"""Runs the attacks at their full size: python -m tests.attacks [NAME ...]."""

import sys
from collections.abc import Sequence

from tests.attacks.attacks import ATTACKS
from tests.attacks.run import Measured, attacked_server, ending_seconds, measure

_COLUMNS = (
    "attack",
    "cases",
    "answers",
    "other model, ms",
    "same model, ms",
    "failed",
    "memory, MB",
    "files",
    "log, KB",
)


def main() -> None:
    """Writes the table."""
    names = sys.argv[1:]
    unknown = set(names) - {attack.name for attack in ATTACKS}
    if unknown:
        raise SystemExit(f"no attacks {unknown}, there are {[attack.name for attack in ATTACKS]}")
    with attacked_server(timeout_seconds=30) as attacked:
        _write(f"A question to the other model, alone: {1000 * attacked.own:.0f} ms\n")
        _write_row(_COLUMNS)
        _write_row(["---"] * len(_COLUMNS))
        for attack in ATTACKS:
            if not names or attack.name in names:
                _write_row(_row(measure(attacked, attack, attack.whole)))
        _write(f"\nEnd on SIGTERM: {ending_seconds(attacked.server):.1f} s")


def _row(measured: Measured) -> list[str]:
    statuses = sorted(measured.statuses.items())
    answers = ", ".join(f"{count} x {status or 'closed'}" for status, count in statuses)
    return [
        measured.attack.description,
        f"{measured.cases:,}",
        answers,
        f"{1000 * measured.other:.0f}",
        f"{1000 * measured.same:.0f}",
        str(measured.failures),
        f"{measured.peak_bytes / 1e6:.0f}",
        str(measured.files),
        f"{measured.log_bytes / 1e3:.0f}",
    ]


def _write_row(cells: Sequence[str]) -> None:
    _write("| " + " | ".join(cells) + " |")


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
