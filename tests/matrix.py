"""Run the numbers on as many kinds of machine as one machine can play: `make test-matrix`.

Under each setting of the table that is printed, either every cell of every notebook is executed and
compared with its stored output, digit by digit, or the tests of the arithmetic are run: BLAS with one
thread and with two, kernels and vector instructions of other processors, an older NumPy, other seeds.
That a restriction took hold is asserted from what NumPy and the BLAS themselves report: a misspelt
name is silently ignored by both. A kernel that they do not take is "not run".
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
OLD_NUMPY = "1.26.4"
OLD_ENVIRONMENT = ROOT / "_build" / "matrix" / f"numpy-{OLD_NUMPY}"
LOCK = ROOT / "requirements" / "matrix.txt"
CORE = "ops properties gradients gradcheck model corpus grammar optim train translator size door errors".split()
ARITHMETIC = [*(f"toytf/test_{name}.py" for name in CORE)]
ARITHMETIC += ["course/test_pronoun.py", "course/test_experiments.py", "byhand/test_operations.py"]
ARITHMETIC += [f"check/test_{name}.py" for name in "checkers comparing fair_inputs mistakes by_hand".split()]

PROBE = """
import json
import numpy as np
from threadpoolctl import threadpool_info
for dtype in (float, "f"):
    np.ones((64, 64), dtype) @ np.ones((64, 64), dtype)
try:
    from numpy._core import _multiarray_umath as umath
except ImportError:
    from numpy.core import _multiarray_umath as umath
(blas,) = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
print(json.dumps({
    "numpy": np.__version__,
    "kernel": blas.get("architecture", "?"),
    "threads": blas["num_threads"],
    "dispatched": [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)],
}))
"""


@dataclass(frozen=True)
class Setting:
    """One kind of machine to play."""

    name: str
    threads: int = 2
    kernel: str | None = None  # of OpenBLAS; None: the best that this machine has
    without: str = ""  # vector instructions that NumPy must not use: "", "AVX512" or "everything"
    old_numpy: bool = False
    run: str = "cells"  # of the notebooks; or "tests" of the arithmetic
    seed: int = 0  # of the tests; 0: their own


class NotRun(RuntimeError):
    """This machine cannot play a setting."""


# Those of OpenBLAS that differ; newer ones have fewer, and report those for Prescott by the name of Katmai.
KERNELS = "Prescott Core2 Nehalem Sandybridge Haswell Zen SkylakeX Cooperlake SapphireRapids".split()
SETTINGS = (
    Setting("two threads"),
    Setting("one thread", threads=1),
    Setting("a processor of 2013", kernel="Haswell", without="AVX512"),
    Setting("a processor of 2008, one thread", threads=1, kernel="Nehalem", without="everything"),
    Setting("older NumPy", old_numpy=True),
    Setting("older NumPy, a processor of 2008, one thread", 1, "Nehalem", "everything", old_numpy=True),
    *(
        Setting(f"{'older NumPy, ' * old}{kernel}", threads, kernel, old_numpy=old, run="tests")
        for old, kernel, threads in product((False, True), KERNELS, (1, 2))
    ),
    *(Setting(f"seed {seed}", seed=seed, run="tests") for seed in range(1, 11)),
)


def python_of(setting: Setting) -> str:
    """The interpreter of the environment in which a setting is played."""
    if not setting.old_numpy:
        return sys.executable
    return str(OLD_ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def probe(python: str, environment: dict[str, str]) -> dict:
    """Ask NumPy and the BLAS what they use."""
    done = subprocess.run([python, "-c", PROBE], env=environment, capture_output=True, text=True, check=False)
    if done.returncode < 0:  # by a signal: the processor has no such instruction
        raise NotRun(f"a product ended with signal {-done.returncode}")
    done.check_returncode()
    return json.loads(done.stdout)


def hidden(dispatched: list[str], without: str) -> list[str]:
    """The instructions among NumPy's that a setting forbids."""
    if without == "AVX512":
        return [name for name in dispatched if "AVX512" in name or name == "X86_V4"]
    return dispatched if without == "everything" else []


def environment_of(setting: Setting) -> tuple[dict[str, str], dict]:
    """Return the environment variables of a setting and what NumPy and the BLAS then report.

    `NotRun` if OpenBLAS does not take the kernel here, or the processor does not; `RuntimeError` if another
    restriction did not take hold.
    """
    python = python_of(setting)
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    for name in ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "OMP_NUM_THREADS"):
        environment.pop(name, None)
    environment |= {"OPENBLAS_NUM_THREADS": str(setting.threads), "TOYTF_SEED": str(setting.seed)}
    forbidden = hidden(probe(python, environment)["dispatched"], setting.without)
    if forbidden:
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(forbidden)
    if setting.kernel:
        environment["OPENBLAS_CORETYPE"] = setting.kernel
    report = probe(python, environment)
    faults = []
    names = (setting.kernel, "Katmai" if setting.kernel == "Prescott" else None)
    if setting.kernel and report["kernel"] not in names:
        raise NotRun(f"{setting.name}: expected OpenBLAS kernels for {setting.kernel}, got {report['kernel']}")
    if report["threads"] != setting.threads:
        faults.append(f"expected {setting.threads} BLAS threads, got {report['threads']}")
    if still := [name for name in forbidden if name in report["dispatched"]]:
        faults.append(f"expected NumPy without {' '.join(still)}, got it with them")
    if setting.without == "everything" and report["dispatched"]:
        faults.append(f"expected NumPy's baseline alone, got {' '.join(report['dispatched'])}")
    if setting.old_numpy and report["numpy"] != OLD_NUMPY:
        faults.append(f"expected NumPy {OLD_NUMPY}, got {report['numpy']}")
    if faults:
        raise RuntimeError(f"{setting.name}: " + "; ".join(faults))
    return environment, report


def play(setting: Setting, paths: list[Path], environment: dict[str, str]) -> tuple[int, list[str]]:
    """Execute notebooks or tests under a setting; return how many cells or tests were run and which failed."""
    how = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=600"]
    if setting.run == "tests":
        how = ["-m", "not own_seed", f"--hypothesis-seed={setting.seed}"] if setting.seed else []
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python_of(setting), "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
        command += [*how, f"--junitxml={report}", *map(str, paths)]
        # Notebooks open nothing by a relative path, so it does not matter where they run.
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.exists():
            raise RuntimeError(f"{setting.name}: pytest wrote no report:\n{done.stdout}{done.stderr}")
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    if not cases:
        raise RuntimeError(f"{setting.name}: none of the {setting.run} was run:\n{done.stdout}{done.stderr}")
    bad = [(case, fault) for case in cases for fault in (*case.iter("failure"), *case.iter("error"))]
    return len(cases), [f"{case.get('classname')} {case.get('name')}: {fault.get('message')}" for case, fault in bad]


def install_old_numpy() -> None:
    """Make the environment with the older NumPy, once."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 12):
        raise RuntimeError(f"NumPy {OLD_NUMPY} needs Python 3.11 or 3.12, this is {platform.python_version()}")
    done = OLD_ENVIRONMENT / "lock.txt"
    if done.exists() and done.read_bytes() == LOCK.read_bytes():
        return
    print(f"Installing NumPy {OLD_NUMPY} beside the book's own (once; a minute)", flush=True)
    venv.create(OLD_ENVIRONMENT, with_pip=True, clear=True)
    pip = [python_of(Setting("", old_numpy=True)), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(LOCK)]
    subprocess.run(pip, check=True)
    done.write_bytes(LOCK.read_bytes())


def row(*columns) -> str:
    return "  ".join(str(c).ljust(w) for c, w in zip(columns, (45, 7, 11, 7, 12, 11, 6, 7), strict=True)).rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Play all settings, print the table; return 0 if no cell and no test fails under any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks or files of tests; default: all")
    options = parser.parse_args(arguments)
    if platform.machine().lower() not in ("x86_64", "amd64"):
        print("The kernels and instructions of the table are those of x86 processors; this is", platform.machine())
        return 2
    everything = [*sorted(ROOT.glob("notebooks/*.ipynb")), *sorted(ROOT.glob("book/*.ipynb"))]
    everything += [ROOT / "tests" / name for name in ARITHMETIC]
    paths = [path.resolve() for path in options.paths] or everything
    files = {run: [p for p in paths if p.suffix == suffix] for run, suffix in (("cells", ".ipynb"), ("tests", ".py"))}
    install_old_numpy()
    print(row("setting", "NumPy", "BLAS", "threads", "NumPy's SIMD", "run", "failed", "seconds"))
    failed = 0
    for setting in (one for one in SETTINGS if files[one.run]):
        try:
            environment, report = environment_of(setting)
        except NotRun as why:
            print(f"{setting.name}, threads {setting.threads}: not run: {why}", flush=True)
            continue
        begin = time.perf_counter()
        count, bad = play(setting, files[setting.run], environment)
        best = report["dispatched"][-1] if report["dispatched"] else "baseline"
        seconds = f"{time.perf_counter() - begin:.0f}"
        told = report["numpy"], report["kernel"], report["threads"], best, f"{count} {setting.run}", len(bad), seconds
        print(row(setting.name, *told), flush=True)
        for name in bad:
            print(f"    failed: {name}", flush=True)
        failed += len(bad)
    print("nothing failed under any setting" if not failed else f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
