"""The pages of the package: every module has one, every docstring its parts, every name its link."""

import importlib
import inspect
import io
import re

import pytest
import toytf_api
import toytf_code
from numpydoc.validate import validate
from pygments import lex
from pygments.lexers import PythonLexer

import sitecheck
from bookcheck.reading import ROOT
from toytf import byhand

MODULES = [page.rpartition("/")[2] for page in sitecheck.OF_PACKAGE if page != "book/api/commands"]
INSIDE = {"plot": "course.plot"}


def test_every_module_of_the_transformer_has_a_page_in_the_contents():
    there = {path.stem for path in (ROOT / "toytf").glob("[a-z]*.py")}
    assert there == {module for module in MODULES if (ROOT / "toytf" / f"{module}.py").exists()}
    for module in MODULES:
        page = (ROOT / "book" / "api" / f"{module}.md").read_text("utf-8")
        assert f"automodule:: toytf.{INSIDE.get(module, module)}\n" in page


def test_the_page_of_byhand_names_each_of_its_names_once():
    page = (ROOT / "book" / "api" / "byhand.md").read_text("utf-8")
    there = [name for name in byhand.__all__ if callable(getattr(byhand, name))]
    assert sorted(re.findall(r"auto(?:class|function):: (\w+)", page)) == sorted(there)


# ---------------------------------------------------------------- docstrings

# What numpydoc says of a docstring, and we keep: that it is there, its sections in order and spelled right, and that a
# list of parameters, where there is one, has all of them, in order, and no other.
KEPT = {"GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "PR01", "PR02", "PR03", "PR05", "PR06", "PR10", "SS04"}
# The small trees of byhand have these in common; its file describes them once.
IN_COMMON = {"value", "render", "exact", "word"}


def docstring_problems(name):
    """What numpydoc finds wrong in a docstring."""
    found = validate(name)
    has_list = re.search(r"^ *Parameters\n *-{3}", found["docstring"], re.MULTILINE)
    return [f"{name}: {code} {words}" for code, words in found["errors"]
            if code in KEPT and (code != "PR01" or has_list)]  # fmt: skip


def names():
    """Every public function and class of the package, and the public methods of the classes."""
    for module in (importlib.import_module(f"toytf.{INSIDE.get(module, module)}") for module in MODULES):
        listed = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        for name in listed:
            thing = getattr(module, name)
            is_code = inspect.isroutine(thing) or inspect.isclass(thing)
            if not is_code or not thing.__module__.startswith(module.__name__):
                continue
            yield f"{module.__name__}.{name}"
            for method, what in vars(thing).items() if inspect.isclass(thing) else ():
                is_method = inspect.isfunction(what) or isinstance(what, (classmethod, staticmethod, property))
                if is_method and not method.startswith("_") and not (module is byhand and method in IN_COMMON):
                    yield f"{module.__name__}.{name}.{method}"


def test_every_docstring_has_its_parts():
    assert len(list(names())) > 200
    assert [line for name in names() for line in docstring_problems(name)] == []


def scale(x, by):
    """Multiply.

    Parameters
    ----------
    by : float
    """


def test_a_docstring_without_one_of_its_parameters_is_found():
    assert [line.split()[1] for line in docstring_problems(f"{__name__}.scale")] == ["PR01"]


def test_a_dataclass_has_its_fields_listed_from_its_source():
    from toytf.attention import AttentionTrace
    from toytf.ops import embedding

    assert toytf_api.fields(AttentionTrace)[3:] == [
        ("scaled_scores", "Array, shape (..., query, key)", "q k^T * scale, before the mask"),
        ("attn_weights", "Array, shape (..., query, key)", ""),
        ("scale", "float", ""),
        ("mask", "Array, shape (..., query, key), or None", ""),
    ]
    assert toytf_api.arrays(embedding) == [
        ("table", "array_like, shape (vocabulary, d_model)", ""),
        ("ids", "array_like of int, shape (...,)", ""),
    ]
    assert toytf_api.kind_in_words("Annotated[Array, 'd_out'] | None") == "Array, shape (d_out,), or None"


# ---------------------------------------------------------------- names in the chapters


@pytest.mark.parametrize(
    "code, found",
    [
        ("softmax(x)", {"softmax": "toytf.ops.softmax"}),
        ("ops.softmax(x)", {"ops": "toytf.ops", "ops.softmax": "toytf.ops.softmax"}),
        ("other.softmax(x)", {}),
        ("%matplotlib inline", {}),
        ("from numpy import softmax\nsoftmax(x)", {}),
        ("def softmax(x):\n    return x\n\n\nsoftmax(x)", {}),  # the page's own
        ("softmax = 1\nsoftmax(x)", {}),
    ],
)
def test_a_name_means_what_the_page_has_imported_and_not_defined_again(code, found):
    known = {}
    toytf_api.used("from toytf import ops\nfrom toytf.ops import softmax", known)
    assert toytf_api.used(code, known) == found


def marked(code, links=(), lexer=PythonLexer):
    out = io.StringIO()
    toytf_code.Formatter(nowrap=True, links={path: (f"x.html#{path}", path) for path in links}).format(
        lex(code, lexer(stripnl=False)), out
    )
    return out.getvalue()


def test_in_a_listing_the_first_name_is_the_link_and_every_character_stays():
    code = 'α = ops.softmax(r(x)) + ops.exp(1)  # r\n"""a\nb""" + ops.softmax(r)\n'
    shown = marked(code, ["ops.softmax", "r"])
    links = re.findall(r'href="x.html#([\w.]+)"[^>]*>(\w+)</a>', shown)
    assert links == [("ops.softmax", "softmax"), ("r", "r")]
    assert re.sub("<[^>]*>", "", shown).replace("&quot;", '"') == code


def test_only_what_has_a_colour_is_marked():
    code = 'def half(x):  # of each\n    """Half."""\n    return {"x": y(x) * 0.5, "self": [None, f"{x}"]}\n'
    styles = (ROOT / "book" / "_assets" / "toytf.css").read_text("utf-8")
    coloured = set(re.findall(r"\.(\w+)", " ".join(re.findall(r"\.highlight [^{]*\{ color", styles))))
    used = set(re.findall(r'<span class="(\w+)">', marked(code)))
    assert {"k", "s", "m", "c", "nf"} <= used <= coloured
    assert marked("f(x) + y\n") == "f(x) + y\n"
