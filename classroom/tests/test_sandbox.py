"""What the sandbox promises of its neighbours and of the machine: nobody hears of another, nothing names the place."""

import ctypes
import importlib.machinery
import importlib.util
import marshal
import os
import platform
import re
import struct
import sys
import time
from pathlib import Path

import pytest

import gradecheck
from gradecheck import SMALL, Weak
from toytf_classroom import sandbox

pytest.importorskip("fcntl", reason="the grader's sandbox is bubblewrap, which needs Linux")

# ---------------------------------------------------------------- two at the same time, and one after the other

CHANNELS = gradecheck.cells_of("channels.txt")


def run(session, source):
    session.request({"do": "cell", "number": 1, "source": source}, seconds=5, clock=300)
    return session.take_printed()


def talk(box, cells):
    """What two sandboxes print that are there at the same time; the cells run in one and the other by turns."""
    sessions = []
    try:
        sessions += [sandbox.Session(box, SMALL) for _ in range(2)]
        return "\n".join(run(sessions[i % 2], cell) for i, cell in enumerate(cells))
    finally:
        for session in sessions:
            session.close()


@pytest.fixture(scope="module")
def keyring():
    """A ring of keys that all that is started from here has in common, as after a login."""
    return ctypes.CDLL(None).syscall({"x86_64": 250, "aarch64": 219}.get(platform.machine(), -1), 1, None) > 0


@pytest.mark.usefixtures("keyring")
@pytest.mark.parametrize("name", CHANNELS)
def test_two_sandboxes_at_the_same_time_do_not_hear_of_each_other(box, name):
    assert "GOT" not in talk(box, CHANNELS[name])


@pytest.mark.parametrize("name", CHANNELS)
def test_a_sandbox_finds_nothing_of_the_one_before(box, name):
    printed = []
    for cell in CHANNELS[name][:2]:
        session = sandbox.Session(box, SMALL)
        printed.append(run(session, cell))
        session.close()
    assert "GOT" not in "\n".join(printed)


def without(*names):
    return {"namespaces": lambda options: [option for option in options if option not in names]}


# What has to be taken away for the two to hear of each other: calls that the filter refuses, and more.
CLOSED_BY = {
    "lock": (["flock"], {}),
    "lock_of_a_part": (["fcntl"], {}),
    "watch_over_a_file": (["inotify_init1"], {}),
    "abstract_socket": ([], without("--unshare-net")),
    "shared_memory": (["shmget", "shmctl"], without("--unshare-ipc")),
    "keyring": (["add_key", "keyctl"], {}),
}


@pytest.mark.parametrize("name", CLOSED_BY)
def test_with_its_protection_taken_away_a_channel_is_open(box, keyring, monkeypatch, name):
    if name == "keyring" and not keyring:
        pytest.skip("there are no keyrings here")
    calls, how = CLOSED_BY[name]
    for call in calls:
        monkeypatch.delitem(sandbox._REFUSED if call in sandbox._REFUSED else sandbox._BY_ARGUMENT, call)
    assert "GOT" in talk(Weak(**how), CHANNELS[name])


NOTE = "import os\n{}\nprint(os.stat('/dev/null').st_mtime_ns)"


def test_a_note_left_in_the_times_of_a_device_is_gone_for_the_next(box):
    said = []
    for leaves in ("os.utime('/dev/null')", ""):
        session = sandbox.Session(box, SMALL)
        said.append(int(run(session, NOTE.format(leaves))))
        session.close()
        time.sleep(0.1)  # such times go in steps of some milliseconds
    assert said[1] > said[0]


# ---------------------------------------------------------------- the filter of system calls

HEADERS = {
    "x86_64": ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"],
    "aarch64": ["/usr/include/asm-generic/unistd.h"],  # 64-bit ARM has the numbers that most processors share
}
MACHINES = list(HEADERS)


def numbers(machine):
    """The kernel's own list of calls, where its headers are installed."""
    header = next((Path(path) for path in HEADERS[machine] if os.path.exists(path)), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed (on Debian: apt install linux-libc-dev)")
    return {
        name: int(number)
        for name, number in re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(), re.MULTILINE)
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_s_calls_have_the_numbers_of_the_kernel_s_own_list(machine):
    known, column = numbers(machine), MACHINES.index(machine)
    tables = {**sandbox._REFUSED, **{name: row[0] for name, row in sandbox._BY_ARGUMENT.items()}}
    for name, of_each in tables.items():
        assert of_each[column] == known.get(name), name
    assert known["futex_waitv"] == sandbox._NEWEST


def test_a_processor_that_it_does_not_know_has_no_filter():
    assert [len(sandbox.seccomp(machine) or "") % 8 for machine in (*MACHINES, "vax")] == [0, 0, 0]
    assert sandbox.seccomp("vax") is None


# ---------------------------------------------------------------- packages that name nobody


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package as an installer leaves it: a source, what was compiled from it, and where it came from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = tmp_path / "home" / "anna.teacher" / "things"
    (package / "inner" / "__pycache__").mkdir(parents=True)
    (package / "direct_url.json").write_text(f'{{"url": "file://{package}"}}')
    source = package / "inner" / "one.py"
    source.write_text("def outer():\n    return lambda: 1 / 0\n")
    code = compile(source.read_text(), str(source), "exec")
    head = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(source.stat().st_mtime), source.stat().st_size)
    Path(importlib.util.cache_from_source(source)).write_bytes(head + marshal.dumps(code))
    (package / "inner" / "__pycache__" / "old.cpython-27.pyc").write_bytes(b"\x03\xf3\r\n" + bytes(40))
    return package


def test_a_shown_package_names_no_place_and_its_compiled_files_are_used(installed, tmp_path, monkeypatch):
    shown = sandbox.without_names((installed,), "/site")
    files = [path for path in shown.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == sorted(["one.py", f"one.{sys.implementation.cache_tag}.pyc"])
    assert not any(b"anna" in path.read_bytes() for path in files)
    source = shown / "things" / "inner" / "one.py"
    assert source.read_bytes() == (installed / "inner" / "one.py").read_bytes()
    loader = importlib.machinery.SourceFileLoader("one", str(source))
    monkeypatch.setattr(loader, "source_to_code", lambda *a, **k: pytest.fail("compiled again"))
    assert loader.get_code("one").co_filename == str(source)  # Python puts in what it is called there


def test_without_room_for_the_packages_the_trouble_is_named(installed, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("no folder")
    box = sandbox.Bubblewrap()
    box.site = {"things": installed}
    with pytest.raises(sandbox.SandboxError, match="folder for the packages cannot be made.*XDG_CACHE_HOME"):
        box.system(SMALL)
