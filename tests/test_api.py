"""The pages of the package: every name has its entry, every entry its chapter, every docstring its parts."""

import inspect
import io
import re

import explained
import pytest
import toytf_api
import toytf_code
from explained import Place, Use
from numpydoc.validate import validate
from pygments import lex
from pygments.lexers import PythonLexer

import sitecheck
from bookcheck.links import heading_slugs
from bookcheck.reading import ROOT, page_markdown

# ---------------------------------------------------------------- pages


def test_every_module_of_the_transformers_floor_has_a_page():
    there = {path.stem for path in (ROOT / "toytf").glob("[a-z]*.py")}
    assert there == {module for module in explained.MODULES if (ROOT / "toytf" / f"{module}.py").exists()}


def test_every_module_has_a_page_which_the_contents_list():
    listed = sitecheck.toc_sections(ROOT)
    pages = [f"book/api/{module.rpartition('.')[2]}" for module in explained.MODULES]
    assert listed == [*pages, "book/api/commands"]
    for module, page in zip(explained.MODULES, pages, strict=True):
        assert f"automodule:: toytf.{module}\n" in (ROOT / f"{page}.md").read_text("utf-8")


def test_the_page_of_byhand_names_each_of_its_names_once():
    page = (ROOT / "book" / "api" / "byhand.md").read_text("utf-8")
    assert sorted(re.findall(r"auto(?:class|function):: (\w+)", page)) == sorted(explained.public("byhand"))


# ---------------------------------------------------------------- from an entry to its chapter


def test_every_name_has_a_place_or_a_reason_to_have_none():
    assert [
        name for name in explained.names() if name not in explained.places() and name not in explained.NOWHERE
    ] == []


def test_every_override_and_every_reason_is_about_a_public_name():
    assert {*explained.ELSEWHERE, *explained.NOWHERE} <= set(explained.names())
    assert not explained.ELSEWHERE.keys() & explained.NOWHERE.keys()


def needless(elsewhere, nowhere):
    """Overrides that say what the rule says, and reasons for names that the rule finds."""
    found = explained.uses()
    ruled = {name: explained.best(found[name]) for name in explained.names()}
    problems = [name for name, where in elsewhere.items() if ruled[name] == Place(*where.split("#"))]
    return problems + [name for name in nowhere if ruled[name] is not None]


def test_every_override_is_needed():
    assert needless(explained.ELSEWHERE, explained.NOWHERE) == []


def test_an_override_that_says_nothing_new_is_found():
    right = {"toytf.attention.masked_softmax": "notebooks/11_masks#before-the-softmax-by-hand"}
    assert needless(right, ["toytf.positions.shift"]) == [*right, "toytf.positions.shift"]


def anchors(docname):
    """The sections and the exercises of a page; None if there is no such page."""
    path = ROOT / f"{docname}.ipynb"
    if not path.exists():
        return None
    text = page_markdown(path)
    return {"", *heading_slugs(text), *re.findall(r"^:label: (\S+)", text, re.MULTILINE)}


def lost(places):
    """Places that no page has."""
    there = {docname: anchors(docname) for docname in {place.docname for place in places}}
    return [str(place) for place in places if place.slug not in (there[place.docname] or ())]


def test_every_place_is_a_section_or_an_exercise():
    assert lost([*explained.places().values()]) == []


def test_a_place_that_is_not_there_is_found():
    wrong = [Place("notebooks/05_scaling", "softmax-by-foot"), Place("notebooks/05_scale", ""),
             Place("notebooks/05_scaling", "ex-05-99")]  # fmt: skip
    assert len(lost(wrong)) == 3
    assert lost([Place("notebooks/05_scaling", "softmax-by-hand"), Place("notebooks/05_scaling", "ex-05-1")]) == []


def test_a_chapter_explains_what_a_reader_looks_for_there():
    """By hand, and not from the rule: the functions that the chapters are about."""
    chapters = {
        "positions.sinusoids": 3, "attention.attention": 4, "ops.softmax": 5, "attention.multi_head_attention": 6,
        "model.feed_forward": 7, "ops.layer_norm": 9, "model.encoder_layer": 10, "attention.causal_mask": 11,
        "model.decoder_layer": 12, "generate.beam_search": 13, "ops.cross_entropy": 14,
        "attention.attention_backward": 15, "optim.Adam": 16, "size.parameters": 21,
        "traces.AttentionTrace": 4, "check.layer_norm": 9, "live.divisor": 5,
    }  # fmt: skip
    assert {name: explained.places()[f"toytf.{name}"].chapter for name in chapters} == chapters


# -- the rule, on pages that are made up


def page(*cells):
    """Cells of a notebook: Markdown where it begins with a hash or a word, code where it begins with ``>``."""
    made = []
    for cell in cells:
        is_code, tags = cell.startswith(">"), ["hide-cell"] if cell.startswith(">hidden ") else []
        source = cell.removeprefix(">hidden ").removeprefix(">") if is_code else cell
        made.append({"cell_type": "code" if is_code else "markdown", "source": [source], "metadata": {"tags": tags}})
    return made


IMPORT = ">from toytf import ops\nfrom toytf.ops import softmax"


@pytest.mark.parametrize(
    "cells, expected",
    [
        (["## One", ">softmax(x)"], "one"),
        (["## One", ">ops.softmax(x)"], "one"),
        (["## One", ">hidden softmax(x)", "## Two", ">softmax(x)"], "two"),
        (["## One", ">hidden softmax(x)"], "one"),
        (["## One", ">softmax(x)", "## Two", "`softmax` does it."], "two"),
        (["## One", ">softmax(x)", "## Shapes", "| `softmax(x)` |"], "one"),
        (["## Exercises", "`softmax`", ">softmax(x)"], None),
        (["## One", ">def softmax(x):\n    return x", ">softmax(x)"], None),
        (["## One", ">softmax = 1\nprint(softmax)"], None),
        (["## One", "`softmax_of_mine`", ">other.softmax(x)"], None),
        (["## One", "`toytf.ops.softmax`"], "one"),
        (["## One", "```python\nsoftmax(x)\n```"], None),
    ],
)
def test_the_section_is_the_first_that_says_or_shows_the_name(cells, expected):
    found = explained.uses([("notebooks/05_x", page(IMPORT, *cells))])
    place = explained.best(found["toytf.ops.softmax"])
    assert place == (expected and Place("notebooks/05_x", expected))


@pytest.mark.parametrize(
    "hows, expected",
    [
        ({2: "code", 3: "prose", 4: "shapes"}, 4),
        ({2: "code", 3: "prose"}, 3),
        ({2: "code", 3: "code"}, 2),
        ({1: "shapes", 3: "hidden"}, 3),
        ({1: "code"}, 1),
    ],
)
def test_the_chapter_is_that_with_the_shape_then_the_prose_then_the_code(hows, expected):
    found = [Use(Place(f"notebooks/{chapter:02}_x", "s"), how) for chapter, how in hows.items()]
    assert explained.best(found).chapter == expected


# ---------------------------------------------------------------- docstrings

# What numpydoc says of a docstring, and we keep: that it is there, its sections in order and spelled right, and that a
# list of parameters, where there is one, has all of them, in order, and no other.
KEPT = {"GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "PR01", "PR02", "PR03", "PR05", "PR06", "PR10", "SS04"}
# The small trees of byhand have these in common; its file describes them once.
IN_COMMON = {"value", "render", "exact", "word", "height", "compute", "evaluated"}


def docstring_problems(name):
    """What numpydoc finds wrong in a docstring."""
    found = validate(name)
    has_list = re.search(r"^ *Parameters\n *-{3}", found["docstring"], re.MULTILINE)
    return [f"{name}: {code} {words}" for code, words in found["errors"]
            if code in KEPT and (code != "PR01" or has_list)]  # fmt: skip


def with_members():
    """Every public name, and the public methods of the classes."""
    for name, thing in explained.names().items():
        if inspect.isclass(thing):
            methods = [m for m, what in vars(thing).items() if not m.startswith("_") and _is_method(what)]
            yield from (f"{name}.{m}" for m in methods if not (name.startswith("toytf.byhand.") and m in IN_COMMON))
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name


def _is_method(what):
    return inspect.isfunction(what) or isinstance(what, (classmethod, staticmethod, property))


def test_every_docstring_has_its_parts():
    assert [line for name in with_members() for line in docstring_problems(name)] == []


def planted(docstring):
    """A function with a docstring, where numpydoc finds it by name."""

    def scale(x, by):
        return x * by

    scale.__doc__, scale.__module__ = docstring, __name__
    globals()["scale"] = scale
    return docstring_problems(f"{__name__}.scale")


LIST = "Multiply.\n\n    Parameters\n    ----------\n    x : float\n    by : float\n    "


@pytest.mark.parametrize(
    "right, wrong, code",
    [
        ("    by : float\n", "", "PR01"),
        ("by :", "factor :", "PR02"),
        ("    x : float\n    by : float\n", "    by : float\n    x : float\n", "PR03"),
        ("x :", "x:", "PR10"),
        ("x : float", "x : boolean", "PR06"),
        (LIST, "", "GL08"),
        ("    Parameters", "    Notes\n    -----\n    One.\n\n    Parameters", "GL07"),
    ],
)  # fmt: skip
def test_a_docstring_without_one_of_its_parts_is_found(right, wrong, code):
    assert planted(LIST) == []
    assert right in LIST
    assert [line for line in planted(LIST.replace(right, wrong)) if f" {code} " in line]


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
    assert toytf_api.kind_in_words("list[EncoderLayer]") == "list[EncoderLayer]"


# ---------------------------------------------------------------- links in listings


def marked(code):
    """A listing as HTML, its public names linked."""
    names = explained.Names()
    links = {(line, begin, end): (f"x.html#{name}", name) for line, begin, end, name in names.of_code(code)}
    out = io.StringIO()
    toytf_code.Formatter(nowrap=True, links=links).format(lex(code, PythonLexer(stripnl=False)), out)
    return out.getvalue()


def test_in_a_listing_the_name_is_the_link_and_every_character_stays():
    imports = "from toytf import ops\nfrom toytf.ops import relu as r\n\n"
    code = imports + 'α = ops.softmax(r(x)) + 1  # ops.softmax\n"""a\nb""" + ops.relu(x)\n'
    shown = marked(code)
    assert re.findall(r'href="x.html#([\w.]+)"[^>]*>(\w+)</a>', shown) == [
        ("toytf.ops.softmax", "softmax"), ("toytf.ops.relu", "r"), ("toytf.ops.relu", "relu"),
    ]  # fmt: skip
    assert re.sub("<[^>]*>", "", shown).replace("&quot;", '"') == code


def test_a_name_of_the_page_itself_is_no_link():
    assert "<a" not in marked("from toytf.ops import softmax\n\n\ndef softmax(x):\n    return x\n").partition("def")[2]
    assert "<a" not in marked("softmax(x)\n")
