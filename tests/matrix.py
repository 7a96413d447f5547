"""Run the notebooks' numbers on as many kinds of machine as one machine can play: `make test-matrix`.

Every cell of every notebook is executed and compared with its stored output, digit by digit, under
each setting of the table that is printed: BLAS with one thread and with two, kernels and vector
instructions of older processors, and an older NumPy. That a restriction took hold is asserted from
what NumPy and the BLAS themselves report: a misspelt name is silently ignored by both.
"""

from __future__ import annotations

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
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
OLD_NUMPY = "1.26.4"
OLD_ENVIRONMENT = ROOT / "_build" / "matrix" / f"numpy-{OLD_NUMPY}"
LOCK = ROOT / "requirements" / "matrix.txt"

PROBE = """
import json
import numpy as np
from threadpoolctl import threadpool_info
np.ones((2, 2)) @ np.ones((2, 2))
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


SETTINGS = (
    Setting("two threads"),
    Setting("one thread", threads=1),
    Setting("a processor of 2013", kernel="Haswell", without="AVX512"),
    Setting("a processor of 2008, one thread", threads=1, kernel="Nehalem", without="everything"),
    Setting("older NumPy", old_numpy=True),
    Setting("older NumPy, a processor of 2008, one thread", 1, "Nehalem", "everything", old_numpy=True),
)


def python_of(setting: Setting) -> str:
    """The interpreter of the environment in which a setting is played."""
    if not setting.old_numpy:
        return sys.executable
    return str(OLD_ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def probe(python: str, environment: dict[str, str]) -> dict:
    """Ask NumPy and the BLAS what they use."""
    done = subprocess.run([python, "-c", PROBE], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def hidden(dispatched: list[str], without: str) -> list[str]:
    """The instructions among NumPy's that a setting forbids."""
    if without == "AVX512":
        return [name for name in dispatched if "AVX512" in name or name == "X86_V4"]
    return dispatched if without == "everything" else []


def environment_of(setting: Setting) -> tuple[dict[str, str], dict]:
    """Return the environment variables of a setting and what NumPy and the BLAS then report.

    Raises
    ------
    RuntimeError
        If a restriction did not take hold.
    """
    python = python_of(setting)
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    for name in ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "OMP_NUM_THREADS"):
        environment.pop(name, None)
    environment["OPENBLAS_NUM_THREADS"] = str(setting.threads)
    forbidden = hidden(probe(python, environment)["dispatched"], setting.without)
    if forbidden:
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(forbidden)
    if setting.kernel:
        environment["OPENBLAS_CORETYPE"] = setting.kernel
    report = probe(python, environment)
    faults = []
    if setting.kernel and report["kernel"] != setting.kernel:
        faults.append(f"expected OpenBLAS kernels for {setting.kernel}, got {report['kernel']}")
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


def compare(setting: Setting, notebooks: list[Path], environment: dict[str, str]) -> tuple[int, list[str]]:
    """Execute notebooks under a setting; return how many cells were compared and which differ."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python_of(setting), "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
        command += ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=600", f"--junitxml={report}"]
        # Notebooks open nothing by a relative path, so it does not matter where they run.
        done = subprocess.run(
            [*command, *map(str, notebooks)], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        if not report.exists():
            raise RuntimeError(f"{setting.name}: pytest wrote no report:\n{done.stdout}{done.stderr}")
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    if not cases:
        raise RuntimeError(f"{setting.name}: no cell was compared:\n{done.stdout}{done.stderr}")
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases), [f"{case.get('classname')} {case.get('name')}" for case in bad]


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
    """One line of the table."""
    return "  ".join(str(c).ljust(w) for c, w in zip(columns, (45, 7, 9, 7, 12, 6, 6, 7), strict=True)).rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Play all settings, print the table; return 0 if no cell differs under any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    parser.add_argument("--list", action="store_true", help="print the settings and stop")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(setting.name for setting in SETTINGS))
        return 0
    if platform.machine().lower() not in ("x86_64", "amd64"):
        print("The kernels and instructions of the table are those of x86 processors; this is", platform.machine())
        return 2
    notebooks = [path.resolve() for path in options.notebooks]
    notebooks = notebooks or [*sorted(ROOT.glob("notebooks/*.ipynb")), *sorted(ROOT.glob("book/*.ipynb"))]
    install_old_numpy()
    print(f"{len(notebooks)} notebooks under {len(SETTINGS)} settings")
    print(row("setting", "NumPy", "BLAS", "threads", "NumPy's SIMD", "cells", "differ", "seconds"))
    differ = 0
    for setting in SETTINGS:
        environment, report = environment_of(setting)
        begin = time.perf_counter()
        cells, bad = compare(setting, notebooks, environment)
        best = report["dispatched"][-1] if report["dispatched"] else "baseline"
        seconds = f"{time.perf_counter() - begin:.0f}"
        told = report["numpy"], report["kernel"], report["threads"], best, cells, len(bad), seconds
        print(row(setting.name, *told), flush=True)
        for name in bad:
            print(f"    differs: {name}", flush=True)
        differ += len(bad)
    print("no cell differs under any setting" if not differ else f"{differ} cells differ")
    return 1 if differ else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
