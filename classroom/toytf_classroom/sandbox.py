"""Where a student's code runs: a process in bubblewrap that can read Python and NumPy, and nothing else.

`Bubblewrap` says how such a process is started, `Session` talks with it: one request, one reply, and
a limit for everything. What the sandbox cannot hold, the watch outside does: memory, processes and
processor time of all that was started, bytes that come out, and the time on the clock.

What is promised, and what remains to be seen inside, stands in ``book/pages/sandbox.md``. Besides: nothing bounds the
memory that the kernel itself uses, for a million empty files for example; other processors than x86-64 and 64-bit ARM
have no filter of system calls. And two programs that run at the same time can tell each other something by a page of a
library that both have in memory (futex), by the times of /dev/null, and, unless root started the grader, by using up
what the kernel grants one user. Right answers are outside, and each submission has inputs of its own.
"""

from __future__ import annotations

import compileall
import contextlib
import errno
import functools
import glob
import hashlib
import importlib.metadata
import importlib.util
import inspect
import os
import platform
import re
import selectors
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from toytf.byhand import expressions
from toytf.check import outcomes
from toytf_classroom import ClassroomError, frames

HERE = Path(__file__).parent
INSIDE = (HERE / "runner.py", HERE / "frames.py", Path(outcomes.__file__))  # of ours, this much is in a sandbox
FIRST_USER = 61184  # of the range that systemd keeps for users who exist only for a while
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
GRACE = 1.0  # seconds between asking a student's code to stop and ending its process
STARTING = 60.0  # seconds for Python and NumPy to start, on a machine that has much else to do
INSTALL = """The grader runs the code of strangers: to do so safely it needs bubblewrap 0.7 and Linux 5.14, or newer.
    Debian, Ubuntu:  sudo apt install bubblewrap
    Fedora:          sudo dnf install bubblewrap
Ubuntu 24.04 and newer forbid user namespaces to programs without an AppArmor profile: SECURITY.md has one for bwrap.
Inside a container, start the container with  --security-opt seccomp=unconfined
Windows and macOS have no bubblewrap: grade on a Linux machine, in WSL2, or in the container of book/sandbox.ipynb."""


class SandboxError(ClassroomError):
    """The sandbox itself does not work here; no student is to blame."""


class Failure(Exception):
    """A sandbox had to be ended: `kind` is slow, memory, processes, flood, ended or broken."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Limits:
    """What one submission may use; times in seconds of the processor, sizes in bytes."""

    cell: float = 20.0  # one code cell
    call: float = 10.0  # one call of an exercise's function
    total: float = 60.0
    clock: float = 2.0  # seconds on the clock for each of these: what sleeps ends too, what waits its turn goes on
    memory: int = 1 << 30  # of all its processes together
    processes: int = 32  # and threads, at the same time
    file: int = 16 << 20
    folder: int = 64 << 20  # all of its temporary folder
    files: int = 128  # open ones of one process
    output: int = 64 << 10  # of what it prints, how much is kept
    restarts: int = 8  # of the sandbox, after one had to be ended

    def first(self) -> Limits:
        """Those of a first try among others; who needs more gets all of it in a second try, alone."""
        return replace(self, total=self.total / 3)

    def longest(self) -> float:
        """Seconds on the clock that a try takes at most on a machine that starts a sandbox at once."""
        return self.total * self.clock + GRACE

    def rlimits(self) -> dict[str, int]:
        return {
            "RLIMIT_AS": self.memory,
            "RLIMIT_CPU": max(1, int(self.total) + 5),
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_FSIZE": self.file,
            "RLIMIT_NOFILE": self.files,
            "RLIMIT_CORE": 0,
        }


# ---------------------------------------------------------------- what is to be seen inside


@functools.cache  # to look through all names of files takes longer than to start a sandbox
def packages(names: tuple[str, ...]) -> dict[str, Path]:
    """Find the files of installed packages and of all that they need: name in site-packages -> where it is."""
    found: dict[str, Path] = {}
    todo, seen, asked = list(names), set(), set(map(_canonical, names))
    while todo:
        name = _canonical(todo.pop())
        if name in seen:
            continue
        if name in ("toytf", "toytf-classroom"):
            raise SandboxError(f"--allow: {name} holds the right functions; students' code must do without it")
        seen.add(name)
        try:
            one = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if name in asked:
                raise SandboxError(f"--allow: expected installed packages, got {name!r}") from None
            continue  # needed under some condition that does not hold here
        tops = {file.parts[0] for file in one.files or () if not file.is_absolute()} - {"..", "__pycache__", "bin"}
        found |= {top: Path(one.locate_file(top)) for top in tops if not top.endswith(".pth")}
        needs = (need.partition(";") for need in one.requires or ())
        todo += [re.match(r"[\w.-]+", need).group() for need, _, condition in needs if "extra" not in condition]
    return {top: place for top, place in sorted(found.items()) if place.exists()}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def default_packages() -> tuple[str, ...]:
    """NumPy, and matplotlib where it is installed."""
    return ("numpy", *(["matplotlib"] if importlib.util.find_spec("matplotlib") else []))


@functools.cache
def without_names(packages: tuple[Path, ...], seen_as: str) -> Path:
    """Make a folder that holds these packages, or find the one that was made before; `OSError` if there is no room.

    A compiled file (.pyc) names the folder in which it was compiled: that of the project, and mostly in it the name of
    the person who teaches. So the packages, and their dist-infos, are compiled anew as `seen_as`, what the folder is
    called where it is shown. It lies in the cache of the user who grades (``XDG_CACHE_HOME`` or ``~/.cache``), and may
    be deleted at any time.
    """
    about = [(place.name, str(place), place.stat().st_mtime_ns) for place in sorted(packages)]
    digest = hashlib.sha256(repr([seen_as, "compiled", importlib.util.MAGIC_NUMBER, about]).encode()).hexdigest()[:24]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toytf"
    folder = cache / f"packages-{digest}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    not_shown = shutil.ignore_patterns("direct_url.json", "__pycache__")  # the first says where a package came from
    with tempfile.TemporaryDirectory(dir=cache) as place:
        new = Path(place, "whole")
        new.mkdir()
        for package in packages:
            if package.is_dir():
                shutil.copytree(package, new / package.name, ignore=not_shown, copy_function=_copy)
            else:
                _copy(package, new / package.name)
        compileall.compile_dir(new, quiet=2, stripdir=str(new), prependdir=seen_as)
        for inside, _, _ in os.walk(new):
            os.chmod(inside, 0o755)  # another user reads it, if root grades
        try:
            os.rename(new, folder)
        except OSError:
            if not folder.is_dir():  # made by another grader meanwhile
                raise
    return folder


def _copy(path: str | Path, new: str | Path) -> None:
    try:
        os.link(os.path.realpath(path), new)
    except OSError:  # on another disk, or of another user
        shutil.copy2(path, new)


def _prefixes() -> list[str]:
    """Where the interpreter and its standard library are, without what is installed into them."""
    places = {os.path.realpath(place) for place in (sys.base_prefix, sys.base_exec_prefix)}
    return sorted(place for place in places if place != "/usr" and not place.startswith("/usr/"))


def _python() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _under(path: str, folders) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


# ---------------------------------------------------------------- what is forbidden inside

# Calls that no exercise needs: their numbers on x86-64 and on 64-bit ARM (None: not there).
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Memory that no limit counts.
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "msgget": (68, 186),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "io_setup": (206, 0),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # Other processes, namespaces, mounts, kernel modules, keys: deep into the kernel.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "userfaultfd": (323, 282),
    "perf_event_open": (298, 241), "bpf": (321, 280), "syslog": (103, 116),
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40),
    "umount2": (166, 39), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # What the machine is and how busy: load, memory, free space on its disks, how its clock is set.
    "sysinfo": (99, 179), "statfs": (137, 43), "fstatfs": (138, 44), "ustat": (136, None),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    # What two sandboxes could tell each other by a file that both may only read: a watch over it, whether it
    # is in the machine's memory, what has not been written yet.
    "inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262), "mincore": (27, 232),
    "preadv2": (327, 286), "fadvise64": (221, 223), "process_madvise": (440, 440), "sync": (162, 81),
    "syncfs": (306, 267),
    # Each sandbox stays on the core that it was given.
    "sched_setaffinity": (203, 122),
    # libc takes clone instead, whose flags the filter can see.
    "clone3": (435, 435),
}  # fmt: skip
_NEWEST = 449  # the first call of Linux 5.16; what it and later ones brought is not there, listmount for example

_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # of classic BPF
_NO_SUCH_CALL, _NO_SUCH_ARGUMENT, _NOT_DONE = _ERRNO | errno.ENOSYS, _ERRNO | errno.EINVAL, _ERRNO

# Calls that depend on one argument: which it is, how it is compared, the answers if one fits, the answer if none does.
# Locks are not taken, and it says that they are: by a lock on a file that both read one sandbox could hear of
# another, but sqlite3 wants one on a file of its own, where nobody else is.
_BY_ARGUMENT = {
    # A user namespace, in which one is root.
    "clone": ((56, 220), 0, _ANY_BIT, {0x10000000: _ERRNO | errno.EPERM}, _ALLOW),
    # UNIX, IPv4 and IPv6, which the empty network namespace holds; a virtual machine's line to its host (VSOCK) for
    # example it does not hold.
    "socket": ((41, 198), 0, _EQUAL, dict.fromkeys((1, 2, 10), _ALLOW), _ERRNO | errno.EAFNOSUPPORT),
    # FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FICLONE; no terminal, and nothing of the disk under a file.
    "ioctl": (
        (16, 29), 1, _EQUAL, dict.fromkeys((0x541B, 0x5421, 0x5450, 0x5451, 0x40049409), _ALLOW),
        _ERRNO | errno.ENOTTY,
    ),
    "flock": ((73, 32), 1, _EQUAL, {}, _NOT_DONE),
    # Limits of other processes, of process 1 too.
    "prlimit64": ((302, 261), 0, _EQUAL, {0: _ALLOW}, _ERRNO | errno.EPERM),
    # F_SETLK, F_SETLKW and those of open files. Then the questions about locks, leases, F_NOTIFY, larger pipes, and
    # the hints to the disk, which stay with a file.
    "fcntl": (
        (72, 25), 1, _EQUAL,
        dict.fromkeys((6, 7, 37, 38), _NOT_DONE)
        | dict.fromkeys((5, 36, 1024, 1025, 1026, 1031, 1035, 1036, 1037, 1038), _NO_SUCH_ARGUMENT),
        _ALLOW,
    ),
    # One copy of equal pages for all processes (MADV_MERGEABLE, PR_SET_MEMORY_MERGE); pages out (MADV_PAGEOUT).
    "madvise": ((28, 233), 2, _EQUAL, dict.fromkeys((12, 21), _NO_SUCH_ARGUMENT), _ALLOW),
    "prctl": ((157, 167), 0, _EQUAL, {67: _NO_SUCH_ARGUMENT}, _ALLOW),
}  # fmt: skip
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def seccomp(machine: str | None = None) -> bytes | None:
    """A filter for the kernel (classic BPF) that refuses those calls, or None on a processor that it does not know."""
    if (machine or platform.machine()) not in _MACHINES:
        return None
    column, arch = _MACHINES[machine or platform.machine()]

    def load(offset):
        return (_LOAD, 0, 0, offset)

    def step(compare, value, yes, no):
        return (compare, yes, no, value)

    def back(answer):
        return (_RETURN, 0, 0, answer)

    program = [load(4), step(_EQUAL, arch, 1, 0), back(_KILL), load(0)]
    program += [step(_AT_LEAST, _NEWEST, 0, 1), back(_NO_SUCH_CALL)]  # the other numbering of x86-64 too
    for numbers in _REFUSED.values():
        if numbers[column] is not None:
            program += [step(_EQUAL, numbers[column], 0, 1), back(_NO_SUCH_CALL)]
    for numbers, argument, compare, answers, otherwise in _BY_ARGUMENT.values():
        asked = [load(16 + 8 * argument)]
        for value, answer in answers.items():
            asked += [step(compare, value, 0, 1), back(answer)]
        asked += [back(otherwise)]
        program += [step(_EQUAL, numbers[column], 0, len(asked)), *asked]
    program += [back(_ALLOW)]
    return b"".join(struct.pack("<HBBI", *one) for one in program)


# ---------------------------------------------------------------- how it is started


@dataclass
class Bubblewrap:
    """A process without network, with a read-only system, and without any privilege."""

    allow: tuple[str, ...] = field(default_factory=default_packages)  # packages to import, with what these need
    hide: tuple[str, ...] = ()  # folders that must not be seen, should they lie in one that is
    worker: int = 0  # two at work at the same time have different ones: started by root, each is a user of its own

    def __post_init__(self):
        self.site = dict(packages(self.allow))

    def check(self) -> None:
        """Start a sandbox and have it answer once; `SandboxError` says what to do, if bubblewrap does not work here."""
        if sys.platform != "linux" or shutil.which("bwrap") is None:
            raise SandboxError(f"bubblewrap (the command bwrap) was not found.\n{INSTALL}")
        try:
            Session(self, Limits()).close()
        except SandboxError as error:
            raise SandboxError(f"bubblewrap does not work here: {error}\n{INSTALL}") from None

    def namespaces(self) -> list[str]:
        """Nothing of the machine is shared: no network, no processes, no users."""
        kinds = "user ipc pid net uts cgroup-try".split()
        return [
            *(f"--unshare-{kind}" for kind in kinds),
            *["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
            *["--hostname", "sandbox", "--uid", "1000", "--gid", "1000"],
        ]

    def system(self, limits: Limits) -> list[tuple[str, ...]]:
        """What is to be seen: options of bwrap, one tuple each; a source comes second."""
        seen: list[tuple[str, ...]] = [
            ("--size", str(limits.folder)),
            ("--tmpfs", "/tmp"),
            ("--ro-bind", "/usr", "/usr"),
        ]
        for place in ("/lib", "/lib32", "/lib64", "/libx32", "/bin"):
            if os.path.islink(place):
                seen.append(("--symlink", os.readlink(place), place))
            elif os.path.isdir(place):
                seen.append(("--ro-bind", place, place))
        for place in ("/etc/ld.so.cache", "/etc/alternatives"):
            seen.append(("--ro-bind-try", place, place))
        prefixes = _prefixes()
        seen += [("--ro-bind", place, place) for place in prefixes]
        masks = [place for place in ("/usr/share", "/usr/src", "/usr/local") if os.path.isdir(place)]
        if _under(_python(), ["/usr/local"]):
            masks.remove("/usr/local")
        for root in ["/usr", "/usr/local", *prefixes]:
            masks += glob.glob(f"{root}/lib*/python3*/*-packages")
        shown = ["/usr", *prefixes]
        masks += [place for place in map(os.path.realpath, self.hide) if _under(place, shown) and os.path.isdir(place)]
        masks = sorted({os.path.realpath(place) for place in masks})
        for place in masks:
            if not _under(place, [other for other in masks if other != place]):
                seen += [("--tmpfs", place), ("--remount-ro", place)]
        seen += [("--ro-bind", str(path), f"/grader/{path.name}") for path in INSIDE]
        seen += [("--ro-bind", str(self.packages()), "/site")]
        # No /proc, which tells much about the machine, and no terminals, of which it has so many and no more.
        seen += [("--dev-bind", place, place) for place in DEVICES]
        seen += [("--size", str(limits.folder)), ("--tmpfs", "/dev/shm")]
        seen += [("--remount-ro", "/"), ("--chdir", "/tmp")]
        return seen

    def packages(self) -> Path:
        """The folder of packages that is shown."""
        try:
            return without_names(tuple(self.site.values()), "/site")
        except OSError as error:
            raise SandboxError(f"a folder for the packages cannot be made: {error}; XDG_CACHE_HOME moves it") from error

    def environment(self) -> dict[str, str]:
        """All that is in the environment inside."""
        inside = {
            "PATH": "/nothing", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": "/tmp/matplotlib",
        }  # fmt: skip
        if sysconfig.get_config_var("Py_ENABLE_SHARED") and _prefixes():
            inside["LD_LIBRARY_PATH"] = ":".join(f"{place}/lib" for place in _prefixes())
        return inside

    def command(self, limits: Limits, user: int | None, filter_file: int | None) -> list[str]:
        """The whole command line; `user` is whom root becomes first."""
        system, outer = self.system(limits), []
        if user is not None:
            # Another user may not walk through root's folders: root shows them in a place of their own first.
            # A process namespace here too, since a process that changes its user forgets to die with its parent.
            outer = ["bwrap", "--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--tmpfs", "/tmp"]
            outer += ["--perms", "0755", "--dir", "/tmp/seen"]
            for i, (option, *rest) in enumerate(system):
                if option in ("--ro-bind", "--bind") and not _under(rest[0], ["/usr", "/lib", "/lib64", "/lib32"]):
                    outer += [option, rest[0], f"/tmp/seen/{i}"]
                    system[i] = (option, f"/tmp/seen/{i}", rest[1])
            outer += ["--", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
            outer += ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]
        inner = ["bwrap", *self.namespaces(), *(word for option in system for word in option)]
        for name, value in self.environment().items():
            inner += ["--setenv", name, value]
        if filter_file is not None:
            inner += ["--seccomp", str(filter_file)]
        return [*outer, *inner, "--", _python(), "-s", "-S", "-P", "-B", "/grader/runner.py", "/site"]

    def filter(self) -> bytes | None:
        return seccomp()

    def start(self, limits: Limits) -> subprocess.Popen:
        """Start the runner; requests go to its stdin, replies come from stdout, what is printed from stderr."""
        user = FIRST_USER + self.worker if os.geteuid() == 0 else None
        program, read_end = self.filter(), None
        try:
            if program is not None:
                read_end, write_end = os.pipe()
                with open(write_end, "wb") as file:
                    file.write(program)
            for place in DEVICES:  # every user may set their times, and so leave a note for the next sandbox
                with contextlib.suppress(OSError):
                    os.utime(place)
            return _popen(self.command(limits, user, read_end), [] if read_end is None else [read_end])
        except OSError as error:
            raise SandboxError(str(error)) from error
        finally:
            if read_end is not None:
                os.close(read_end)


def _popen(command: list[str], passed: list[int]) -> subprocess.Popen:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    # Inside, bwrap itself is process 1. Its environment is as empty as the one inside.
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.Popen(command, **pipes, pass_fds=passed, start_new_session=True, env=environment, cwd="/")


# ---------------------------------------------------------------- what it uses


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        for listing in glob.glob(f"/proc/{found[-1]}/task/*/children"):
            with contextlib.suppress(OSError), open(listing) as file:
                todo += [int(child) for child in file.read().split()]
    return found


def usage(pids: list[int]) -> tuple[int, int]:
    """How many threads these processes have, and how many bytes of memory that is no file."""
    threads = memory = 0
    for pid in pids:
        # A process may give itself any name, one that is no text too.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            said = dict(line.split(":", 1) for line in file if ":" in line)
            threads += int(said.get("Threads", "1"))
            memory += 1024 * sum(int(said[name].split()[0]) for name in ("RssAnon", "RssShmem") if name in said)
    return threads, memory


def processor_seconds(pids: list[int]) -> float:
    """How long these processes, and those of their children that have ended, were at work on a processor."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(int(n) for n in file.read().rpartition(b")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------- talking with it


@dataclass(frozen=True)
class Reply:
    """A reply that has the right form; whether its contents are right is another question."""

    header: dict
    body: bytes

    def arrays(self):
        return frames.read_arrays(self.header.get("arrays"), self.body)

    def text(self, name: str, most: int = 2100) -> str:
        """A text of the header, cut; "" if it is none."""
        value = self.header.get(name)
        return value[:most] if isinstance(value, str) else ""


class Session:
    """One sandbox, from its start to its end; `SandboxError` if it does not start."""

    def __init__(self, sandbox: Bubblewrap, limits: Limits):
        self.limits = limits
        self.process = sandbox.start(limits)
        self.count = 0
        self.came = bytearray()  # replies
        self.printed = bytearray()  # since it was last taken
        self.kept = self.dropped = 0
        self.starting = self.most_used = 0.0
        self.pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        for pipe in self.pipes:
            os.set_blocking(pipe.fileno(), False)
        try:
            first = {"do": "start", "rlimits": limits.rlimits(), "fmt": fmt_source()}
            self.request(first, seconds=STARTING, clock=STARTING)
        except Failure as failure:
            said = bytes(self.printed).decode("utf-8", "replace").strip()
            self.close()
            raise SandboxError(said or str(failure)) from None
        except BaseException:
            self.close()
            raise
        self.starting, self.most_used = self.used(), 0.0  # what Python and NumPy took to start is nobody's time

    def used(self) -> float:
        """Seconds of the processor that the student's code has used so far."""
        self.most_used = max(self.most_used, processor_seconds(family(self.process.pid)) - self.starting)
        return self.most_used  # also of what has ended and left no trace

    # ---- requests

    def request(self, header: dict, arrays=(), *, seconds: float, clock: float) -> Reply:
        """Ask once and wait for the answer: so many seconds on the processor and on the clock.

        Inside it is asked to stop then; a moment later all of it is ended, and `Failure` is raised. The session is of
        no use afterwards.
        """
        self.count += 1
        waiting = memoryview(frames.pack({"n": self.count, "seconds": seconds, "clock": clock, **header}, arrays))
        now, most = time.monotonic(), self.used() + seconds + GRACE
        until, watch_next = now + clock + GRACE, now + 0.1
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdin, selectors.EVENT_WRITE)
            selector.register(self.process.stdout, selectors.EVENT_READ)
            selector.register(self.process.stderr, selectors.EVENT_READ)
            while (now := time.monotonic()) <= until:
                if now > watch_next:
                    self._watch()
                    if self.used() > most:
                        raise Failure("slow", f"did not stop within {lasting(seconds)} of processor time")
                    watch_next = time.monotonic() + 0.1
                ready = {key.fileobj for key, _ in selector.select(timeout=max(0.0, min(0.1, until - now)))}
                if self.process.stdin in ready:
                    waiting = self._write(waiting)
                    if not waiting:
                        selector.unregister(self.process.stdin)
                if self.process.stderr in ready and not self._hear():
                    selector.unregister(self.process.stderr)
                if self.process.stdout in ready and (reply := self._read()) is not None:
                    self._drain()
                    return reply
        raise Failure("slow", f"did not stop within {lasting(clock)} on the clock")

    def _write(self, waiting: memoryview) -> memoryview:
        try:
            return waiting[os.write(self.process.stdin.fileno(), waiting) :]
        except BlockingIOError:
            return waiting
        except OSError:
            return waiting[:0]  # it is gone; reading says how

    def _read(self) -> Reply | None:
        try:
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
        except BlockingIOError:
            return None
        if not piece:
            self._drain()
            raise Failure("ended", "ended the whole Python process")
        self.came += piece
        try:
            if (whole := frames.first(self.came)) is None:
                return None
            header, body, size = whole
            del self.came[:size]
            if header.get("n") != self.count or type(header.get("n")) is not int:
                raise frames.Malformed("an answer to another question")
        except frames.Malformed as error:
            raise Failure("broken", f"disturbed the line to the grader ({error})") from None
        return Reply(header, body)

    # ---- what it prints

    def _hear(self) -> bool:
        try:
            piece = os.read(self.process.stderr.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        room = max(0, self.limits.output - self.kept)
        self.printed += piece[:room]
        self.kept += len(piece[:room])
        self.dropped += len(piece[room:])
        if self.dropped > 1000 * self.limits.output:
            raise Failure("flood", f"printed more than {self.dropped >> 20} MB")
        return bool(piece)

    def _drain(self) -> None:
        """Take what was printed before the reply; what a thread prints meanwhile may go on."""
        for _ in range(64):
            before = self.kept + self.dropped
            if not self._hear() or self.kept + self.dropped == before:
                return

    def take_printed(self) -> str:
        """What was printed since this was last asked, with a word if something was cut."""
        text = bytes(self.printed).decode("utf-8", "replace")
        self.printed.clear()
        if self.dropped:
            text += f"\n... (cut: more than {self.limits.output >> 10} KB)"
            self.dropped = 0
        return text

    # ---- limits

    def _watch(self) -> None:
        threads, memory = usage(family(self.process.pid))
        if memory > self.limits.memory:
            raise Failure("memory", f"used more than {self.limits.memory >> 20} MB of memory")
        if threads > self.limits.processes + 8:  # bwrap's own are among them
            raise Failure("processes", f"started more than {self.limits.processes} processes")

    def close(self) -> None:
        """End it and everything that it started."""
        self.process.kill()  # bwrap's whole process namespace ends with it
        self.process.wait()
        for pipe in self.pipes:
            with contextlib.suppress(OSError):
                pipe.close()


def lasting(seconds: float) -> str:
    """How long, in words: "1 second", "2.5 seconds"."""
    return f"{seconds:.3g} second{'s'[: seconds != 1]}"


def fmt_source() -> str:
    """The text of `toytf.byhand.fmt`, the one function of toytf that a notebook finds inside."""
    return "\n".join(inspect.getsource(f) for f in (expressions.fmt, expressions._nest, expressions.fixed))
