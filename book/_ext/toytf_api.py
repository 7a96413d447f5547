"""Sphinx extension: the pages of the package, and links between them and the course.

autodoc and numpydoc read the docstrings. Added here: the fields of dataclasses that no
docstring lists, names between single backticks, the checkers, the commands, for each
entry the section that explains it (`explained.py`), and in the chapters a link from
each name to its entry.
"""

import ast
import builtins
import inspect
import os
import re
import textwrap
from importlib import import_module

import explained
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import exercise_node, solution_node

FOLDER = "book/api/"
log = logging.getLogger(__name__)

# ------------------------------------------------------ docstrings


def keep_formula(app, what, name, thing, options, lines):
    """A formula alone below the summary would lose its indent in numpydoc."""
    if lines and lines[0].endswith("::"):
        lines[:1] = [lines[0][:-1], "", ".. code-block:: text"]


def list_fields(app, what, name, thing, options, lines):
    """A class that lists no fields has them listed, and a function its arrays."""
    if what in ("class", "function", "method") and not any(
        line.startswith("Parameters") for line in lines
    ):
        listed = fields(thing) if what == "class" else arrays(thing)
        if listed:
            lines += ["", "Parameters", "----------"]
            for field, kind, words in listed:
                lines += [f"{field} : {kind}", *([f"    {words}"] if words else [])]


def arrays(function):
    """``(name, type, "")`` of each argument with axes in the signature."""
    arguments = inspect.signature(function).parameters.values()
    return [
        (one.name, kind_in_words(one.annotation), "")
        for one in arguments
        if "Annotated" in str(one.annotation)
    ]


def fields(thing):
    """``(name, type, comment)`` of each field that the source of a class declares."""
    lines = textwrap.dedent(inspect.getsource(thing)).splitlines()
    found = []
    for node in ast.parse("\n".join(lines)).body[0].body:
        if isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            behind = lines[node.end_lineno - 1][node.end_col_offset :]
            comment = re.match(r"\s*#:?\s*(.*)", behind)
            found.append(
                (
                    node.target.id,
                    kind_in_words(ast.unparse(node.annotation)),
                    comment[1] if comment else "",
                )
            )
    return found


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
        kind = KINDS.get(found[1], found[1])
        if kind == "Config":
            return kind
        return f"{kind}, shape ({', '.join(sizes)}{',' * (len(sizes) == 1)})"

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
    known = {}
    for name, thing in explained.names().items():
        if inspect.isclass(thing):
            known.setdefault(thing.__name__, []).append(name)
    own = {short: full[0] for short, full in known.items() if len(full) == 1}
    config.numpydoc_xref_aliases_complete = own
    config.numpydoc_xref_ignore = "all"


# ------------------------------------------------------ names between single backticks


def name_locals(app, doctree):
    """A name that is one of the entry's own arguments or fields is code, no link."""
    if not app.env.docname.startswith(FOLDER):
        return
    for name in list(doctree.findall(addnodes.pending_xref)):
        if (
            name.get("refdomain") == "py"
            and name["reftype"] == "obj"
            and name["reftarget"] in _own_names(name)
        ):
            name.replace_self(nodes.literal("", name["reftarget"]))


def _own_names(node):
    """Arguments and fields of the entries around a node, and the arguments' fields."""
    own = set()
    while node is not None:
        if isinstance(node, addnodes.desc):
            head = node[0]
            thing = import_module(head["module"])
            for part in head["fullname"].split("."):
                thing = getattr(thing, part, None)
            hints = getattr(thing, "__annotations__", {})
            own |= set(hints) | (set(dir(thing)) if inspect.isclass(thing) else set())
            own |= (
                set(inspect.signature(thing).parameters) if callable(thing) else set()
            )
            for word in re.findall(r"\w+", " ".join(map(str, hints.values()))):
                given = explained.names().get(
                    explained.name_of(f"{head['module']}.{word}")
                )
                own |= set(getattr(given, "__annotations__", ()))
        node = node.parent
    return own


def find_name(app, env, node, shown):
    """A name that Python would find in the entry's module is found here too."""
    target = node["reftarget"]
    if (
        node.get("refdomain") != "py"
        or not node.get("py:module")
        or hasattr(builtins, target)
    ):
        return None
    objects = env.get_domain("py").objects
    inside = f"{node['py:module']}.{target}"
    names = [
        explained.name_of(inside),
        explained.name_of(target),
        inside,
        *_called(target),
    ]
    place = next((objects[name] for name in names if name in objects), None)
    if place is None:
        return None
    uri = app.builder.get_relative_uri(node["refdoc"], place.docname)
    return nodes.reference(
        "", "", shown, internal=True, refuri=f"{uri}#{place.node_id}"
    )


def _called(target):
    """The one public name that ends so, for words that stand above all modules."""
    ends = [name for name in explained.names() if name.endswith(f".{target}")]
    return ends if len(ends) == 1 else []


# ------------------------------------------------------ pages that no docstring is


class Checkers(SphinxDirective):
    """Every checker of an exercise, chapter by chapter, with what it asks for."""

    def run(self):
        from toytf import check

        lines, chapter = [], None
        for name, checker in check.CHECKS.items():
            number = int(checker.exercise.split("-")[1])
            if number != chapter:
                chapter = number
                lines += [f".. rubric:: Chapter {chapter}", ""]
            asked = (
                inspect.getdoc(checker.solution).partition("\n\n")[0].replace("\n", " ")
            )
            takes = inspect.signature(checker.solution)
            lines += [f".. py:function:: {name}(mine)", "   :module: toytf.check", ""]
            lines += [f"   ``{name}{takes}``: {asked}", ""]
        into = nodes.container()
        self.state.nested_parse(
            StringList(lines, "toytf.check"), self.content_offset, into
        )
        return into.children


class Commands(SphinxDirective):
    """What ``toytf COMMAND --help`` prints, for every command."""

    def run(self):
        from toytf import __main__, _command

        width, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "80"
        try:
            helps = {
                name: _command.parser(name, import_module(module)).format_help()
                for name, module in __main__.MODULES.items()
            }
        finally:
            os.environ.pop("COLUMNS") if width is None else os.environ.update(
                COLUMNS=width
            )
        made = []
        for name, words in helps.items():
            section = nodes.section(ids=[f"toytf-{name}"], names=[f"toytf {name}"])
            section += nodes.title("", "", nodes.literal("", f"toytf {name}"))
            section += nodes.literal_block(words, words, language="none")
            self.state.document.note_explicit_target(section)
            made.append(section)
        return made


# ------------------------------------------------------ from the package to the course


def entries(doctree):
    """``(name, signature, content)`` of each entry of a page that is a public name."""
    for entry in doctree.findall(addnodes.desc):
        head = entry[0]
        name = f"{head['module']}.{head['fullname']}" if head.get("module") else ""
        if name in explained.names():
            yield name, head, entry[-1]


class LeadToChapters(SphinxPostTransform):
    """Each entry says where it is explained, and each page which chapters that are."""

    default_priority = 5

    def run(self):
        if not self.env.docname.startswith(FOLDER):
            return
        chapters = {}
        for name, _, content in entries(self.document):
            place = explained.places().get(name)
            if place is None or place.docname not in self.env.titles:
                continue
            if place.chapter:
                chapters.setdefault(place.chapter, place.docname)
            content.insert(0, self.line(name, place))
        if chapters:
            words = nodes.paragraph(classes=["api-chapters"])
            words += nodes.Text("Chapters: ")
            for k, (number, docname) in enumerate(sorted(chapters.items())):
                words += nodes.Text(", " if k else "")
                words += self.link(docname, "", str(number))
            self.document[0].insert(1, words)

    def line(self, name, place):
        """ "Explained in chapter 5, Softmax by hand", with its link."""
        is_exercise = place.slug.startswith("ex-")
        if is_exercise:
            _, chapter, number = place.slug.split("-")
            before, words = "", f"Exercise {int(chapter)}.{int(number)}"
        else:
            before = "Seen in " if name.startswith(explained.TOOLS) else "Explained in "
            title = self.title(place)
            words = f"chapter {place.chapter}, {title}" if place.chapter else title
        line = nodes.paragraph(classes=["api-explained"])
        line += nodes.Text(before)
        line += self.link(
            place.docname, place.slug if is_exercise else self.anchor(place), words
        )
        return line

    def title(self, place):
        if not place.slug:
            return self.env.titles[place.docname].astext()
        return self.heading(place)[1]

    def anchor(self, place):
        return self.heading(place)[0] if place.slug else ""

    def heading(self, place):
        """The id and the words of a section, as MyST has kept them."""
        slugs = self.env.metadata[place.docname].get("myst_slugs", {})
        if place.slug not in slugs:
            log.warning(
                "%s has no section #%s, see book/_ext/explained.py",
                place.docname,
                place.slug,
            )
            return "", ""
        _, anchor, words = slugs[place.slug]
        return anchor, words

    def link(self, docname, anchor, words):
        uri = self.app.builder.get_relative_uri(self.env.docname, docname)
        return nodes.reference(
            "", words, internal=True, refuri=uri + (f"#{anchor}" if anchor else "")
        )


def note_chapters(app, doctree):
    """A page of the package is made again when a chapter is."""
    if app.env.docname.startswith(FOLDER):
        for docname, _ in explained.chapters():
            app.env.note_dependency(app.env.doc2path(docname))


# ------------------------------------------------------ from the course to the package


class LeadToPackage(SphinxPostTransform):
    """A chapter's names lead to their entries.

    In its prose each one is a link, in the code that is in sight the first of each.
    What it explains is listed at its end, behind the exercises.
    """

    default_priority = 150  # before myst_nb folds cells
    formats = ("html",)

    def run(self):
        if not self.env.docname.startswith("notebooks/"):
            return
        self.objects = self.env.get_domain("py").objects
        known, linked = explained.Names(), set()
        for node in list(self.document.findall()):
            if (
                isinstance(node, nodes.container)
                and node.get("nb_element") == "cell_code"
            ):
                self.link_code(node, known, linked)
            elif isinstance(node, nodes.literal) and not self.is_elsewhere(node):
                name = known.of_words(node.astext())
                if uri := self.uri(name):
                    link = nodes.reference(
                        "",
                        "",
                        internal=True,
                        refuri=uri,
                        classes=["to-api"],
                        reftitle=name,
                    )
                    node.replace_self(link)
                    link += node
        self.list_explained()

    def list_explained(self):
        """The paragraph "In the package: softmax, ..." at the end of the chapter."""
        words = nodes.paragraph(classes=["api-names"])
        words += nodes.Text("In the package: ")
        for name in explained.explained_in(self.env.docname):
            if uri := self.uri(name):
                link = nodes.reference("", "", internal=True, refuri=uri, reftitle=name)
                link += nodes.literal("", name.rpartition(".")[2])
                words += [*([nodes.Text(", ")] if len(words) > 1 else []), link]
        if len(words) > 1:
            *_, last = self.document[0].findall(nodes.section)
            last += words

    def link_code(self, cell, known, linked):
        source = next(cell.findall(nodes.literal_block), None)
        if source is None:
            return
        found = known.of_code(source.astext())
        tags = set(cell.get("cell_metadata", {}).get("tags", ()))
        if tags & {
            "hide-cell",
            "hide-input",
            "solution",
            "remove-input",
        } or self.is_elsewhere(cell):
            return
        links = {}
        for line, start, end, name in found:
            if name not in linked and (uri := self.uri(name)):
                linked.add(name)
                links[line, start, end] = uri, name
        if links:
            source["highlight_args"] = {
                **source.get("highlight_args", {}),
                "links": links,
            }

    def is_elsewhere(self, node):
        """An exercise speaks of the reader's functions; links and headings stay."""
        others = (
            exercise_node,
            solution_node,
            nodes.reference,
            nodes.title,
            addnodes.pending_xref,
        )
        while node is not None:
            if isinstance(node, others) or "exercises" in node.get("ids", ()):
                return True
            node = node.parent
        return False

    def uri(self, name):
        place = self.objects.get(name) if name else None
        if place is None:
            return None
        uri = self.app.builder.get_relative_uri(self.env.docname, place.docname)
        return f"{uri}#{place.node_id}"


def setup(app):
    app.connect("config-inited", link_types, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", keep_formula, priority=100)
    app.connect(
        "autodoc-process-docstring", list_fields, priority=100
    )  # before numpydoc
    app.connect("autodoc-process-signature", short_signature, priority=100)
    app.connect("doctree-read", name_locals)
    app.connect("doctree-read", note_chapters)
    app.connect("missing-reference", find_name)
    app.add_directive("toytf-checkers", Checkers)
    app.add_directive("toytf-commands", Commands)
    app.add_post_transform(LeadToChapters)
    app.add_post_transform(LeadToPackage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
