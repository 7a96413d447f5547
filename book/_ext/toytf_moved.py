"""Sphinx extension: what once had an address still has it.

``toytf_moved`` says where a page went, as in ``{"book/errata": "book/published"}``. At
the old address stands a page of a few lines that leads to the new one, with the same
fragment. Fragments that begin alike can have a page of their own:
``{"book/errata#e0-": "book/replay_random_transformer"}``. There they can begin in
another way: ``{"book/errata#e0-": "book/replay_random_transformer#remark-"}``. The
longest beginning counts. Where the page itself is still there, it leads them on.
"""

import json
from pathlib import Path, PurePosixPath

from jinja2 import Environment
from sphinx.errors import ConfigError

# "<" is written \u003c in `parts`: no address can end the script.
LEAD_ON = """\
<script>
  const parts = {{ parts | safe }}
  const start = Object.keys(parts).find((start) => location.hash.startsWith(start))
  if (start) location.replace(parts[start] + location.hash.slice(start.length))
"""
ENVIRONMENT = Environment(autoescape=True, keep_trailing_newline=True)
STILL_THERE = ENVIRONMENT.from_string(f"{LEAD_ON}</script>\n")
PAGE = ENVIRONMENT.from_string(
    """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>This page has moved</title>
<link rel="canonical" href="{{ to }}">
"""
    + LEAD_ON
    + """\
  else location.replace({{ to | tojson }} + location.hash)
</script>
<noscript><meta http-equiv="refresh" content="0; url={{ to }}"></noscript>
<p>This page has moved <a href="{{ to }}">to another place</a>.</p>
</html>
"""
)


def beside(old, new):
    """The address of a page as seen from another."""
    up = "../" * (len(PurePosixPath(old).parts) - 1)
    return f"{up}{new}.html"


def check(app, config):
    for old, new in config.toytf_moved.items():
        page, mark, start = old.partition("#")
        wrong = not isinstance(new, str) or not page or (mark and not start)
        if wrong or ("#" in new and not start):
            raise ConfigError(
                "toytf_moved: expected an old page, or its name with # and the "
                "beginning of a fragment, and the new page (with # and what the "
                f"fragment begins with there, if it changes), got {old!r}: {new!r}"
            )


def parts_of(page, moved):
    """From the beginnings of a page's fragments, the longest first, to their places."""
    found = {}
    for old in sorted(moved, key=len, reverse=True):
        name, _, start = old.partition("#")
        if name == page and start:
            to, _, begins = moved[old].partition("#")
            found[f"#{start}"] = f"{beside(page, to)}#{begins or start}"
    return json.dumps(found).replace("<", "\\u003c")


def lead_on(app, page, template, context, doctree):
    """A page that is there leads on what has left it."""
    moved = app.config.toytf_moved
    if doctree is not None and any(old.startswith(f"{page}#") for old in moved):
        script = STILL_THERE.render(parts=parts_of(page, moved))
        context["metatags"] = context.get("metatags", "") + script


def write_pages(app, exception):
    if exception or app.builder.format != "html":
        return
    moved, there = app.config.toytf_moved, app.env.found_docs
    for old, new in moved.items():
        page, _, start = old.partition("#")
        if new.partition("#")[0] not in there:
            raise ConfigError(f"toytf_moved: expected a page of the book, got {new!r}")
        if start and page not in {*moved, *there}:
            raise ConfigError(f"toytf_moved: expected an entry for {page!r} too")
        if start:
            continue
        if old in there:
            raise ConfigError(f"toytf_moved: {old!r} has not moved, it is there")
        html = PAGE.render(to=beside(old, new), parts=parts_of(old, moved))
        path = Path(app.outdir) / f"{old}.html"
        path.write_text(html, "utf-8", newline="\n")


def setup(app):
    app.add_config_value("toytf_moved", {}, "html", dict)
    app.connect("config-inited", check)
    app.connect("html-page-context", lead_on)
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
