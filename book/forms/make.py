"""Make other forms of the built site: `python book/forms/make.py pdf epub zip slides`.

--site is the built site, --out the folder for what is made. Each form is made whole or not at all.
"""

import argparse
import importlib
import os
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pages  # noqa: E402
from toytf import __version__  # noqa: E402
from toytf._command import replaced  # noqa: E402

NOT_FOR_READERS = {".buildinfo", ".doctrees"}


def pack(site, out, root=pages.ROOT):
    """The site as a zip whose index.html opens from the disk; the same files give the same bytes."""
    if not (site / "index.html").is_file():
        raise pages.FormError(f"expected a built site, found no {site / 'index.html'}")
    name = pages.slug(pages.config(root)["title"])
    files = {file.relative_to(site): file for file in sorted(site.rglob("*")) if file.is_file()}
    files |= {Path(one): pages.ROOT / one for one in ("LICENSE", "NOTICE")}
    # no zip is older than 1980
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    path = out / f"{name}-{__version__}.zip"
    with replaced(path) as new, zipfile.ZipFile(new, "w") as packed:
        for place, file in files.items():
            if NOT_FOR_READERS.isdisjoint(place.parts):
                entry = zipfile.ZipInfo(f"{name}/{place.as_posix()}", date)
                entry.external_attr = 0o644 << 16
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("forms", nargs="+", choices=("pdf", "epub", "zip", "slides", "lite"))
    parser.add_argument("--site", type=Path, default="_build/html", help="the built pages")
    parser.add_argument("--out", type=Path, default="_build/forms", help="the folder to write in")
    parser.add_argument("--paper", choices=("a4", "letter"), default="a4", help="of the PDF")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        for form in options.forms:
            how = {"paper": options.paper} if form == "pdf" else {}
            work = pack if form == "zip" else importlib.import_module(form).make
            made = work(options.site.resolve(), options.out, **how)
            print(f"{form}: {made}", flush=True)
    except (pages.FormError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
