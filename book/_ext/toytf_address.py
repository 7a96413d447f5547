"""Sphinx extension: what a site needs that others can reach, and what each page says.

Three environment variables say where the book stands, and all are empty by default:

- TOYTF_SITE_URL, the address of the site: ``https://example.org/course/``
- TOYTF_REPOSITORY, that of its source: ``https://github.com/somebody/course``
- TOYTF_LITE_URL, that of what `make forms FORMS=lite` makes: ``https://example.org/course/lite/``

Each page describes itself, and its foot names version and date. With an address the site has canonical links, a map, a
page for what is not there, and a picture for those who share a page. With a repository, pages lead to Colab, to Binder
and to a new issue. Without either, no page names anybody else's machine.
"""

import os
import re
import subprocess
import textwrap
import time
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from docutils import nodes
from sphinx.errors import ConfigError
from toytf_site import questions

from toytf import __version__

SITE = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~%-]+)*/?")
REPOSITORY = re.compile(r"(https://github\.com/[\w-]+/[\w.-]+?)(\.git)?/?", re.ASCII)
# The branch of the repository that has the notebooks as they are downloaded.
COLAB_BRANCH = "colab"
LONGEST = 200  # letters of a description: what previews show
# The pages whose notebooks `make forms FORMS=lite` takes along.
IN_LITE = re.compile(r"notebooks/\d\d_\w+|book/(follow|machine)")
# What the head of a page says of it, and where it stands.
SAID = re.compile(r'<meta (?:name="(?:description|twitter:card)|property="og:[^"]*)"[^>]*>|<link rel="canonical"[^>]*>')
NOT_HERE = """\
<h1>This page is not here</h1>
<p>It may have moved, or the address has a slip.
<a href="{first}">The first page</a> lists all chapters, and the
<a href="search.html">search</a> finds words and numbers.</p>
"""
FRONT_DOOR = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={first}">
{said}
<p><a href="{first}">{title}</a></p>
</html>
"""

# ---------------------------------------------------------------- the settings


def site_url(said, variable="TOYTF_SITE_URL"):
    """The address of a site, with a slash at its end; empty where there is none."""
    if said and not SITE.fullmatch(said):
        example = '"https://example.org/course/"'
        raise ConfigError(f'{variable}: expected the address of the site, as in {example}, got "{said}"')
    return f"{said.rstrip('/')}/" if said else ""


def repository(said):
    """The address of a repository on GitHub, without a slash at its end; or empty."""
    found = REPOSITORY.fullmatch(said)
    if said and not found:
        example = '"https://github.com/somebody/course"'
        raise ConfigError(
            f'TOYTF_REPOSITORY: expected the address of a repository on GitHub, as in {example}, got "{said}"'
        )
    return found[1] if found else ""


def epoch(folder):
    """The second of the last commit to a folder as a text, or SOURCE_DATE_EPOCH; empty where there is neither.

    A build never takes the time of the clock.
    """
    if said := os.environ.get("SOURCE_DATE_EPOCH", "").strip():
        return said
    command = ["git", "-C", str(folder), "log", "-1", "--format=%ct", "--", "."]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8").stdout.strip()
    except OSError:  # no git: the folder was downloaded
        return ""


def check(app, config):
    config.toytf_site_url = site_url(config.toytf_site_url)
    config.toytf_repository = repository(config.toytf_repository)
    config.toytf_lite_url = site_url(config.toytf_lite_url, "TOYTF_LITE_URL")
    config.toytf_epoch = epoch(app.srcdir)
    day = [time.strftime("%Y-%m-%d", time.gmtime(int(config.toytf_epoch)))] if config.toytf_epoch else []
    config.toytf_version = ", ".join([__version__, *day])
    if config.toytf_site_url:
        config.html_baseurl = config.toytf_site_url


# ---------------------------------------------------------------- what a page says


def description(doctree, question, project):
    """What a page is about: a chapter's question; of another page what it says first, without formulas."""
    if question:
        return f"{question} A chapter of {project}, with every number computed."
    said = ""
    for paragraph in doctree.findall(nodes.paragraph):
        strange = any(isinstance(node, (nodes.math, nodes.raw, nodes.image)) for node in paragraph.findall())
        if not strange and isinstance(paragraph.parent, nodes.section) and len(said) < LONGEST / 2:
            said += f" {paragraph.astext()}"
    said = textwrap.shorten(said, LONGEST, placeholder=" …").rstrip(":")
    return re.sub(r"(?<=[.?!]) [^.?!]*…$", "", said)  # rather whole sentences


def tags(pairs):
    """The tags of a page's head; Open Graph names a property, all others a name."""
    lines = []
    for name, content in pairs.items():
        kind = "property" if name.startswith("og:") else "name"
        lines.append(f'<meta {kind}="{name}" content="{escape(content)}">')
    return "\n".join(["", *lines, ""])


def describe(app, page, title, doctree):
    """Description and Open Graph of a page; with an address its place and a picture too."""
    project = app.config.html_title
    said = description(doctree, questions().get(page), project) or f"{title}. A page of {project}."
    pairs = {
        "description": said,
        "og:title": title,
        "og:description": said,
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": project,
    }
    if base := app.config.toytf_site_url:
        pairs |= {
            "og:url": base + app.builder.get_target_uri(page),
            "og:image": f"{base}_static/look.png",
            "og:image:alt": "Two pages of the course, on a laptop and on a phone.",
            "twitter:card": "summary_large_image",
        }
    return pairs


def launches(app, page):
    """Where a page's notebook runs: (name, address) of each; only for the whole book.

    A book without solutions does not lead to a repository that has them.
    """
    if not (app.config.toytf_solutions and app.env.doc2path(page).endswith(".ipynb")):
        return []
    found = []
    if app.config.toytf_repository:
        _, _, name = app.config.toytf_repository.partition("github.com/")
        lab = quote(f"lab/tree/{page}.ipynb", safe="")
        colab = f"https://colab.research.google.com/github/{name}/blob/{COLAB_BRANCH}/{page}.ipynb"
        found += [("Colab", colab), ("Binder", f"https://mybinder.org/v2/gh/{name}/HEAD?urlpath={lab}")]
    if app.config.toytf_lite_url and IN_LITE.fullmatch(page):
        notebook = f"{page.rpartition('/')[2]}.ipynb"
        found.append(("Browser", f"{app.config.toytf_lite_url}lab/index.html?path={notebook}"))
    return found


def issue(app, page, title):
    """The address at which an issue about a page begins."""
    if not app.config.toytf_repository:
        return ""
    place = app.config.toytf_site_url + app.builder.get_target_uri(page)
    body = f"Page: {place}\nVersion: {app.config.toytf_version}\n\nWhat is wrong or unclear:\n"
    asked = urlencode({"title": f"{title}: ", "body": body}, quote_via=quote)
    return f"{app.config.toytf_repository}/issues/new?{asked}"


def prepare_page(app, page, template, context, doctree):
    context["toytf_version"] = app.config.toytf_version
    if app.builder.name != "html":
        return
    if doctree is None:  # the search, and the page for what is not there
        context["pageurl"] = None
        said = {"robots": "noindex"}
    else:
        title = unescape(re.sub(r"<[^>]*>", "", context["title"]))
        said = describe(app, page, title, doctree)
        context["toytf_launches"] = launches(app, page)
        context["toytf_issue"] = issue(app, page, title)
    context["metatags"] = context.get("metatags", "") + tags(said)


# ---------------------------------------------------------------- other forms


def other_forms(config):
    """The book's other forms: (name, address) of each, in files/, where the workflow lays them."""
    book = config.toytf_site_url + "files/" + re.sub(r"[^a-z0-9]+", "-", config.html_title.lower()).strip("-")
    found = [("PDF", f"{book}.pdf"), ("EPUB", f"{book}.epub"), ("all pages as a zip", f"{book}-{__version__}.zip")]
    found += [("the notebooks with a Python in your browser", config.toytf_lite_url)]
    found += [("the course's folder", config.toytf_repository)]
    return [one for one in found if one[1]]


def offer_forms(app, doctree, docname):
    """The first page of a site with an address leads to them, at its "To run it".

    Whole addresses: in the zip there are no files beside the pages.
    """
    first = docname == app.config.root_doc and app.builder.name == "html"
    if not (first and app.config.toytf_site_url and app.config.toytf_solutions):
        return
    section = next((one for one in doctree.findall(nodes.section) if "to-run-it" in one["ids"]), doctree)
    paragraph = nodes.paragraph("", "To take along: ", classes=["other-forms"])
    for n, (said, address) in enumerate(other_forms(app.config)):
        paragraph += [nodes.Text(", " if n else ""), nodes.reference("", said, refuri=address)]
    paragraph += nodes.Text(".")
    section += paragraph


# ---------------------------------------------------------------- around the pages


def not_here(app):
    """The page that a server shows for an address that leads nowhere."""
    if app.config.toytf_site_url and app.builder.name == "html":
        body = NOT_HERE.format(first=escape(app.builder.get_target_uri(app.config.root_doc)))
        yield "404", {"title": "Not here", "body": body}, "page.html"


def from_anywhere(page, path):
    """A page of the top whose links hold at any depth: each begins with the path.

    >>> from_anywhere('<a href="a.html#b"> <a href="#b"> <img src="x.svg">', "/course/")
    '<a href="/course/a.html#b"> <a href="#b"> <img src="/course/x.svg">'
    """
    link = r'(?<=\s)(href|src|action|data-content_root)="(?!#|/|[a-z][a-z+.-]*:)(\./)?'
    return re.sub(link, rf'\g<1>="{path}', page)


def site_map(pages):
    """The list of a site's pages for those who search the web."""
    lines = "\n".join(f"<url><loc>{escape(page)}</loc></url>" for page in pages)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{space}">\n{lines}\n</urlset>\n'


def finish(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    site, base, first = Path(app.outdir), app.config.toytf_site_url, app.builder.get_target_uri(app.config.root_doc)
    files = {}
    if first != "index.html":  # the bare address says of itself what the first page says
        said = "\n".join(SAID.findall((site / first).read_text("utf-8").partition("</head>")[0]))
        files["index.html"] = FRONT_DOOR.format(title=escape(app.config.html_title), first=escape(first), said=said)
    if base:
        files |= {
            "sitemap.xml": site_map(sorted(base + app.builder.get_target_uri(page) for page in app.env.found_docs)),
            "robots.txt": f"User-agent: *\nAllow: /\n\nSitemap: {base}sitemap.xml\n",
            "404.html": from_anywhere((site / "404.html").read_text("utf-8"), urlsplit(base).path),
            ".nojekyll": "",  # else GitHub Pages leaves _static out
        }
    for name in {"sitemap.xml", "robots.txt", "404.html", ".nojekyll"} - files.keys():
        (site / name).unlink(missing_ok=True)  # of an earlier build, which had an address
    for name, text in files.items():
        (site / name).write_text(text, "utf-8", newline="\n")


def setup(app):
    for name in ("site_url", "repository", "lite_url"):
        app.add_config_value(f"toytf_{name}", os.environ.get(f"TOYTF_{name.upper()}", "").strip(), "html", str)
    app.add_config_value("toytf_epoch", "", "html", str)
    app.add_config_value("toytf_version", "", "html", str)
    # before Sphinx compares with the settings of the last build
    app.connect("config-inited", check, priority=100)
    # after toytf_site, whose changes to the context it keeps
    app.connect("html-page-context", prepare_page, priority=910)
    app.connect("doctree-resolved", offer_forms)
    app.connect("html-collect-pages", not_here)
    # after toytf_site, which mends the page 404.html among the others
    app.connect("build-finished", finish, priority=920)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
