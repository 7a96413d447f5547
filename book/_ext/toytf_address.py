"""Sphinx extension: what a site needs that others can reach, and what each page says.

Three environment variables say where the book stands, and all are empty by default:

- TOYTF_SITE_URL, the address of the site: ``https://example.org/course/``
- TOYTF_REPOSITORY, that of its source: ``https://github.com/somebody/course``
- TOYTF_LITE_URL, that of what `make lite` makes: ``https://example.org/course/lite/``

Each page describes itself, and its foot names version and date. With an address the
site has canonical links, a map, a page for what is not there, and pictures for those
who share a page (`toytf_cards`). With a repository, pages lead to Colab, to Binder and
to a new issue. Without either, no page names anybody else's machine.
"""

import html
import os
import re
import subprocess
import time
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from docutils import nodes
from sphinx.errors import ConfigError
from toytf_cards import SIZE, draw_card
from toytf_site import questions

SITE = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~%-]+)*/?")
REPOSITORY = re.compile(r"(https://github\.com/[\w-]+/[\w.-]+?)(\.git)?/?", re.ASCII)
# The branch of the repository that has the notebooks as they are downloaded.
COLAB_BRANCH = "colab"
LONGEST = 200  # letters of a description: what previews show
# The pages whose notebooks `make lite` takes along.
IN_LITE = re.compile(r"notebooks/\d\d_\w+|book/(follow|machine)")
# What the head of a page says of it, and where it stands.
SAID = re.compile(
    r'<meta (?:name="(?:description|twitter:card)|property="og:[^"]*)"[^>]*>'
    r'|<link rel="canonical"[^>]*>'
)
NOT_HERE = """\
<h1>This page is not here</h1>
<p>It may have moved, or the address has a slip.
<a href="{first}">The first page</a> lists all chapters, and the
<a href="search.html">search</a> finds words and numbers.</p>
"""

# ---------------------------------------------------------------- the settings


def site_url(said, variable="TOYTF_SITE_URL"):
    """The address of a site, with a slash at its end; empty where there is none."""
    if said and not SITE.fullmatch(said):
        raise ConfigError(
            f"{variable}: expected the address of the site, "
            f'as in "https://example.org/course/", got "{said}"'
        )
    return f"{said.rstrip('/')}/" if said else ""


def repository(said):
    """The address of a repository on GitHub, without a slash at its end; or empty."""
    if not said:
        return ""
    if not (found := REPOSITORY.fullmatch(said)):
        raise ConfigError(
            "TOYTF_REPOSITORY: expected the address of a repository on GitHub, "
            f'as in "https://github.com/somebody/course", got "{said}"'
        )
    return found[1]


def epoch(folder):
    """The second of the last commit to a folder as a text, or SOURCE_DATE_EPOCH.

    Empty where there is neither: a build never takes the time of the clock.
    """
    said = os.environ.get("SOURCE_DATE_EPOCH", "").strip()
    if said and not said.isdecimal():
        raise ConfigError(
            f'SOURCE_DATE_EPOCH: expected seconds since 1970, got "{said}"'
        )
    if said:
        return said
    command = ["git", "-C", str(folder), "log", "-1", "--format=%ct", "--", "."]
    try:
        run = subprocess.run(command, capture_output=True, encoding="utf-8")
    except OSError:  # no git: the folder was downloaded
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def day(second):
    """The day of a second since 1970, in UTC; empty for an empty text.

    >>> day("1784000000")
    '2026-07-14'
    """
    return time.strftime("%Y-%m-%d", time.gmtime(int(second))) if second else ""


def check(app, config):
    config.toytf_site_url = site_url(config.toytf_site_url)
    config.toytf_repository = repository(config.toytf_repository)
    config.toytf_lite_url = site_url(config.toytf_lite_url, "TOYTF_LITE_URL")
    if not config.toytf_epoch:
        config.toytf_epoch = epoch(app.srcdir)
    if config.toytf_site_url:
        config.html_baseurl = config.toytf_site_url


# ---------------------------------------------------------------- what a page says

NOT_WORDS = (nodes.math, nodes.raw, nodes.image)


def text_of(node):
    return " ".join(node.astext().split())


def description(doctree, question, project):
    """What a page is about, in one or two sentences.

    A chapter says its question; another page what it says first, without formulas.
    """
    if question:
        return f"{question} A chapter of {project}, with every number computed."
    said = ""
    for paragraph in doctree.findall(nodes.paragraph):
        strange = any(any(paragraph.findall(kind)) for kind in NOT_WORDS)
        if strange or not isinstance(paragraph.parent, nodes.section):
            continue
        for sentence in re.split(r"(?<=[.?!]) (?=[A-Z“\"])", text_of(paragraph)):
            if len(said) + len(sentence) >= LONGEST:
                return said or f"{sentence[: sentence.rfind(' ', 0, LONGEST)]} …"
            said = f"{said} {sentence}".strip()
        if len(said) > LONGEST / 2:
            break
    return said.rstrip(":")


def plain(title):
    """A title without its tags.

    >>> plain('<span class="section-number">4. </span>Queries &amp; keys')
    '4. Queries & keys'
    """
    return html.unescape(re.sub(r"<[^>]*>", "", title))


def tags(pairs):
    """The tags of a page's head; Open Graph names a property, all others a name."""
    lines = []
    for name, content in pairs.items():
        kind = "property" if name.startswith("og:") else "name"
        lines.append(f'<meta {kind}="{name}" content="{html.escape(content)}">')
    return "\n".join(["", *lines, ""])


def describe(app, page, context, doctree):
    """Description and Open Graph of a page; with an address its picture too."""
    title, project = plain(context["title"]), app.config.html_title
    question = questions().get(page)
    said = description(doctree, question, project) or f"{title}. A page of {project}."
    first = page == app.config.root_doc
    pairs = {
        "description": said,
        "og:title": title,
        "og:description": said,
        "og:type": "website" if first else "article",
        "og:site_name": project,
    }
    if base := app.config.toytf_site_url:
        place, alt = draw_card(app, page, title, question or said)
        width, height = SIZE
        pairs |= {
            "og:url": base + app.builder.get_target_uri(page),
            "og:image": base + place,
            "og:image:width": str(width),
            "og:image:height": str(height),
            "og:image:alt": alt,
            "twitter:card": "summary_large_image",
        }
    return pairs


def launches(app, page):
    """Where a page's notebook runs: (name, address) of each; only for the whole book.

    A book without solutions does not lead to a repository that has them.
    """
    notebook = app.env.doc2path(page).endswith(".ipynb")
    if not (app.config.toytf_solutions and notebook):
        return []
    found = []
    if app.config.toytf_repository:
        _, _, name = app.config.toytf_repository.partition("github.com/")
        colab = f"https://colab.research.google.com/github/{name}/blob/{COLAB_BRANCH}"
        lab = quote(f"lab/tree/{page}.ipynb", safe="")
        found.append(("Colab", f"{colab}/{page}.ipynb"))
        found.append(
            ("Binder", f"https://mybinder.org/v2/gh/{name}/HEAD?urlpath={lab}")
        )
    if app.config.toytf_lite_url and IN_LITE.fullmatch(page):
        lite = f"{app.config.toytf_lite_url}lab/index.html"
        found.append(("Browser", f"{lite}?path={page.rpartition('/')[2]}.ipynb"))
    return found


def issue(app, page, title, version):
    """The address at which an issue about a page begins."""
    if not app.config.toytf_repository:
        return ""
    place = (app.config.toytf_site_url or "") + app.builder.get_target_uri(page)
    body = f"Page: {place}\nVersion: {version}\n\nWhat is wrong or unclear:\n"
    asked = urlencode({"title": f"{title}: ", "body": body}, quote_via=quote)
    return f"{app.config.toytf_repository}/issues/new?{asked}"


def prepare_page(app, page, template, context, doctree):
    from toytf import __version__

    date = day(app.config.toytf_epoch)
    version = f"{__version__}, {date}" if date else __version__
    context["toytf_version"] = version
    if app.builder.name != "html":  # a book for e-readers stands nowhere
        return
    if doctree is None:  # the search, and the page for what is not there
        context["pageurl"] = None
        robots = tags({"robots": "noindex"})
        context["metatags"] = context.get("metatags", "") + robots
        return
    pairs = describe(app, page, context, doctree)
    context["metatags"] = context.get("metatags", "") + tags(pairs)
    context["toytf_launches"] = launches(app, page)
    context["toytf_issue"] = issue(app, page, pairs["og:title"], version)


# ---------------------------------------------------------------- other forms

FORMS = (  # behind the book's name in files/, where the workflow lays them
    ("PDF", ".pdf"),
    ("EPUB", ".epub"),
    ("all pages as a zip", "-{version}.zip"),
)


def other_forms(app):
    """The book's other forms: (name, address) of each."""
    from toytf import __version__

    title = app.config.html_title.lower()
    name = re.sub(r"[^a-z0-9]+", "-", title).strip("-")
    files = [(said, name + end.format(version=__version__)) for said, end in FORMS]
    base = f"{app.config.toytf_site_url}files/"
    found = [(said, base + file) for said, file in files]
    if lite := app.config.toytf_lite_url:
        found.append(("the notebooks with a Python in your browser", lite))
    return found


def offer_forms(app, doctree, docname):
    """The first page of a site with an address leads to them, at its "To run it".

    Whole addresses: in the zip there are no files beside the pages.
    """
    first = docname == app.config.root_doc and app.builder.name == "html"
    if not (first and app.config.toytf_site_url and app.config.toytf_solutions):
        return
    sections = doctree.findall(nodes.section)
    section = next((one for one in sections if "to-run-it" in one["ids"]), doctree)
    paragraph = nodes.paragraph("", "To take along: ", classes=["other-forms"])
    for n, (said, address) in enumerate(other_forms(app)):
        paragraph += nodes.Text(", " if n else "")
        paragraph += nodes.reference("", said, refuri=address)
    paragraph += nodes.Text(".")
    section += paragraph


# ---------------------------------------------------------------- around the pages


def not_here(app):
    """The page that a server shows for an address that leads nowhere."""
    if app.config.toytf_site_url and app.builder.name == "html":
        first = app.builder.get_target_uri(app.config.root_doc)
        body = NOT_HERE.format(first=html.escape(first))
        yield "404", {"title": "Not here", "body": body}, "page.html"


def from_anywhere(page, path):
    """A page of the top whose links hold at any depth: each begins with the path.

    >>> from_anywhere('<a href="a.html#b"> <a href="#b"> <img src="x.svg">', "/course/")
    '<a href="/course/a.html#b"> <a href="#b"> <img src="/course/x.svg">'
    """
    link = r'(?<=\s)(href|src|action|data-content_root)="(?!#|/|[a-z][a-z+.-]*:)(\./)?'
    return re.sub(link, rf'\g<1>="{path}', page)


def front_door(app):
    """The page at the bare address, which says of itself what the first page says."""
    first = app.builder.get_target_uri(app.config.root_doc)
    page = (Path(app.outdir) / first).read_text("utf-8")
    title = html.escape(app.config.html_title)
    lines = [
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
        f"<title>{title}</title>",
        f'<meta http-equiv="refresh" content="0; url={html.escape(first)}">',
        *SAID.findall(page.partition("</head>")[0]),
        f'<p><a href="{html.escape(first)}">{title}</a></p>',
        "</html>\n",
    ]
    return "\n".join(lines)


def site_map(pages):
    """The list of a site's pages for those who search the web."""
    lines = [f"<url><loc>{html.escape(page)}</loc></url>" for page in pages]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{space}">'
    return "\n".join([head, *lines, "</urlset>\n"])


def finish(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    site, base = Path(app.outdir), app.config.toytf_site_url
    if app.config.root_doc != "index":
        (site / "index.html").write_text(front_door(app), "utf-8", newline="\n")
    files = {}
    if base:
        pages = [app.builder.get_target_uri(page) for page in app.env.found_docs]
        lost = (site / "404.html").read_text("utf-8")
        files = {
            "sitemap.xml": site_map(base + page for page in sorted(pages)),
            "robots.txt": f"User-agent: *\nAllow: /\n\nSitemap: {base}sitemap.xml\n",
            "404.html": from_anywhere(lost, urlsplit(base).path),
            ".nojekyll": "",  # else GitHub Pages leaves _static out
        }
    for name in ("sitemap.xml", "robots.txt", "404.html", ".nojekyll"):
        if name in files:
            (site / name).write_text(files[name], "utf-8", newline="\n")
        else:  # of an earlier build, which had an address
            (site / name).unlink(missing_ok=True)


def setup(app):
    for name, variable in (
        ("toytf_site_url", "TOYTF_SITE_URL"),
        ("toytf_repository", "TOYTF_REPOSITORY"),
        ("toytf_lite_url", "TOYTF_LITE_URL"),
    ):
        app.add_config_value(name, os.environ.get(variable, "").strip(), "html", str)
    app.add_config_value("toytf_epoch", "", "html", str)
    # before Sphinx compares with the settings of the last build
    app.connect("config-inited", check, priority=100)
    # after toytf_site, whose changes to the context it keeps
    app.connect("html-page-context", prepare_page, priority=910)
    app.connect("doctree-resolved", offer_forms)
    app.connect("html-collect-pages", not_here)
    # after toytf_site, which mends the page 404.html among the others
    app.connect("build-finished", finish, priority=920)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
