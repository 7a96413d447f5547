"""Sphinx extension: the pages of the package, and links between them and the course.

autodoc and numpydoc read the docstrings. Added here: the fields of dataclasses that no docstring lists, names between
single backticks, the checkers, the commands, in a chapter a link from each name to its entry, and in each entry the
chapters that name it.
"""

import ast
import builtins
import inspect
import os
import re
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path
from pydoc import locate
from unittest.mock import patch

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import exercise_node, solution_node

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, CHAPTERS = "book/api/", "notebooks/"

# ------------------------------------------------------ docstrings


def keep_formula(app, what, name, thing, options, lines):
    """A formula alone below the summary would lose its indent in numpydoc."""
    if lines and lines[0].endswith("::"):
        lines[:1] = [lines[0][:-1], "", ".. code-block:: text"]


def list_fields(app, what, name, thing, options, lines):
    """A class whose docstring does not list its fields has them listed, and a function its arrays."""
    listed = fields(thing) if what == "class" else arrays(thing) if what in ("function", "method") else []
    if listed and not any(line.startswith("Parameters") for line in lines):
        lines += ["", "Parameters", "----------"]
        for field, kind, words in listed:
            lines += [f"{field} : {kind}", *([f"    {words}"] if words else [])]


def fields(thing):
    """``(name, type, comment)`` of each field that the source of a class declares."""
    lines = textwrap.dedent(inspect.getsource(thing)).splitlines()
    found = []
    for node in ast.parse("\n".join(lines)).body[0].body:
        if isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            comment = re.match(r"\s*#:?\s*(.*)", lines[node.end_lineno - 1][node.end_col_offset :])
            found.append((node.target.id, kind_in_words(ast.unparse(node.annotation)), comment[1] if comment else ""))
    return found


def arrays(function):
    """``(name, type, "")`` of each argument of which the signature declares the axes."""
    if inspect.isbuiltin(function):  # the default of a field, `max`
        return []
    arguments = inspect.signature(function).parameters.values()
    return [(one.name, kind_in_words(one.annotation), "") for one in arguments if "Annotated" in str(one.annotation)]


KINDS = {
    **dict.fromkeys(("Numbers", "Floats", "Seen", "Scores"), "array_like"),
    "Gradient": "Array",
    "Ids": "array_like of int",
    **dict.fromkeys(("Flags", "Mask"), "array_like of bool"),
}
NUMBERS = {"Count": "int above 0", "Place": "int from 0", "Positive": "float above 0"}


def kind_in_words(annotation):
    """``Annotated[Array, '... d']`` as numpydoc has it: "Array, shape (..., d)"."""

    def shape(found):
        sizes = found[2].partition("<")[0].split()
        if found[1] == "Config":
            return "Config"
        return f"{KINDS.get(found[1], found[1])}, shape ({', '.join(sizes)}{',' * (len(sizes) == 1)})"

    for name, number in NUMBERS.items():
        annotation = re.sub(rf"\b{name}\b", number, annotation)
    annotation = re.sub(r"Literal\[(.*?)\]", r"{\1}", annotation)
    words = re.sub(r"Annotated\[(\w+), '([^']*)'\]", shape, annotation)
    return re.sub(r" \| None$", " or None", words).replace(") or", "), or")


def short_signature(app, what, name, thing, options, signature, returns):
    """A class has its types in the list of its fields."""
    if what == "class" and signature:
        parameters = inspect.signature(thing).parameters.values()
        kept = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
        return str(inspect.Signature(kept)).replace("<factory>", "..."), None
    return None


def link_types(app, config):
    """In lists of parameters the package's own classes are links, and only they."""
    config.numpydoc_xref_aliases_complete = {
        name: f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts[:2])}.{name}"
        for path in (ROOT / "toytf").rglob("*.py")
        if "course" not in path.parts
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text("utf-8"), re.MULTILINE)
    }
    config.numpydoc_xref_ignore = "all"


def find_name(app, env, node, shown):
    """A name between backticks leads to what Python finds in the module, or to the one class that is called so.

    Any other is code: it is an argument's or a field's.
    """
    if node.get("refdomain") != "py" or node["reftype"] != "obj":
        return None
    target, objects = node["reftarget"], env.domains["py"].objects
    inside = f"{node.get('py:module')}.{target}"
    ends = [name for name in objects if name.endswith(f".{target}") and target[0].isupper()]
    names = [inside, home(inside), *(ends if len(ends) == 1 else [])]
    name = next((name for name in names if name in objects), None)
    if name is None or hasattr(builtins, target):
        return shown
    uri = app.builder.get_relative_uri(node["refdoc"], objects[name].docname)
    return nodes.reference("", "", shown, internal=True, refuri=f"{uri}#{objects[name].node_id}", reftitle=name)


# ------------------------------------------------------ pages that no docstring is


class Checkers(SphinxDirective):
    """Every checker of an exercise, chapter by chapter, with what it asks for."""

    def run(self):
        from toytf import check

        lines, chapter = [], None
        for name, checker in check.CHECKS.items():
            _, begins, number = checker.exercise.split("-")
            if begins != chapter:
                chapter = begins
                lines += [f".. rubric:: Chapter {int(chapter)}", ""]
            asked = inspect.getdoc(checker.solution).partition("\n\n")[0].replace("\n", " ")
            takes = inspect.signature(checker.solution)
            lines += [f".. py:function:: {name}(mine)", "   :module: toytf.check", ""]
            lines += [f"   :ref:`Exercise {int(chapter)}.{int(number)} <{checker.exercise}>`", ""]
            lines += [f"   ``{name}{takes}``: {asked}", ""]
        into = nodes.container()
        self.state.nested_parse(StringList(lines, "toytf.check"), self.content_offset, into)
        for content in into.findall(addnodes.desc_content):
            content[0]["classes"].append("api-chapters")
        return into.children


class Commands(SphinxDirective):
    """What ``toytf COMMAND --help`` prints, for every command."""

    def run(self):
        from toytf import __main__, _command

        made = []
        for name, (_, module) in __main__.COMMANDS.items():
            with patch.dict(os.environ, COLUMNS="80"):
                words = _command.parser(name, import_module(module)).format_help()
            section = nodes.section(ids=[f"toytf-{name}"], names=[f"toytf {name}"])
            section += nodes.title("", "", nodes.literal("", f"toytf {name}"))
            section += nodes.literal_block(words, words, language="none")
            self.state.document.note_explicit_target(section)
            made.append(section)
        return made


# ------------------------------------------------------ names in the chapters


@cache  # each cell is asked for when its page is read, and again when it is written
def names_in(code):
    """What a cell imports, {name: full name or None}, which names it defines, and all names as it writes them."""
    try:
        found = list(ast.walk(ast.parse(code)))
    except SyntaxError:  # what only IPython can read
        return {}, set(), set()
    imported, written = {}, {ast.unparse(node) for node in found if isinstance(node, (ast.Name, ast.Attribute))}
    for node in found:
        if isinstance(node, ast.ImportFrom):
            here = (node.module or "").split(".")[0] == "toytf"
            imported |= {a.asname or a.name: f"{node.module}.{a.name}" if here else None for a in node.names}
    defined = {node.name for node in found if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    defined |= {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return imported, defined, written


def used(code, known):
    """From each name of the package in a cell, as it is written there, to its full name.

    known: from each name that is imported to its full name; it learns from the cell's imports, and forgets what the
    cell defines itself.
    """
    imported, defined, written = names_in(code)
    known.update(imported)
    for name in defined:
        known.pop(name, None)
    return {path: name for path in written if (name := full_name(path, known))}


def full_name(path, known):
    """The full name that `softmax` or `ops.softmax` means on a page, or None."""
    first, dot, rest = path.partition(".")
    if first == "toytf":
        return path
    return f"{known[first]}{dot}{rest}" if known.get(first) else None


@cache
def home(name):
    """The full name of a thing where it is defined: `toytf.parameters.init` of what is imported from the model."""
    thing = locate(name)
    return f"{thing.__module__}.{thing.__qualname__}" if hasattr(thing, "__qualname__") else name


def named(doctree, left_out=("solution", "remove-input", "hide-cell", "hide-input")):
    """The listings and the names in the prose of a chapter's lessons, each with `{as written: full name}`.

    An exercise speaks of the reader's functions; links and headings stay. left_out: tags of cells that are passed over.
    """
    known = {}
    for node in list(doctree.findall()):
        if isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            listing = next(node.findall(nodes.literal_block), None)
            names = used(listing.astext(), known) if listing else {}
            tags = node.get("cell_metadata", {}).get("tags", ())
            if names and not set(left_out) & set(tags) and not is_elsewhere(node):
                yield listing, names
        elif isinstance(node, nodes.literal) and not is_elsewhere(node):
            path = re.match(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*|", node.astext())[0]
            if name := full_name(path, known):
                yield node, {path: name}


def is_elsewhere(node):
    others = (exercise_node, solution_node, nodes.reference, nodes.title, addnodes.pending_xref)
    while node is not None:
        if isinstance(node, others) or "exercises" in node.get("ids", ()):
            return True
        node = node.parent
    return False


def note_names(app, doctree):
    """Keep for the package's pages in which section a chapter first has a name."""
    if app.env.docname.startswith(CHAPTERS):
        first = {}
        in_sight, hidden = named(doctree), named(doctree, ("solution", "remove-input"))
        for node, names in [*in_sight, *hidden]:
            while not isinstance(node, (nodes.section, nodes.document)):
                node = node.parent
            for name in names.values():
                first.setdefault(name, node["ids"][0])
                first.setdefault(home(name), node["ids"][0])
        app.env.metadata[app.env.docname]["toytf_names"] = first


class LeadToChapters(SphinxPostTransform):
    """Each entry of the package says which chapters have it."""

    default_priority = 5

    def run(self):
        if not self.env.docname.startswith(PACKAGE):
            return
        for entry in self.document.findall(addnodes.desc):
            name = f"{entry[0].get('module')}.{entry[0].get('fullname')}"
            line = nodes.paragraph("", "Chapters: ", classes=["api-chapters"])
            for chapter, kept in sorted(self.env.metadata.items()):
                if section := kept.get("toytf_names", {}).get(name):
                    uri = self.app.builder.get_relative_uri(self.env.docname, chapter)
                    number = str(int(chapter.removeprefix(CHAPTERS)[:2]))
                    line += nodes.Text(", " if len(line) > 1 else "")
                    line += nodes.reference("", number, internal=True, refuri=f"{uri}#{section}")
            if len(line) > 1:
                entry[-1].insert(0, line)


class LeadToPackage(SphinxPostTransform):
    """A chapter's names lead to their entries: in its prose each one, in the code that is in sight the first."""

    default_priority = 150  # before myst_nb folds cells
    formats = ("html",)

    def run(self):
        if not self.env.docname.startswith(CHAPTERS):
            return
        linked = set()
        for node, names in named(self.document):
            there = {path: (uri, name) for path, name in names.items() if (uri := self.uri(name))}
            if isinstance(node, nodes.literal_block):
                links = {path: (uri, name) for path, (uri, name) in there.items() if name not in linked}
                linked |= {name for _, name in links.values()}
                node["highlight_args"] = {**node.get("highlight_args", {}), "links": links}
            for uri, name in there.values() if isinstance(node, nodes.literal) else ():
                link = nodes.reference("", "", internal=True, refuri=uri, classes=["to-api"], reftitle=name)
                node.replace_self(link)
                link += node

    def uri(self, name):
        objects = self.env.domains["py"].objects
        place = objects.get(name) or objects.get(home(name))
        if place is None or place.objtype not in {"function", "class"}:
            return None
        return f"{self.app.builder.get_relative_uri(self.env.docname, place.docname)}#{place.node_id}"


def setup(app):
    app.connect("config-inited", link_types, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", keep_formula, priority=100)
    app.connect("autodoc-process-docstring", list_fields, priority=100)  # before numpydoc
    app.connect("autodoc-process-signature", short_signature, priority=100)
    app.connect("doctree-read", note_names)
    app.connect("missing-reference", find_name)
    app.add_directive("toytf-checkers", Checkers)
    app.add_directive("toytf-commands", Commands)
    app.add_post_transform(LeadToChapters)
    app.add_post_transform(LeadToPackage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
