"""The table of contents lists what there is. That each link leads somewhere is seen on the built pages (test_site)."""

from bookcheck import reading
from sitecheck import CONTENTS as TOC
from toytf.course.chapters import chapters


def test_the_table_of_contents_lists_each_page_once():
    paths = reading.notebook_paths() + reading.page_paths() + [*reading.ROOT.glob("book/api/*.md")]
    assert sorted(TOC) == sorted(path.relative_to(reading.ROOT).with_suffix("").as_posix() for path in paths)


def test_the_chapters_are_those_of_the_contents_in_their_order():
    assert [f"notebooks/{name}" for name in chapters().values()] == [one for one in TOC if one.startswith("notebooks/")]
