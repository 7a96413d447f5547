"""Mutation testing of the Transformer's core by its own unit tests: `make test-mutants`.

A mutant is the package with one small change: a minus for a plus, a default of 0 that is 1 now, an
argument left out. The tests should notice. Each mutant that they do not notice is printed with file,
line and change; those that no test can notice, or none should, stand in `survivors.txt` with the
reason. mutmut makes the mutants and runs the tests that call the changed function.

    python tests/mutants.py 150                  # a sample, the same each time
    python tests/mutants.py all --only generate    # every mutant of one module
    python tests/mutants.py 150 --resume         # go on where the last run was stopped
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "_build" / "mutants"
JUDGED = Path(__file__).with_name("survivors.txt")
# What is changed: these modules, and of the last one what reads and writes model files.
MODULES = ("ops", "positions", "attention", "tree", "model", "generate", "optim", "store", "translator")
ONLY = {"translator": ("Translator.save", "Translator.load")}
# What should notice, but for the tests that list a module's functions: they would count the mutants too.
TESTS = (
    *("ops", "positions", "attention", "model", "generate", "optim", "translator"),
    *("gradcheck", "mutants_caught", "wrong_calls", "properties", "model_files"),
)
LISTING = (
    "tests/test_wrong_calls.py::test_every_public_function_is_called_with_every_argument_wrong",
    "tests/test_properties.py::test_every_function_of_these_modules_is_compared",
)
SETTINGS = """\
[mutmut]
source_paths=toytf
only_mutate=
{modules}
pytest_add_cli_args=
    -oaddopts=--strict-markers
    -pno:cacheprovider
    --timeout=60
{listing}
pytest_add_cli_args_test_selection=
{tests}
process_isolation=forkserver
timeout_multiplier=3
timeout_constant=20
use_git_change_detection=false
on_dependency_change=ignore
"""


@dataclass(frozen=True)
class Mutant:
    """One small change: `name` is mutmut's, `change` the lines that went (-) and came (+)."""

    name: str
    function: str
    line: int
    change: tuple[str, ...]

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """What it is called in `survivors.txt`, however the lines around it move."""
        return self.function, self.change

    def __str__(self) -> str:
        module = self.function.split(".")[0]
        return "\n".join([f"toytf/{module}.py:{self.line}", self.function, *self.change])


# ---------------------------------------------------------------- which mutants


def mutants_of(module: str) -> list[Mutant]:
    """Every mutant of a module, in order. The working folder must be `WORK`."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import make_mutant_key

    path = Path("toytf") / f"{module}.py"
    source = path.read_text("utf-8")
    begins = {}
    for node in ast.parse(source).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inside:
            if isinstance(one, ast.FunctionDef):
                owner = node.name if isinstance(node, ast.ClassDef) else None
                begins[make_mutant_key(one.name, owner)] = one.lineno, f"{owner}.{one.name}" if owner else one.name
    mutated = mutate_file_contents(str(path), source)
    lines = mutated.code.splitlines()

    def code(name: str) -> list[str]:
        span = mutated.line_span_by_function_name[name]
        whole = lines[span.start - 1 : span.end]
        first = next(i for i, line in enumerate(whole) if line.lstrip().startswith("def "))
        return [whole[first].replace(name, name.rpartition("__mutmut_")[0]), *whole[first + 1 :]]

    found = []
    for name in mutated.mutant_names:
        key = name.rpartition("__mutmut_")[0]
        begin, function = begins[key]
        if function in ONLY.get(module, (function,)):
            where, change = difference(code(f"{key}__mutmut_orig"), code(name))
            found.append(Mutant(f"toytf.{module}.{name}", f"{module}.{function}", begin + where, change))
    return found


def difference(before: list[str], after: list[str]) -> tuple[int, tuple[str, ...]]:
    """How many lines down the first change is, and the lines that went and came, without indentation."""
    steps = [step for step in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()]
    steps = [step for step in steps if step[0] != "equal"]
    went = [f"- {line.strip()}" for _, a, b, _, _ in steps for line in before[a:b]]
    came = [f"+ {line.strip()}" for _, _, _, a, b in steps for line in after[a:b]]
    return steps[0][1], (*went, *came)


def sample(mutants: list[Mutant], n: int, seed: int) -> list[Mutant]:
    """Draw `n` of them. A mutant's lot depends on itself alone: when one function changes, the others' stay."""

    def lot(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    chosen = set(sorted(mutants, key=lot)[:n])
    return [mutant for mutant in mutants if mutant in chosen]


# ---------------------------------------------------------------- which survivors are known


def read_judged(text: str) -> dict[tuple[str, tuple[str, ...]], str]:
    """The survivors that are known, with the reason of each.

    A paragraph is a reason, in lines that begin with ``#``, and the mutants that it holds for, each the
    name of a function and below it the lines that go and come. A reason counts until the next one.

    Raises
    ------
    ValueError
        If a mutant has no reason, no change, or stands there twice.
    """
    judged, reason = {}, ""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip()), 1):
        lines = paragraph.splitlines()
        comments = [line[1:].strip() for line in lines if line.startswith("#")]
        reason = " ".join(comments)
        rest = [line for line in lines if not line.startswith("#")]
        if rest and not reason:
            raise ValueError(f"paragraph {number}: expected a reason, in lines that begin with #, got {rest[0]!r}")
        while rest:
            function, change = rest.pop(0), []
            while rest and rest[0].startswith(("- ", "+ ")):
                change.append(rest.pop(0))
            if function.startswith(("- ", "+ ")) or not change:
                raise ValueError(f"paragraph {number}: expected a function and what changes in it, got {function!r}")
            key = function, tuple(change)
            if key in judged:
                raise ValueError(f"paragraph {number}: expected each mutant once, got {function} {change} again")
            judged[key] = reason
    return judged


# ---------------------------------------------------------------- running the tests


def prepare() -> None:
    """Copy package and tests to where mutmut may change them."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for name in ("toytf", "tests"):
        shutil.copytree(ROOT / name, WORK / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", WORK)
    modules = "\n".join(f"    toytf/{name}.py" for name in MODULES)
    tests = "\n".join(f"    tests/test_{name}.py" for name in TESTS)
    listing = "\n".join(f"    --deselect={test}" for test in LISTING)
    (WORK / "setup.cfg").write_text(SETTINGS.format(modules=modules, tests=tests, listing=listing), "utf-8")


def results() -> dict[str, str]:
    """What became of each mutant, as far as it was tested: "killed", "survived", "timeout", ..."""
    from mutmut.stats import status_by_exit_code

    found = {}
    for module in MODULES:
        meta = WORK / "mutants" / "toytf" / f"{module}.py.meta"
        try:
            codes = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
        except (OSError, ValueError):  # not there yet, or half written
            continue
        for name, status in codes.items():
            if status is not None:
                found[name] = status_by_exit_code[status]
    return found


def run(mutants: list[Mutant], jobs: int) -> None:
    """Let mutmut test those mutants that have no result yet."""
    there = results()
    left = [mutant.name for mutant in mutants if mutant.name not in there]
    if not left:
        return
    log = WORK / "log.txt"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)  # only the copy may be imported
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", str(jobs), *left]
    with (
        log.open("w", encoding="utf-8") as out,
        subprocess.Popen(command, cwd=WORK, env=environment, stdout=out, stderr=out) as process,
        tqdm(total=len(mutants), initial=len(mutants) - len(left), unit="mutant") as bar,
    ):
        while process.poll() is None:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                there = results()
                bar.update(sum(mutant.name in there for mutant in mutants) - bar.n)
    if process.returncode:
        raise RuntimeError(f"mutmut stopped:\n{log.read_text('utf-8').replace(chr(13), chr(10))[-3000:]}")


CAUGHT = {"killed", "timeout", "segfault"}


def verdict(mutants: list[Mutant], results: dict[str, str], judged: dict) -> tuple[list[str], int]:
    """What to print, and how many survivors nobody has judged."""
    missing = [mutant for mutant in mutants if results.get(mutant.name) not in {*CAUGHT, "survived", "no tests"}]
    survivors = [mutant for mutant in mutants if mutant not in missing and results[mutant.name] not in CAUGHT]
    known = [mutant for mutant in survivors if mutant.key in judged]
    new = [mutant for mutant in survivors if mutant.key not in judged]
    said = [f"{mutant}\n  known: {judged[mutant.key]}\n" for mutant in known]
    said += [f"{mutant}\n  not noticed by any test\n" for mutant in new]
    said += [f"{mutant}\n  no result: {results.get(mutant.name, 'not tested')}\n" for mutant in missing]
    caught = len(mutants) - len(survivors) - len(missing)
    share = 100 * caught / len(mutants)
    said.append(
        f"{caught} of {len(mutants)} mutants noticed ({share:.1f} %); "
        f"of the others {len(known)} are known, {len(new)} new, {len(missing)} without a result"
    )
    return said, len(new) + len(missing)


def main(arguments: list[str] | None = None) -> int:
    """Test mutants; return 0 if every survivor is a known one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mutants", help="how many, or all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; default %(default)s")
    parser.add_argument("--only", nargs="+", choices=MODULES, default=MODULES, help="only of these modules")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="side by side; default: all cores")
    parser.add_argument("--resume", action="store_true", help="keep the results that are there")
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    options = parser.parse_args(arguments)
    if options.mutants != "all" and not (options.mutants.isdecimal() and int(options.mutants)):
        parser.error(f"mutants: expected a number or all, got {options.mutants}")
    judged = read_judged(JUDGED.read_text("utf-8"))
    if not (options.resume and (WORK / "setup.cfg").exists()):
        prepare()
    os.chdir(WORK)
    everything = [mutant for module in MODULES for mutant in mutants_of(module)]
    chosen = [mutant for mutant in everything if mutant.function.split(".")[0] in options.only]
    if options.mutants != "all":
        chosen = sample(chosen, int(options.mutants), options.seed)
    if options.list:
        print("\n\n".join(map(str, chosen)))
        return 0
    print(f"{len(chosen)} of {len(everything)} mutants", flush=True)
    run(chosen, options.jobs)
    said, bad = verdict(chosen, results(), judged)
    print("\n".join(said))
    for function, change in judged.keys() - {mutant.key for mutant in everything}:
        print(f"survivors.txt: no such mutant any more: {function} {' '.join(change)}")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as error:
        sys.exit(f"error: {error}")
