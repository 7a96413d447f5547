"""Pack the built site into one zip: `python book/paper/pack_site.py`.

Unpacked, its index.html opens from the disk, without a network and without a server.
"""

import argparse
import os
import sys
import time
import zipfile
from pathlib import Path

from press import OUT, ROOT, run, settings, size, slug
from toytf import __version__
from toytf._command import progress, replaced

LEFT = {".buildinfo", ".doctrees"}  # for the next build, not for readers


def pack(site, path, name, extra=()):
    """Write the files of the folder `site` into the zip `path`, below `name`/.

    extra: files from elsewhere that go along, beside the pages. The same files give the
    same bytes: their dates are left out, or are that of SOURCE_DATE_EPOCH.

    Raises ValueError if no site is there.
    """
    site = Path(site)
    if not (site / "index.html").is_file():
        raise ValueError(f"expected a built site, found no {site / 'index.html'}")
    files = [
        (file, file.relative_to(site))
        for file in sorted(site.rglob("*"))
        if file.is_file() and LEFT.isdisjoint(file.relative_to(site).parts)
    ]
    files += [(Path(one), Path(Path(one).name)) for one in extra]
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    with (
        replaced(Path(path)) as new,
        zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for file, place in progress(files, desc="packing", unit=" files"):
            entry = zipfile.ZipInfo(f"{name}/{place.as_posix()}", date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, file.read_bytes())
    return len(files)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", default="_build/html", help="the built pages")
    parser.add_argument("--out", default=OUT, help="the folder to write in")
    options = parser.parse_args(words)

    def work():
        name = slug(settings()[0]["title"])
        path = Path(options.out, f"{name}-{__version__}.zip")
        path.parent.mkdir(parents=True, exist_ok=True)
        count = pack(options.site, path, name, [ROOT / "LICENSE", ROOT / "NOTICE"])
        end = f"Unpacked, open {name}/index.html"
        return [f"{path}: {count} files, {size(path)}", end]

    return run(work, [ValueError])


if __name__ == "__main__":
    sys.exit(main())
