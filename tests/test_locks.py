"""What is installed is what was locked: each pin has the hashes of its files, or a comment that says why not."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
LISTS = sorted(ROOT.glob("requirements/*.txt"))
INSTALLERS = {
    "Makefile": MAKEFILE,
    ".ci/run": (ROOT / ".ci" / "run").read_text("utf-8"),
    "README.md": (ROOT / "README.md").read_text("utf-8"),
    "tests/matrix.py": (ROOT / "tests" / "matrix.py").read_text("utf-8"),
}
PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.+!]+)(?P<marker> ;[^#]*?)?(?P<hashes>( --hash=\S+)*)")
HASH = re.compile(r" --hash=sha256:[0-9a-f]{64}")


def pins(text):
    """Each requirement of a list in one line, with the comment right above it."""
    comment = ""
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        if line.startswith("#"):
            comment = f"{comment} {line[1:].strip()}".strip()
        else:
            if line.strip():
                yield line, comment
            comment = ""


def loose(text):
    """The requirements of a list that leave open what is installed, and do not say why."""
    found = []
    for line, comment in pins(text):
        pin = PIN.fullmatch(line)
        hashed = pin and pin["hashes"] and not HASH.sub("", pin["hashes"])
        excused = pin and not pin["hashes"] and comment.startswith("No hash: ")
        if not (hashed or excused):
            found.append(line)
    return found


def careless(text):
    """The commands that install something from elsewhere without a look at its hash, and do not say why."""
    return [
        line.strip()
        for line in text.splitlines()
        if re.search(r"\binstall\b.* -r\b|\bpip\b\W+install\b", line.partition("#")[0])
        and not re.search(
            r"--require-hashes\b|--no-deps --no-build-isolation( -e (\.|classroom))+$|# no hash: \w", line
        )
    ]


def versions(path):
    return {pin["name"]: pin["version"] for line, _ in pins(path.read_text("utf-8")) if (pin := PIN.fullmatch(line))}


# ---------------------------------------------------------------- the lists


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_each_pin_has_hashes_or_a_reason_and_the_list_names_no_host(path):
    text = path.read_text("utf-8")
    assert versions(path)
    assert loose(text) == []
    assert "://" not in text


HASHED = f"numpy==2.4.6 \\\n    --hash=sha256:{'0a' * 32}\n"


@pytest.mark.parametrize(
    "fault",
    [
        "tqdm==4.70.1\n",
        "# From the index.\ntqdm==4.70.1\n",
        "# No hash: for another one.\n" + HASHED + "tqdm==4.70.1\n",
        "# No hash: for nothing.\n\ntqdm==4.70.1\n",
        "tqdm==4.70.1 ; sys_platform == 'win32'\n",
        f"tqdm==4.70.1 --hash=sha256:{'0a' * 31}\n",
        f"tqdm==4.70.1 --hash=md5:{'0a' * 16}\n",
        f"tqdm>=4.70.1 --hash=sha256:{'0a' * 32}\n",
        "# No hash: any will do.\ntqdm\n",
        "-r other.txt\n",
        "--extra-index-url elsewhere\n",
    ],
)
def test_a_loose_requirement_is_found(fault):
    assert loose(HASHED) == []
    assert len(loose(HASHED + fault + HASHED)) == 1


def test_torch_alone_has_no_hash():
    unhashed = [line for path in LISTS for line, _ in pins(path.read_text("utf-8")) if "--hash=" not in line]
    assert [line.partition("==")[0] for line in unhashed] == ["torch"]


def test_the_lists_agree_on_every_version():
    """All but that of the matrix, which is there for an older NumPy, and that of the browser, for Pyodide's Python."""
    known = {}
    for path in LISTS:
        if path.stem not in ("matrix", "lite-kernel"):
            for name, version in versions(path).items():
                assert known.setdefault(name, version) == version, f"{path}: {name}"


def test_what_only_a_build_for_cuda_needs_is_for_linux_and_in_a_list_of_its_own():
    """If this fails after `make lock`, torch needs something more on every machine: name it in torch.in."""
    of_cuda = ROOT / "requirements" / "torch-cuda.txt"
    assert all("sys_platform == 'linux'" in line for line, _ in pins(of_cuda.read_text("utf-8")))
    assert not versions(of_cuda).keys() & versions(ROOT / "requirements" / "torch.txt").keys()


def test_make_lock_makes_every_list():
    recipe = MAKEFILE.partition("\nlock:")[2].partition("\n\n")[0]
    together = re.search(r"^LISTS := (.*)$", MAKEFILE, re.M)[1].split()
    for chosen in ROOT.glob("requirements/*.in"):
        assert chosen.stem in together or f"requirements/{chosen.name}" in recipe
    for path in LISTS:
        name = path.relative_to(ROOT).as_posix()
        assert path.stem in together or f"-o {name}" in recipe or path.stem == "torch-itself"


# ---------------------------------------------------------------- those who install them


@pytest.mark.parametrize("name", [name for name in INSTALLERS if name != "README.md"])
def test_each_installation_looks_at_hashes_or_says_why_not(name):
    assert careless(INSTALLERS[name]) == []


def test_the_readme_installs_every_list_with_its_hashes():
    assert [line for line in careless(INSTALLERS["README.md"]) if " -r " in line] == []


def test_what_installs_something_is_seen():
    seen = {name: len(careless(text.replace("--require-hashes", ""))) for name, text in INSTALLERS.items()}
    assert seen.pop("Makefile") >= 4
    assert seen.pop(".ci/run") == 0  # it leaves all of that to make
    assert min(seen.values()) >= 1


@pytest.mark.parametrize(
    "fault",
    [
        "\t$(BIN)/python -m pip install -r $<",
        "\t$(BIN)/python -m pip install uv==0.13.9",
        "\t$(BIN)/python -m pip install -q numpy  # --hash would be better",
        "\t$(BIN)/python -m pip install -e .",
        "\t$(BIN)/python -m pip install --no-deps --no-build-isolation -e . numpy",
        "\t$(PIP) install -r requirements/book.txt",
        '    pip = [python, "-m", "pip", "install", "-q", "-r", str(LOCK)]',
    ],
)
def test_a_careless_installation_is_found(fault):
    assert careless(f"{MAKEFILE}\n{fault}\n") == [fault.strip()]


def test_every_list_that_is_named_is_held_here():
    for text in INSTALLERS.values():
        for folder, name in re.findall(r"(requirements|source)[/\\]([\w%*-]+\.txt)", text):
            if folder == "requirements" and not set("%*") & set(name):
                assert ROOT / "requirements" / name in LISTS
            else:
                assert name in ("%.txt", "*.txt", "torch*.txt")
