"""Pages that list things: where each source went, the table of contents, the errata."""

import re

from bookcheck.links import link_problems, links
from bookcheck.reading import ROOT, notebook_paths, page_paths, written_chapters

# How many topics, and exercises, each source has.
TOPICS = {"T0": 53, "T1": 37, "T2": 11, "T3": 17, "T4": 14}

EXERCISES = 8

_ROW = re.compile(r"^\|\s*([TX]\d-\d+)\s*\|(.*?)\|([^|]*(?:\\\|[^|]*)*)\|\s*$", re.MULTILINE)

_NOT_WRITTEN = re.compile(r"chapters?\s+(\d+)(?:\s*(?:,|and)\s*(?:chapter\s+)?(\d+))*,? not written yet")


def topic_ids():
    """The id of every topic and exercise of the five sources."""
    topics = [f"{source}-{n:02d}" for source, last in TOPICS.items() for n in range(1, last + 1)]
    return topics + [f"X0-{n}" for n in range(1, EXERCISES + 1)]


def coverage_problems(markdown, folder, toc):
    """Every topic has one row, and every row of a finished chapter a home that exists."""
    rows = _ROW.findall(markdown)
    ids = [row[0] for row in rows]
    known = topic_ids()
    problems = [f"{i} has no row" for i in known if i not in ids]
    problems += [f"{i} stands {ids.count(i)} times" for i in sorted(set(ids)) if ids.count(i) > 1]
    problems += [f"{i} is no topic of the sources" for i in ids if i not in known]
    written = written_chapters(toc)
    for topic, _, home in rows:
        found = links(home)
        promised = [int(n) for part in _NOT_WRITTEN.finditer(home) for n in re.findall(r"\d+", part[0])]
        if not found and not promised:
            problems.append(f"{topic} has no home: {home.strip()!r}")
        problems += [
            f"{topic} is promised for chapter {n}, which is written ({written[n]})" for n in promised if n in written
        ]
        problems += [
            f"{topic}: link to {target} names no section"
            for target, anchor in found
            if "notebooks/" in target and not anchor
        ]
    return problems + [f"coverage page: {p}" for p in dict.fromkeys(link_problems(markdown, folder))]


def toc_problems(root=ROOT):
    """``_toc.yml`` lists the notebooks and pages that exist, no more and no fewer."""
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"\b((?:notebooks|book)/[\w/-]+)", toc))
    files = {p.relative_to(root).with_suffix("").as_posix() for p in notebook_paths(root) + page_paths(root)}
    return [f"{f} is not in _toc.yml" for f in sorted(files - listed)] + [
        f"_toc.yml lists {f}, which does not exist" for f in sorted(listed - files)
    ]


KINDS = ("error", "rounding", "simplification", "code bug", "typo", "extraction artefact")

_ERRATUM = re.compile(r"^###\s+(E\d-\d\d):\s+(\S.*?)\s*$", re.MULTILINE)

_KIND = re.compile(rf"^\*Kind:\*\s+(?:{'|'.join(KINDS)})\b", re.MULTILINE)

_NO_CODE = ("*Check:* a fact", "*Check:* editorial")


def errata_sections(nb):
    """``(id, title, text, code cells)`` of every erratum: what stands up to the next heading."""
    sections, current = [], None
    for cell in nb.cells:
        if cell.cell_type == "code":
            if current:
                current[3].append(cell)
            continue
        for part in re.split(r"^(?=#{1,6}\s)", cell.source, flags=re.MULTILINE):
            if heading := _ERRATUM.match(part):
                current = [heading[1], heading[2], part, []]
                sections.append(current)
            elif part.startswith("#"):
                current = None
            elif current:
                current[2] += "\n" + part
    return sections


def errata_problems(nb):
    """Every erratum has its kind, and its check in an executed cell that shows something."""
    problems, seen = [], set()
    for erratum, _, text, cells in errata_sections(nb):
        if erratum in seen:
            problems.append(f"{erratum} stands twice")
        seen.add(erratum)
        if not _KIND.search(text):
            problems.append(f"{erratum} has no line «*Kind:* {' | '.join(KINDS)}»")
        if any(words in text for words in _NO_CODE):
            continue
        if not any(cell.outputs for cell in cells):
            problems.append(f"{erratum} has no check that was executed, and none that it needs no code")
    return problems


def erratum_data_problems(nb, data, toc):
    """The page and ``published.json`` name the same errata under the same titles.

    An erratum must be on the page when its chapter is written, and when a published
    number of a written chapter is corrected by it.
    """
    written, titles = written_chapters(toc), {e: d["title"] for e, d in data["errata"].items()}
    on_page = {erratum: title for erratum, title, _, _ in errata_sections(nb)}
    named = {i: e for e in data["entries"] for key in ("erratum", "see") for i in e.get(key, ())}
    problems = [f"{i} is named by {e['id']} and is no known erratum" for i, e in named.items() if i not in titles]
    needed = {i for i, d in data["errata"].items() if int(d["chapter"]) in written}
    for entry in data["entries"]:
        if int(entry["chapter"]) in written:
            needed.update(entry.get("erratum", ()))
    problems += [f"{i} belongs to a written chapter and is not on the page" for i in sorted(needed - set(on_page))]
    for erratum, title in on_page.items():
        if erratum not in titles:
            problems.append(f"{erratum} is on the page and not in published.json")
        elif titles[erratum] != title:
            problems.append(f"{erratum} is «{title}» on the page and «{titles[erratum]}» in published.json")
    return problems
