"""The table of contents lists what there is, and every link between pages leads to a heading."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.renderer import RendererHTML
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.anchors.index import slugify
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import compute_unique_slug, default_slugify
from myst_parser.parsers.mdit import create_md_parser
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookcheck import links, pages, reading

TOC = "root: book/preface\nchapters:\n  - file: notebooks/03_positions\n"

# ---------------------------------------------------------------------------------------
# The book's own page


def test_the_table_of_contents_lists_what_there_is():
    problems = pages.toc_problems()
    assert not problems, "\n".join(problems)


def test_the_chapters_are_those_of_the_contents():
    from toytf.course.chapters import chapters

    written = reading.written_chapters((reading.ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert {int(number): f"notebooks/{name}" for number, name in chapters().items()} == written


@pytest.mark.parametrize("path", reading.notebook_paths() + reading.page_paths(), ids=lambda p: p.name)
def test_every_link_between_pages_leads_to_a_heading(path):
    problems = links.link_problems(reading.page_markdown(path), path.parent)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("path", reading.notebook_paths() + reading.page_paths(), ids=lambda p: p.name)
def test_our_slugs_are_mysts(path):
    markdown = reading.page_markdown(path)
    assert links.heading_slugs(markdown) == myst_slugs(markdown)


# ---------------------------------------------------------------------------------------
# Slugs


def test_headings_are_linkable_as_deep_as_the_book_says():
    config = (reading.ROOT / "_config.yml").read_text(encoding="utf-8")
    assert f"myst_heading_anchors: {links.HEADING_DEPTH}\n" in config


def myst_slugs(markdown):
    """The slugs that the book's own Markdown parser makes."""
    config = MdParserConfig(enable_extensions={"dollarmath", "amsmath", "colon_fence"})
    tree = SyntaxTreeNode(create_md_parser(config, RendererHTML).parse(markdown))
    slugs = []
    for node in tree.children:
        if node.type == "heading" and int(node.tag[1]) <= links.HEADING_DEPTH:
            slugs.append(compute_unique_slug(node, slugs))
    return slugs


@given(st.text())
def test_a_slug_is_mysts_slug_of_any_title(title):
    assert slugify(title) == default_slugify(title)


HEADINGS = """# Positions

## The formula
### What `sin` does with *pos*, and why?
## The formula
## The formula
#### Query, key & value: 0.99 for 0.54
##### too deep
## A root $\\sqrt{d_k}$ in words
## 位置 encoding
```
# not a heading
```
:::{note}
## not one either
:::
## [A link](x.md) and `code` ##
"""


def test_headings_are_read_as_myst_reads_them():
    assert links.heading_slugs(HEADINGS) == myst_slugs(HEADINGS)
    assert "the-formula-1" in links.heading_slugs(HEADINGS)


# ---------------------------------------------------------------------------------------
# Planted mistakes


@pytest.fixture
def book(tmp_path):
    """A folder with a chapter and a page."""
    (tmp_path / "book").mkdir()
    (tmp_path / "notebooks").mkdir()
    chapter = tmp_path / "notebooks" / "03_positions.ipynb"
    cells = [new_markdown_cell("# Positions\n\n## The formula", id="a"), new_code_cell("1", id="b")]
    chapter.write_text(json.dumps(new_notebook(cells=cells)), encoding="utf-8")
    (tmp_path / "book" / "notation.md").write_text("# Notation\n\n## Shapes\n", encoding="utf-8")
    (tmp_path / "_toc.yml").write_text(TOC, encoding="utf-8")
    return tmp_path / "book"


def test_a_page_that_the_contents_forget_is_caught(book):
    root = book.parent
    toc = TOC + "  - file: book/notation\n"
    (root / "_toc.yml").write_text(toc.replace("root: book/preface\n", ""), encoding="utf-8")
    assert pages.toc_problems(root) == []
    (root / "_toc.yml").write_text(toc, encoding="utf-8")
    assert pages.toc_problems(root) == ["_toc.yml lists book/preface, which does not exist"]
    (root / "_toc.yml").write_text("chapters:\n  - file: notebooks/03_positions\n", encoding="utf-8")
    assert pages.toc_problems(root) == ["book/notation is not in _toc.yml"]


def test_a_broken_anchor_between_pages_is_caught(book):
    text = "# A\n\n[here](#a) [there](notation.md#shapes) [web](https://example.org/x#y)"
    assert links.link_problems(text, book) == []
    assert links.link_problems(text.replace("#shapes", "#shape"), book)
    assert links.link_problems(text.replace("#a", "#b"), book)
    assert links.link_problems(text.replace("notation", "notations"), book)
    touch = "[touch](../notebooks/03_positions.ipynb#clocks?word=3)"
    assert links.link_problems(touch, book) == [f"link to {touch[8:-1]}: no such thing to touch"]
    chapter = book.parent / "notebooks" / "03_positions.ipynb"
    chapter.write_text(chapter.read_text("utf-8").replace('"1"', '"live.clocks(x)"'), "utf-8")
    assert links.link_problems(touch, book) == []
    code = "\n\n```python\nPARTS[part](params)\n```\n"
    assert links.link_problems(text + code, book) == []
    assert len(links.link_problems(code + text.replace("notation", "notations") + code, book)) == 1
