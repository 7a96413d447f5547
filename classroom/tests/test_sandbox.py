"""What the sandbox promises of its neighbours and of the machine: nobody hears of another, nothing names the place."""

import ctypes
import errno
import importlib.machinery
import importlib.util
import marshal
import mmap
import os
import platform
import re
import socket
import struct
import sys
import time
from pathlib import Path

import pytest

import gradecheck
from gradecheck import SMALL, Weak
from toytf_classroom import sandbox
from toytf_classroom.anonymous import without_names

fcntl = pytest.importorskip("fcntl", reason="the grader's sandbox is bubblewrap, which needs Linux")
termios = pytest.importorskip("termios")

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
    "port": ([], without("--unshare-net")),
    "message_queue": ([], without("--unshare-ipc")),
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


def test_with_one_folder_for_both_a_file_is_found(box, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)

    def one_for_all(options):
        return [("--bind", str(shared), "/tmp") if option == ("--tmpfs", "/tmp") else option for option in options]

    weak = Weak(system=lambda options: one_for_all(options)[1:])  # --size is for a tmpfs
    assert "GOT /tmp" in talk(weak, CHANNELS["file"])


LEAVES_A_NOTE = """import os
os.utime('/dev/null')
print(os.stat('/dev/null').st_mtime_ns)"""
READS_IT = "import os\nprint(os.stat('/dev/null').st_mtime_ns)"


def note_and_what_the_next_reads(box):
    said = []
    for source in (LEAVES_A_NOTE, READS_IT):
        session = sandbox.Session(box, SMALL)
        said.append(int(run(session, source)))
        session.close()
        time.sleep(0.1)  # such times go in steps of some milliseconds
    return said


def test_a_note_left_in_the_times_of_a_device_is_gone_for_the_next(box, monkeypatch):
    left, read = note_and_what_the_next_reads(box)
    assert read > left
    monkeypatch.setattr(sandbox, "_wipe_devices", lambda: None)
    for _ in range(20):  # another grader at work on this machine wipes them too
        left, read = note_and_what_the_next_reads(box)
        if read == left:
            break
    assert read == left


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


def test_the_filter_s_arguments_are_those_of_python_s_modules():
    rows = {name: row[3] for name, row in sandbox._BY_ARGUMENT.items()}
    assert set(rows["socket"]) == {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6}
    assert {termios.FIONREAD, termios.FIONBIO, termios.FIONCLEX, termios.FIOCLEX} < set(rows["ioctl"])
    names = "GETLK SETLK SETLKW OFD_GETLK OFD_SETLK OFD_SETLKW SETLEASE GETLEASE NOTIFY".split()
    assert {getattr(fcntl, f"F_{name}") for name in names} < set(rows["fcntl"])
    assert mmap.MADV_MERGEABLE in rows["madvise"]


def answer(machine, number, *arguments):
    """What the filter says to a call: run as the kernel would run it."""
    code = sandbox.seccomp(machine)
    program = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    arch = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    at = value = 0
    while True:
        operation, yes, no, constant = program[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("<I", data, constant)
        elif operation == 0x06:
            return "allowed" if constant == 0x7FFF0000 else errno.errorcode.get(constant & 0xFFFF, "done")
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[operation]
            at += yes if holds else no


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_answers_each_call_as_it_says(machine):
    column = MACHINES.index(machine)
    for name, of_each in sandbox._REFUSED.items():
        if of_each[column] is not None:
            assert answer(machine, of_each[column]) == "ENOSYS", name
    expected = {
        "clone": {(0x01200011,): "allowed", (0x003D0F00,): "allowed", (0x10000011,): "EPERM"},
        "socket": {(1,): "allowed", (2,): "allowed", (10,): "allowed", (16,): "EAFNOSUPPORT", (40,): "EAFNOSUPPORT"},
        "ioctl": {(3, 0x541B): "allowed", (3, 0x40049409): "allowed", (3, 0x5412): "ENOTTY", (3, 0x5401): "ENOTTY"},
        "fcntl": {
            (3, 1): "allowed",
            (3, 1030): "allowed",
            (3, 5): "EINVAL",
            (3, 6): "done",
            (3, 1024): "EINVAL",
            (6, 2): "allowed",
        },
        "flock": {(3, 2): "done", (3, 8): "done"},
        "madvise": {(12, 4096, 4): "allowed", (0, 12, 14): "allowed", (0, 4096, 12): "EINVAL"},
        "prctl": {(15,): "allowed", (67, 1): "EINVAL"},
    }
    assert set(expected) == set(sandbox._BY_ARGUMENT)
    for name, cases in expected.items():
        for arguments, says in cases.items():
            assert answer(machine, sandbox._BY_ARGUMENT[name][0][column], *arguments) == says, (name, arguments)
    assert {answer(machine, number) for number in (449, 457, 458, 1000, 0x40000000 + 73)} == {"ENOSYS"}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_lets_all_other_calls_through(machine):
    known = numbers(machine)
    for name in "read write openat mmap munmap futex execve exit_group wait4 getrandom sched_getaffinity uname".split():
        assert answer(machine, known[name]) == "allowed", name


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
    (package / "inner" / "__pycache__" / f"bad.{sys.implementation.cache_tag}.pyc").write_bytes(head + b"\xff")
    return package


def test_no_file_of_a_shown_package_names_the_place_where_it_is_installed(installed, tmp_path):
    shown = without_names((installed,), "/site")
    files = [path for path in shown.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == sorted(["one.py", f"one.{sys.implementation.cache_tag}.pyc"])
    assert not any(b"anna" in path.read_bytes() for path in files)


def test_a_shown_package_is_as_it_was_and_its_compiled_files_are_used(installed, tmp_path, monkeypatch):
    shown = without_names((installed,), "/site")
    source = shown / "things" / "inner" / "one.py"
    assert source.read_bytes() == (installed / "inner" / "one.py").read_bytes()
    assert source.stat().st_mtime_ns == (installed / "inner" / "one.py").stat().st_mtime_ns
    loader = importlib.machinery.SourceFileLoader("one", str(source))
    monkeypatch.setattr(loader, "source_to_code", lambda *a, **k: pytest.fail("compiled again"))
    code = loader.get_code("one")
    inner = next(one for one in code.co_consts if hasattr(one, "co_filename"))
    assert {code.co_filename, inner.co_filename} == {str(source)}  # Python puts in what it is called there


def test_without_room_for_the_packages_the_trouble_is_named(installed, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("no folder")
    box = sandbox.Bubblewrap()
    box.site = {"things": installed}
    with pytest.raises(sandbox.SandboxError, match="folder for the packages cannot be made.*XDG_CACHE_HOME"):
        box.system(SMALL)
