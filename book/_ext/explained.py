"""Which section explains a name of the package, read from the chapters themselves.

The chapter is the first one whose table *Shapes* has the name, else the first whose
prose has it, else the first whose code calls it. Chapter 1 looks from outside: it
explains a name only where no other does. The section is the first of that chapter that
says or shows the name before its exercises. A class that a function returns stands
where the function stands.

`ELSEWHERE` says where the rule errs, `NOWHERE` what the chapters do without; a test
sees that each is needed.
"""

import ast
import importlib
import inspect
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mdit_py_plugins.anchors.index import slugify

ROOT = Path(__file__).resolve().parents[2]
# In the order of the pages. The files of the Transformer, then the rooms around it.
MODULES = """
ops positions attention parameters traces tree model generate store gradcheck optim
train corpus grammar translator size example byhand live course.plot check
""".split()
# What shows, and is not what is explained.
TOOLS = ("toytf.byhand.", "toytf.live.", "toytf.course.plot.", "toytf.example.")


def _table(text):
    """From each name to the line above it that stands further left."""
    found, above = {}, ""
    for line in text.strip().splitlines():
        if line.startswith(" "):
            found |= {f"toytf.{name}": above for name in line.split()}
        else:
            above = line
    return found


ELSEWHERE = _table("""
notebooks/01_overview#what-a-network-is
    tree.named_arrays tree.count
notebooks/02_words_become_vectors#a-vocabulary
    corpus.vocabularies
notebooks/03_positions#the-formula
    positions.sinusoids
notebooks/03_positions#adding-the-positions
    model.embed example.Example
notebooks/05_scaling#softmax-by-hand
    ops.softmax
notebooks/05_scaling#the-function-and-where-the-usual-one-breaks
    ops.softmax_naive
notebooks/07_feed_forward#relu-and-gelu
    ops.normal_cdf
notebooks/09_residual_and_layer_norm#normalising-by-hand
    ops.layer_norm traces.LayerNormTrace byhand.layer_norm
notebooks/10_encoder#the-layer-in-a-few-lines
    model.encoder_layer
notebooks/10_encoder#weights-drawn-inside
    parameters.init
notebooks/12_decoder#the-whole-layer
    parameters.DecoderLayer
notebooks/13_words_come_out#a-number-for-every-word
    ops.linear parameters.Linear
notebooks/13_words_come_out#from-two-words-to-a-distribution
    model.forward parameters.Transformer
notebooks/13_words_come_out#three-iterations
    generate.start generate.stepper
notebooks/13_words_come_out#keys-and-values-kept
    generate.DecodeState
notebooks/14_loss#minus-the-logarithm
    ops.cross_entropy
notebooks/15_gradients#a-linear-map
    ops.linear_backward
notebooks/15_gradients#softmax-with-cross-entropy
    ops.cross_entropy_backward
notebooks/15_gradients#back-through-attention
    ops.softmax_backward attention.multi_head_attention_backward
notebooks/15_gradients#relu-feed-forward-residual
    ops.relu_backward model.add_and_norm_backward model.feed_forward_backward
notebooks/15_gradients#down-to-the-embeddings
    ops.embedding_backward model.embed_backward
notebooks/15_gradients#layer-by-layer
    model.backward model.encoder_layer_backward model.encode_backward
notebooks/15_gradients#is-it-true
    gradcheck.elementwise gradcheck.directional tree.paired_arrays
notebooks/16_training#a-language-in-a-few-lines
    grammar.Noun grammar.Adjective grammar.Determiner grammar.Verb
    grammar.draw_pairs grammar.all_words
notebooks/16_training#seen-and-unseen
    grammar.corpus corpus.Pair corpus.split
notebooks/16_training#adam-by-hand
    optim.Adam
notebooks/16_training#a-rate-that-rises-and-falls
    optim.cosine_schedule
notebooks/16_training#the-loop
    train.train translator.Translator
notebooks/16_training#ex-16-10
    optim.clip optim.gradient_length
notebooks/18_taking_apart#how-to-take-a-part-out
    parameters.Config
notebooks/21_costs#parameters-part-by-part
    parameters.shapes
book/follow#
    byhand.follow byhand.Step
book/machine#
    live.machine
book/replay_random_transformer#conclusion
    live.nudge
""")

NOWHERE = _table("""
the chapters show its curve and not its slope
    ops.gelu_backward
it is there for models that others have trained
    ops.gelu_tanh
the chapters open the trained translator, which is such a file
    store.save store.load store.load_extra
for sentences of your own: toytf train --pairs
    corpus.read_pairs
it sees that parameters and sizes belong together
    parameters.require_model
what the other functions of trees are made of
    tree.leaves
a part of what the panels write, made by the functions of toytf.byhand
    byhand.Cos byhand.Exp byhand.Larger byhand.Operand byhand.Power byhand.Quotient
    byhand.Root byhand.Row byhand.Sin byhand.Sum
a single sum, for a notebook of your own
    byhand.dot
what the functions of toytf.live return
    live.Element
it serves all exercises
    check.Check check.Report check.byhand check.hide_answers check.points
""")

# ---------------------------------------------------------------- names


def public(module):
    """The public functions and classes of a module, by name, in reading order."""
    there = importlib.import_module(f"toytf.{module}")
    listed = getattr(there, "__all__", None)
    if listed:
        things = {name: getattr(there, name) for name in listed}
        return {name: thing for name, thing in things.items() if callable(thing)}
    return {
        name: thing
        for name, thing in vars(there).items()
        if not name.startswith("_")
        and (inspect.isroutine(thing) or inspect.isclass(thing))
        and _is_at_home(thing, there)
    }


def _is_at_home(thing, module):
    """Whether a module defines a thing, or passes it on: ``import spine as spine``."""
    if thing.__module__ == module.__name__:
        return True
    return f"import {thing.__name__} as {thing.__name__}" in inspect.getsource(module)


@cache
def names():
    """Every public name of the package, `toytf.ops.softmax`, with what it is."""
    return {
        f"toytf.{module}.{name}": thing
        for module in MODULES
        for name, thing in public(module).items()
    }


@cache
def _by_identity():
    return {id(thing): name for name, thing in names().items()}


@cache
def name_of(path):
    """The public name of what stands at a dotted path of the package, or None."""
    first, *rest = path.split(".")
    if first != "toytf":
        return None
    thing = importlib.import_module(first)
    for n, part in enumerate(rest, 1):
        if not hasattr(thing, part):
            if not hasattr(thing, "__path__"):  # no folder, so nothing to import
                return None
            try:
                importlib.import_module(".".join([first, *rest[:n]]))
            except ImportError:
                return None
        thing = getattr(thing, part, None)
    return _by_identity().get(id(thing))


class Names:
    """What a page's names mean, from its imports, as its cells are read one by one."""

    def __init__(self):
        self.known = {}

    def of_code(self, source):
        """``(line, column, end, name)`` of every public name that a cell uses.

        Line from 1, columns in characters; of ``ops.softmax`` those of ``softmax``.
        """
        try:
            tree = ast.parse(source)
        except SyntaxError:  # what only IPython can read
            return []
        found, lines = [], source.splitlines()
        for statement in tree.body:
            for node in ast.walk(statement):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._learn(node)
            for node in ast.walk(statement):
                if isinstance(node, (ast.Name, ast.Attribute)):
                    name = self.meant(ast.unparse(node))
                    if name and isinstance(node.ctx, ast.Load):
                        found.append((*_last_part(node, lines), name))
            for node in ast.walk(statement):
                self._forget(node)
        return sorted(found)

    def of_words(self, words):
        """The public name that `softmax(x)` or `ops.softmax` means, or None."""
        begin = re.match(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*", words)
        if not begin:
            return None
        path = begin[0]
        if path.startswith("toytf."):
            return name_of(path)
        is_path = "." in path and path.partition(".")[0] not in self.known
        return name_of(f"toytf.{path}") if is_path else self.meant(path)

    def meant(self, path):
        """The public name of a path as the page's code writes it, or None."""
        first, dot, rest = path.partition(".")
        whole = self.known.get(first)
        return name_of(f"{whole}{dot}{rest}") if whole else None

    def _learn(self, node):
        if isinstance(node, ast.ImportFrom):
            origin = f"{node.module}." if node.module and not node.level else ""
            there = {a.asname or a.name: origin + a.name for a in node.names}
        else:
            there = {a.asname or a.name: a.name for a in node.names}
        for name, origin in there.items():
            self.known.pop(name, None)
            if origin.partition(".")[0] == "toytf":
                self.known[name] = origin

    def _forget(self, node):
        """A page's own `softmax` is not the package's."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.known.pop(node.name, None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.known.pop(node.id, None)


def _last_part(node, lines):
    """Line, column and end of `c` in ``a.b.c``; ast counts bytes, we characters."""
    line = lines[node.end_lineno - 1].encode()
    end = len(line[: node.end_col_offset].decode())
    last = node.attr if isinstance(node, ast.Attribute) else node.id
    return node.end_lineno, end - len(last), end


# ---------------------------------------------------------------- chapters


@dataclass(frozen=True)
class Place:
    """A section: `docname` "notebooks/05_scaling", `slug` "softmax-by-hand"."""

    docname: str
    slug: str

    @property
    def chapter(self):
        """The chapter's number, or None on another page."""
        number = re.match(r"notebooks/(\d+)", self.docname)
        return int(number[1]) if number else None


@dataclass(frozen=True)
class Use:
    """That a section has a name, and where in it."""

    place: Place
    how: str  # "shapes", "prose", "code" or "hidden" code


NO_LESSON = {"shapes", "what-to-remember", "where-to-read-on"}


@cache
def chapters():
    """The docname and the cells of every chapter, in order."""
    paths = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    return [
        (f"notebooks/{p.stem}", json.loads(p.read_text("utf-8"))["cells"])
        for p in paths
    ]


def uses(pages=None):
    """From each public name to its uses, in reading order; exercises left out."""
    found = defaultdict(list)
    for docname, cells in chapters() if pages is None else pages:
        known, place, level = Names(), Place(docname, ""), 1
        for cell in cells:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                hidden = {"hide-cell", "solution"} & set(
                    cell["metadata"].get("tags", [])
                )
                for *_, name in known.of_code(source):
                    if place.slug != "exercises":
                        found[name].append(Use(place, "hidden" if hidden else "code"))
                continue
            for line in source.splitlines():
                if heading := re.match(r"(#{1,3}) (.*)", line):
                    level = len(heading[1])
                    if place.slug != "exercises" or level <= 2:
                        slug = slugify(re.sub(r"[`*]|\$[^$]*\$", "", heading[2]))
                        place = Place(docname, "" if level == 1 else slug)
                elif place.slug != "exercises":
                    for words in re.findall(r"`([^`\n]+)`", line):
                        if name := known.of_words(words):
                            how = "shapes" if place.slug == "shapes" else "prose"
                            found[name].append(Use(place, how))
    return found


def best(found):
    """Of the uses of one name the place that explains it, or None."""
    for how in ({"shapes"}, {"prose"}, {"code", "hidden"}):
        docnames = [
            use.place.docname
            for use in found
            if use.how in how and use.place.chapter != 1
        ]
        if docnames:
            here = [use for use in found if use.place.docname == docnames[0]]
            lessons = [use for use in here if use.place.slug not in {"", *NO_LESSON}]
            told = [use for use in lessons if use.how == "prose"]
            seen = [use for use in lessons if use.how == "code"]
            return (told or seen or lessons or here)[0].place
    return found[0].place if found else None


@cache
def places():
    """From each public name that is explained to the place."""
    found, where = uses(), {}
    for name, thing in names().items():
        exercise = getattr(thing, "exercise", None)
        if isinstance(exercise, str) and name.startswith("toytf.check."):
            number = int(exercise.split("-")[1])
            for page, _ in chapters():  # of a part of the book, perhaps not this one
                if Place(page, "").chapter == number:
                    where[name] = Place(page, exercise)
        elif name in ELSEWHERE:
            where[name] = Place(*ELSEWHERE[name].split("#"))
        elif name not in NOWHERE and (place := best(found[name])):
            where[name] = place
    for name in names():
        for given in returned(name):
            if given not in where and given not in NOWHERE and name in where:
                where[given] = where[name]
    return where


def explained_in(docname):
    """The public names that a page explains, without what it shows them with."""
    others = (*TOOLS, "toytf.check.")
    return [
        name
        for name in names()
        if name in places()
        and places()[name].docname == docname
        and not name.startswith(others)
    ]


def returned(name):
    """The public names of the classes that a function returns."""
    thing = names()[name]
    hint = (
        getattr(thing, "__annotations__", {}).get("return", "")
        if inspect.isfunction(thing)
        else ""
    )
    parts = re.findall(r"\w+", str(hint))
    module = thing.__module__ if parts else ""
    return [
        known
        for part in parts
        if (known := name_of(f"{module}.{part}")) and known != name
    ]
