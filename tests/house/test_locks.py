"""What is installed is what was locked: each pin has its hashes, and the lists agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = {path.stem: path.read_text("utf-8") for path in sorted(ROOT.glob("requirements/*.txt"))}
INSTALLERS = ("Makefile", "README.md", "tests/matrix.py", "book/forms/lite.py", "binder/postBuild")
PIN = re.compile(r"([a-z0-9][\w.-]*)==([\w.+!]+)( ; [^#\n]+)?( --hash=sha256:[0-9a-f]{64})+")


def unlocked(text):
    """The lines of a list that leave open what is installed."""
    lines = re.sub(r" *\\\n *", " ", text).splitlines()
    return [line for line in lines if line and not PIN.fullmatch(line)]


def careless(text):
    """The commands that install from a list or by a version without a look at hashes, and do not say why."""
    installs = [line for line in text.splitlines() if "install" in line.partition("#")[0] and "pip" in line]
    return [
        line for line in installs if re.search(r"-r\b|==", line) and not re.search(r"--require-h|# no hash: \w", line)
    ]


def versions(text):
    return dict(match[:2] for match in PIN.findall(re.sub(r" *\\\n *", " ", text)))


@pytest.mark.parametrize("name", LISTS)
def test_each_pin_has_hashes_and_the_list_names_no_host(name):
    assert versions(LISTS[name]) and unlocked(LISTS[name]) == [] and "://" not in LISTS[name]


def test_each_list_is_that_of_a_group_and_names_all_that_the_group_does():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert groups.keys() == LISTS.keys()
    for name, group in groups.items():
        chosen = [re.match(r"[\w-]+", one)[0] for one in group if isinstance(one, str)]
        assert set(chosen) <= versions(LISTS[name]).keys(), name


def test_the_lists_agree_but_for_another_numpy_and_another_python():
    known = {}
    for name in LISTS.keys() - {"matrix", "lite-kernel"}:
        for package, version in versions(LISTS[name]).items():
            assert known.setdefault(package, version) == version, f"{name}: {package}"


@pytest.mark.parametrize("name", INSTALLERS)
def test_each_installation_looks_at_hashes_or_says_why_not(name):
    assert careless((ROOT / name).read_text("utf-8")) == []


def test_a_pin_without_a_hash_and_a_careless_installation_are_seen():
    pinned = LISTS["book"]
    assert unlocked(pinned + "tqdm==4.70.1\n") == ["tqdm==4.70.1"]
    for line in ("pip install -r a.txt", "python -m pip install uv==0.1", 'pip = ["pip", "install", "-q", "-r", LOCK]'):
        assert careless(line) == [line]
