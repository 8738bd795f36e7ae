"""How commands start: settings from the command line, and errors of one line."""

import dataclasses
import io
import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
import tyro

from zoo.cli.main import Command
from zoo.training.command import next_commands, one_line, start
from zoo.training.interruption import StoppedBySignalError
from zoo.training.settings import TrainingSettings


@dataclasses.dataclass
class Settings:
    width: int = 1
    """How wide."""


def run(main, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["tool", *arguments])
    start(main, Settings, "A tool.", program="a tool")


def test_settings_come_from_the_command_line(monkeypatch):
    seen = []
    run(seen.append, monkeypatch, "--width", "3")
    assert seen == [Settings(3)]


@pytest.mark.parametrize(
    ("settings", "processor", "before", "within"),
    [
        (TrainingSettings, "x86_64", None, "1"),
        (TrainingSettings, "AMD64", None, "1"),
        (TrainingSettings, "x86_64", "0", "0"),
        (TrainingSettings, "arm64", None, None),
        (Settings, "x86_64", None, None),
    ],
)
def test_trainings_switch_onednn_on(settings, processor, before, within, monkeypatch):
    name, seen = "TF_ENABLE_ONEDNN_OPTS", []
    monkeypatch.setenv(name, before or "")
    if before is None:
        monkeypatch.delenv(name)
    monkeypatch.setattr("platform.machine", lambda: processor)
    start(lambda _: seen.append(os.environ.get(name)), settings, "A tool.", arguments=[])
    assert seen == [within]


@pytest.mark.parametrize("arguments", [["--width", "wide"], ["--wdith", "3"], ["3"]])
def test_a_wrong_argument_is_one_line_and_status_2(arguments, monkeypatch, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(print, monkeypatch, *arguments)
    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert not set("╭│╰") & set(said.err)
    assert arguments[-1 if arguments[0] == "--width" else 0] in said.err


def test_help_is_written_whole(monkeypatch, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(print, monkeypatch, "--help")
    assert stopped.value.code == 0
    assert "usage: a tool" in capsys.readouterr().out


@pytest.mark.parametrize("error", [ValueError, OSError, ModuleNotFoundError, FloatingPointError])
def test_what_a_user_can_mend_is_one_line_and_status_1(error, monkeypatch):
    def main(_):
        raise error("width is too much")

    with pytest.raises(SystemExit) as stopped:
        run(main, monkeypatch)
    assert stopped.value.code == "error: width is too much"  # which Python writes, with status 1


def test_a_bug_keeps_its_traceback(monkeypatch):
    def main(_):
        raise KeyError("x")

    with pytest.raises(KeyError):
        run(main, monkeypatch)


def test_output_that_nobody_reads_is_no_traceback(monkeypatch):
    def main(_):
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", sys.stdout)  # restored afterwards
    with pytest.raises(SystemExit) as stopped:
        run(main, monkeypatch)
    assert stopped.value.code == 1


def test_help_that_nobody_reads_is_no_traceback(monkeypatch):
    class Closed(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(SystemExit) as stopped:
        run(print, monkeypatch, "--help")
    assert stopped.value.code == 1


def test_an_interrupt_is_no_traceback(monkeypatch):
    def main(_):
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as stopped:
        run(main, monkeypatch)
    assert stopped.value.code == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_training_that_a_signal_stopped_says_how_to_go_on(number, monkeypatch, capsys):
    def main(_):
        raise StoppedBySignalError(number, 7)

    with pytest.raises(SystemExit) as stopped:
        run(main, monkeypatch)
    assert stopped.value.code == 128 + number
    line = f"stopped by {number.name} after step 7; the same command goes on from here\n"
    assert capsys.readouterr().err == line


def test_a_box_becomes_a_line():
    lines = ["╭─ Title ──╮", "│ Not a    │", "│ number.  │", "│ ──────── │"]
    lines += ["│ For full helptext, run: │", "│ x --help │", "╰──────────╯"]
    box = "\n".join(lines)
    assert one_line(box) == "Not a number. (see x --help)"
    plain = [" Title", " -------", "  Not a", "  number.", "  -----", "  For full helptext, run:"]
    assert one_line("\n".join([*plain, "  x --help", ""])) == "Not a number. (see x --help)"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["run", "x", "--qestion", "a"], "--question"),
        (["picture", "x", "--ouut", "a"], "--out"),
        (["serve", "--acess-log"], "--access-log"),
    ],
)
def test_a_mistyped_flag_gets_a_suggestion(arguments, meant, capsys):
    with pytest.raises(SystemExit):
        start(print, Command, "A zoo.", program="python -m zoo", arguments=arguments)
    typed = ", ".join(arguments[-1:] if arguments[0] == "serve" else arguments[-2:])
    line = (
        f"error: Unrecognized options: {typed}; did you mean {meant}? (see python -m zoo --help)\n"
    )
    assert capsys.readouterr().err == line


def test_next_commands_are_ones_that_the_command_line_takes():
    folder = Path("my runs/it's one/saved_model")
    question = {"question": "Who's there?", "context": "It was $HOME."}
    commands = [line.partition("python -m zoo ")[2] for line in next_commands(folder, question)]
    parsed = [tyro.cli(Command, args=shlex.split(command)) for command in commands]
    assert [type(one).__name__ for one in parsed] == ["Run", "Explore", "Serve"]
    assert parsed[0].name == str(folder)
    assert parsed[0].given() == question
    assert [one.names for one in parsed[1:]] == [(str(folder),)] * 2


def test_a_row_of_a_table_is_piped_as_json(monkeypatch):
    (ask, *_) = next_commands(Path("my run"), {"age": "30", "town": "Łódź's"})
    command = ask.removeprefix("ask it:     echo ")
    row, _, run = command.rpartition(" | ")
    assert json.loads(shlex.split(row)[0]) == {"age": "30", "town": "Łódź's"}
    assert tyro.cli(Command, args=shlex.split(run)[3:]).name == "my run"
    (ask, *_) = next_commands(Path("run"), {"town": "a" * 3000})
    assert ask == 'ask it:     echo "..." | python -m zoo run run'


def test_long_texts_are_left_out_of_the_next_commands():
    (ask, *_) = next_commands(Path("run"), {"text": "a"})
    assert ask == "ask it:     python -m zoo run run a"
    (ask, *_) = next_commands(Path("run"), {"symbols": "011"})
    assert ask == "ask it:     python -m zoo run run 011"
    (ask, *_) = next_commands(Path("run"), {"context": "a" * 201})
    assert ask == 'ask it:     python -m zoo run run --context "..."'
