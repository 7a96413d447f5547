"""What `make bench` promises: a missed bar is told at the end, and stops nothing."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


def ten_seeds():
    spec = importlib.util.spec_from_file_location("ten_seeds", ROOT / "bench" / "ten_seeds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("fails", "status"), [("ten_seeds", 2), ("speed", 2), ("nothing", 0)])
def test_both_benches_run_and_the_status_comes_at_the_end(tmp_path, fails, status):
    shutil.copy(ROOT / "Makefile", tmp_path)
    python = tmp_path / ".venv-torch" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$1 ran"\ncase $1 in *{fails}*) exit 1;; esac\n')
    python.chmod(0o755)
    # A make inside of `make test` would say which folder it enters.
    command = ["make", "--no-print-directory", "-o", ".venv-torch/torch.stamp", "bench"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    ran, told = done.stdout.splitlines()[:2], done.stdout.splitlines()[2:]
    assert ran == ["bench/ten_seeds.py ran", "bench/speed.py ran"]
    assert done.returncode == status
    expected = f"bench/{fails}.py ended with status 1: its own lines above say why"
    assert told == ([] if fails == "nothing" else [expected])


def test_the_bar_of_the_ten_seeds_is_processor_time(monkeypatch, capsys):
    module = ten_seeds()
    clock = iter([0.0, 2.9, 0.0, 3.1])
    monkeypatch.setattr(module.time, "process_time", lambda: next(clock))

    class Fast:
        """A translator that is there at once and always right."""

        def __init__(self):
            self.params = module.Translator.load().params

        def learn(self, *arguments, **how):
            return [type("Last", (), {"step": 500, "loss": 0.0})]

        def exact(self, pairs):
            return np.ones(len(pairs), dtype=bool)

    monkeypatch.setattr(module.Translator, "new", lambda rng: Fast())
    assert module.main(["--seeds", "1"]) == 0
    assert module.main(["--seeds", "1"]) == 1
    assert "below the bar" in capsys.readouterr().out
