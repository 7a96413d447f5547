"""Sphinx extension: what once had an address still has it.

``toytf_moved`` says where a page went, as in ``{"book/errata": "book/published"}``. At
the old address stands a page of a few lines that leads to the new one, with the same
fragment. Fragments that begin alike can have a page of their own:
``{"book/errata#e0-": "book/replay_random_transformer"}``.
"""

import json
from pathlib import Path, PurePosixPath

from jinja2 import Environment
from sphinx.errors import ConfigError

PAGE = Environment(autoescape=True, keep_trailing_newline=True).from_string("""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>This page has moved</title>
<link rel="canonical" href="{{ to }}">
<script type="application/json" id="parts">{{ parts | safe }}</script>
<script>
  const parts = JSON.parse(document.getElementById("parts").textContent)
  const part = Object.keys(parts).find((start) => location.hash.startsWith(start))
  location.replace((parts[part] ?? {{ to | tojson }}) + location.hash)
</script>
<noscript><meta http-equiv="refresh" content="0; url={{ to }}"></noscript>
<p>This page has moved <a href="{{ to }}">to another place</a>.</p>
</html>
""")


def beside(old, new):
    """The address of a page as seen from another."""
    up = "../" * (len(PurePosixPath(old).parts) - 1)
    return f"{up}{new}.html"


def check(app, config):
    for old, new in config.toytf_moved.items():
        page, _, start = old.partition("#")
        if not isinstance(new, str) or "#" in new or ("#" in old and not start):
            raise ConfigError(
                "toytf_moved: expected an old page, or its name with # and the "
                f"beginning of a fragment, and the new page, got {old!r}: {new!r}"
            )
        if start and page not in config.toytf_moved:
            raise ConfigError(f"toytf_moved: expected an entry for {page!r} too")


def write_pages(app, exception):
    if exception or app.builder.format != "html":
        return
    moved = app.config.toytf_moved
    for old, new in moved.items():
        if new not in app.env.found_docs:
            raise ConfigError(f"toytf_moved: expected a page of the book, got {new!r}")
        if "#" in old:
            continue
        if old in app.env.found_docs:
            raise ConfigError(f"toytf_moved: {old!r} has not moved, it is there")
        parts = {
            other.removeprefix(old): beside(old, to)
            for other, to in moved.items()
            if other.startswith(f"{old}#")
        }
        html = PAGE.render(to=beside(old, new), parts=json.dumps(parts))
        path = Path(app.outdir) / f"{old}.html"
        path.write_text(html, "utf-8", newline="\n")


def setup(app):
    app.add_config_value("toytf_moved", {}, "html", dict)
    app.connect("config-inited", check)
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
