"""Runs a student's notebook; this is the side of the grader that lives in the sandbox.

The grader outside starts this file with the sandbox's Python, sends one request at a time
(`frames`), and reads one reply to each: arrays, never objects. Whatever a student's code does to
this process, to NumPy or to Python, it can spoil that student's own replies and nothing else: right
answers and comparisons are outside. Standard library and NumPy only; `toytf` is not there, but for
`toytf.check.outcomes`, a copy of which lies beside this file. A few lines here stand in for the rest.
"""

import __future__

import ast
import builtins
import contextlib
import linecache
import os
import re
import resource
import signal
import sys
import traceback
import types

HELP = re.compile(r"^\s*\?|\?\s*$")
MAGIC = re.compile(r"^(\s*)(%|!|[\w, ]+=\s*[!%])")
CELL_MAGIC = re.compile(r"\A\s*%%(\w+)[^\n]*")
FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
RUNS_PYTHON = {"time", "timeit", "capture", "prun"}  # cell magics whose cell is Python all the same


class TimeUp(BaseException):
    """Raised in a student's code when its time is over: ``args[0]`` says by which clock."""


# ---------------------------------------------------------------- what stands in for other packages


class Shown:
    """Whatever is called in place of a checker or a picture: accepts anything and is true."""

    def __init__(self, *args, says: str = "", **kwargs):
        self.says = says

    def __call__(self, *args, **kwargs):
        if self.says:
            print(self.says)
        return self

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __repr__(self):
        return self.says or "<shown>"


def _module(name: str, answer=None, **contents) -> types.ModuleType:
    module = types.ModuleType(name)

    def getattribute(wanted):
        if wanted.startswith("_") or answer is None:
            raise AttributeError(f"{name}.{wanted} is not there while the grader runs")
        return answer(wanted)

    module.__dict__.update(contents, __getattr__=getattribute, __all__=list(contents))
    sys.modules[name] = module
    return module


def stand_ins(fmt_source: str, numpy) -> dict:
    """Put modules in place of `toytf` and of IPython's display; return names that a notebook has of itself."""
    numbers = {"np": numpy}
    exec(compile(fmt_source, "<fmt>", "exec"), numbers)
    check = _module("toytf.check", lambda name: Shown(says=f"{name}: the grader checks this."))
    check.byhand = lambda exercise, *args, **kwargs: print(f"{exercise}: the grader checks this.")
    check.hide_answers = lambda *args, **kwargs: None
    byhand = _module("toytf.byhand", fmt=numbers["fmt"])
    _module("toytf", check=check, byhand=byhand)

    def display(*things, **how):
        for thing in things:
            print(thing)

    shown = _module("IPython.display", lambda name: Shown, display=display, clear_output=lambda *a, **k: None)
    _module("IPython", lambda name: Shown(), display=shown, get_ipython=lambda: None, version_info=(99, 0))
    return {"display": display, "get_ipython": lambda: None}


# ---------------------------------------------------------------- cells


def plain_python(source: str) -> tuple[str, list[str]]:
    """Take out what only IPython understands; return the rest and the lines that went.

    >>> plain_python("%matplotlib inline\\nx = 1\\nx?")
    ('pass\\nx = 1\\npass', ['%matplotlib inline', 'x?'])
    """
    try:
        ast.parse(source)
        return source, []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    if source.lstrip().startswith(">>>"):
        source = re.sub(r"^([ \t]*)(>>>|\.\.\.)( |$)", r"\1", source, flags=re.MULTILINE)
    indent, dropped = re.match(r"\s*?([ \t]*)(?=\S|\Z)", source)[1], []  # of the first line, as IPython does
    source = re.sub(f"^{indent}", "", source, flags=re.MULTILINE)
    whole = CELL_MAGIC.match(source)
    if whole:
        dropped.append(whole.group().strip())
        if whole.group(1) not in RUNS_PYTHON:
            return "pass", dropped
        source = source[whole.end() :]
    lines = source.split("\n")
    for i, line in enumerate(lines):
        magic = MAGIC.match(line)
        if magic or HELP.search(line):
            dropped.append(line.strip())
            lines[i] = line[: len(line) - len(line.lstrip())] + "pass"
    return "\n".join(lines), dropped


def line_of(error: BaseException, name: str) -> int | None:
    """The line of a cell in which an error came up."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == name]
    return lines[-1] if lines else None


# ---------------------------------------------------------------- the loop


class Runner:
    """Answers requests about one notebook, one after the other."""

    def __init__(self, requests: int, replies: int):
        self.requests, self.replies = requests, replies
        self.space = types.ModuleType("__main__")
        self.said = sys.stdout
        self.process, self.getpid, self.leave = os.getpid(), os.getpid, os._exit

    def receive(self) -> tuple[dict, list]:
        came = bytearray()
        while (whole := self.frames.first(came)) is None:
            if self.getpid() != self.process:
                self.leave(0)  # a copy that a student's code made and that came back here
            piece = os.read(self.requests, 1 << 16)
            if not piece:
                self.leave(0)  # nobody is there any more
            came += piece
        header, body, _ = whole
        return header, self.frames.read_arrays(header["arrays"], body)

    def send(self, header: dict, arrays=()) -> None:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        with contextlib.suppress(Exception):
            self.said.flush()
        if self.getpid() != self.process:
            self.leave(0)
        message = self.frames.pack(header, arrays)
        while message:
            message = message[os.write(self.replies, message) :]

    def start(self) -> None:
        """The first request: limits, and what a notebook finds at hand."""
        here, site = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]
        sys.path[:] = [path for path in sys.path if path not in ("", here)]
        sys.path.append(site)
        sys.path.insert(0, here)
        import frames
        import numpy
        import outcomes

        sys.path.remove(here)
        with contextlib.suppress(Exception):  # it would ask how full /dev/shm is, which nobody is told here
            import multiprocessing.heap

            multiprocessing.heap.Arena._dir_candidates = []
        self.frames, self.outcomes, self.numpy = frames, outcomes, numpy
        self.asarray, self.errstate = numpy.asarray, numpy.errstate
        self.setitimer, self.signal = signal.setitimer, signal.signal
        request, _ = self.receive()
        for name, most in request["rlimits"].items():
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (most, most))
        self.space.__dict__.update(stand_ins(request["fmt"], numpy), __builtins__=builtins)
        self.own, sys.modules["__main__"] = sys.modules["__main__"], self.space
        os.environ.pop("LC_CTYPE", None)
        self.send({"n": request["n"], "kind": "ready"})

    def limited(self, function, request: dict):
        """Call a function for so long and no longer: ("ok", value), ("slow", which clock) or ("raised", error).

        It has so many seconds of the processor, and more on the clock: what sleeps has to end too, and
        what only waits for its turn on a busy machine shall not.
        """

        def stop(number, _):
            raise TimeUp("processor" if number == signal.SIGPROF else "clock")

        try:
            self.signal(signal.SIGPROF, stop)
            self.signal(signal.SIGALRM, stop)
            self.setitimer(signal.ITIMER_PROF, request["seconds"])
            self.setitimer(signal.ITIMER_REAL, request["clock"])
            try:
                return "ok", function()
            finally:
                self.setitimer(signal.ITIMER_PROF, 0)
                self.setitimer(signal.ITIMER_REAL, 0)
        except TimeUp as over:
            return "slow", over.args[0]
        except BaseException as error:  # SystemExit and KeyboardInterrupt too end a cell, not the notebook
            return "raised", error

    def run(self, source: str, name: str, lacks: list[str]) -> None:
        """Run a cell statement by statement; one that imports what is not here is left out, and said."""
        tree, flags = compile(source, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True), 0
        for node in tree.body:
            code = compile(ast.Module([node], []), name, "exec", flags, dont_inherit=True)
            flags |= code.co_flags & FUTURE
            try:
                exec(code, self.space.__dict__)
            except ImportError as error:
                if not isinstance(node, (ast.Import, ast.ImportFrom)):
                    raise
                lacks.append(self.outcomes.clip(f"{ast.unparse(node)} ({self.outcomes.describe(error)})"))

    def cell(self, request: dict) -> tuple[dict, list]:
        name = f"<code cell {request['number']}>"
        source, dropped = plain_python(request["source"])
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)

        lacks: list[str] = []
        kind, value = self.limited(lambda: self.run(source, name, lacks), request)
        reply = {"kind": kind, "dropped": [self.outcomes.clip(line) for line in dropped[:20]], "lacks": lacks[:20]}
        if kind == "slow":
            reply.update(clock=value)
        if kind == "raised":
            reply.update(text=self.outcomes.describe(value), line=line_of(value, name))
        return reply, []

    def call(self, request: dict, arrays: list) -> tuple[dict, list]:
        if request["name"] not in self.space.__dict__:
            return {"kind": "missing"}, []
        function = self.space.__dict__[request["name"]]
        if not callable(function):
            return {"kind": "not callable", "text": self.outcomes.clip(type(function).__name__)}, []
        given = self.frames.unpack_value(request["args"], arrays)

        def run():
            with self.errstate(all="ignore"):
                return self.outcomes.returned(function(*given), self.asarray)

        kind, value = self.limited(run, request)
        if kind == "slow":
            return {"kind": "too slow", "clock": value}, []
        if kind == "raised":
            kind, text = self.outcomes.raised(value)
            return {"kind": kind, "text": text}, []
        kind, results, text = value
        # Given: the arguments as they are now, for the grader to compare.
        reply = {"kind": kind, "text": text, "results": len(results), "given": []}
        for argument in given:
            try:
                text, parts = self.frames.pack_argument(argument)
            except Exception:  # it holds something now that is no data
                text, parts = None, []
            reply["given"].append([text, len(parts)])
            results = [*results, *parts]
        return reply, results

    def answers(self, request: dict) -> tuple[dict, list]:
        if request["name"] not in self.space.__dict__:
            return {"kind": "missing"}, []
        return self.outcomes.answered(self.space.__dict__[request["name"]], self.asarray)

    def serve(self) -> None:
        self.start()
        while True:
            request, arrays = self.receive()
            sys.stdout = sys.stderr = self.said
            try:
                if request["do"] == "cell":
                    reply, results = self.cell(request)
                elif request["do"] == "call":
                    reply, results = self.call(request, arrays)
                else:
                    reply, results = self.answers(request)
                self.send({"n": request["n"], **reply}, results)
            except self.frames.Malformed as error:  # too large a result, or one of an odd dtype
                self.send({"n": request["n"], "kind": "no numbers", "text": self.outcomes.clip(str(error))})


def main() -> None:
    """Take the three pipes apart, so that ``print`` and ``input`` of a student meet neither requests nor replies."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr = open(1, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    Runner(requests, replies).serve()


if __name__ == "__main__":
    main()
