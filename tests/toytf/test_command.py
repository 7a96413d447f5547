"""The command `toytf`: help, errors in one line, files written whole."""

import importlib
import re
import shlex
import subprocess
import sys

import pytest

import toytf
from toytf import _command
from toytf.__main__ import COMMANDS, main


def test_the_help_names_every_command_and_needs_no_torch_and_no_matplotlib():
    code = "import sys; sys.modules['torch'] = sys.modules['matplotlib'] = None; from toytf.__main__ import main; "
    done = subprocess.run([sys.executable, "-c", code + "main(['--help'])"], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  ([a-z]+) ", done.stdout, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_examples_that_can_be_typed(name, capsys):
    command = importlib.import_module(COMMANDS[name][1])
    with pytest.raises(SystemExit):
        main([name, "--help"])
    _, examples = capsys.readouterr().out.split("\nexamples:\n")
    assert examples.splitlines() == [f"  {line}" for line in command.EXAMPLES]
    for line in command.EXAMPLES:
        assert shlex.split(line)[:2] == ["toytf", name]
        _command.parser(name, command).parse_args(shlex.split(line)[2:])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["grades"], rf"expected one of {', '.join(COMMANDS)}, got 'grades'"),
        (["translate"], r".+ \(toytf translate --help tells more\)"),
        (["train", "--out", "x", "--steps", "x"], r".+ \(toytf train --help tells more\)"),
        (["translate", "hello wrld"], "unknown token 'wrld'.*"),
        (["translate", "hello", "--model", "nowhere.npz"], "No such file or directory: nowhere.npz"),
        (["train", "--out", "no/such/folder/model.npz"], "--out: expected a file in an existing folder.*"),
        (["train", "--out", "."], "--out: expected a file, got the folder ."),
        (["train", "--out", "model.npz", "--pairs", "nowhere.tsv"], "No such file.*nowhere.tsv"),
        (["train", "--out", "model.npz", "--d-model", "15"], "n_heads: expected a divisor of d_model = 15.*"),
    ],
)
def test_what_is_wrong_is_one_line_and_ends_with_2_before_the_work(words, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(words)
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr()
    assert (status, said.out) == (2, "") and re.fullmatch(f"error: {says}\n", said.err)
    assert not list(tmp_path.iterdir())


def test_a_file_takes_its_place_when_all_of_it_is_there(tmp_path):
    path = tmp_path / "a.npz"
    assert _command.write_whole(path, b"old") and not _command.write_whole(path, b"old")
    with pytest.raises(ValueError, match="in the middle"), _command.replaced(path) as new:
        new.write_bytes(b"ne")
        raise ValueError("in the middle")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_the_command_translates_and_says_its_version(capsys):
    assert main(["translate", "hello world", "my red cows"]) == main(["--version"]) == main([]) == 0
    said = capsys.readouterr().out
    assert (
        said.startswith("hello world -> hola mundo\n") and f"\ntoytf {toytf.__version__}\nusage: toytf COMMAND" in said
    )


def test_the_command_trains_from_a_file_of_pairs(tmp_path, capsys):
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "model.npz"
    pairs.write_text("".join(f"w{i} x\tv{i} y\n" for i in range(10)), encoding="utf-8")
    assert main(["train", "--pairs", str(pairs), "--steps", "10", "--batch-size", "4", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "8 pairs to learn from, 2 held out" in said and "of 2 exactly right after 10 steps" in said
    assert main(["translate", "w1 x", "--model", str(out)]) == 0
