"""Put the notebooks as they are downloaded on the branch `colab`, which Colab opens.

    TOYTF_SITE_URL=... TOYTF_REPOSITORY=... make book
    .venv/bin/python book/colab.py && git push --force origin colab

The branch has one commit, dated like the last one here, and shares no file with the
others. What you have checked out stays as it is.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "colab"


def problem(notebooks):
    """What keeps notebooks from running in Colab; or None."""
    if not notebooks:
        return "no notebook is there"
    for path in notebooks:
        first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        if "toytf[plot] @ " not in first:
            return f"{path.name} does not install toytf in Colab"
    return None


def commit(repository, sources):
    """Commit the notebooks below `sources` as all that the branch has; the commit's id.

    Raises ValueError unless the book was built with an address.
    """
    if wrong := problem(sorted(sources.rglob("*.ipynb"))):
        raise ValueError(
            "expected a book that was built with TOYTF_SITE_URL or TOYTF_REPOSITORY "
            f"in {sources}, got: {wrong}"
        )

    def git(*command, **settings):
        run = subprocess.run(
            ["git", "-C", str(repository), *command],
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        return run.stdout.strip()

    with tempfile.TemporaryDirectory() as folder:
        # an index of its own, so that the one of the checkout stays
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        tree = ("--work-tree", str(sources))
        git(*tree, "add", "--force", "--", ":(glob)**/*.ipynb", **index)
        made = git("write-tree", **index)
    who, mail, when = git("log", "-1", "--format=%cn%n%ce%n%cI").split("\n")
    same = {}
    for role in ("AUTHOR", "COMMITTER"):
        same |= {f"GIT_{role}_NAME": who, f"GIT_{role}_EMAIL": mail}
        same |= {f"GIT_{role}_DATE": when}
    new = git("commit-tree", made, "-m", "The notebooks as they are downloaded", **same)
    git("update-ref", f"refs/heads/{BRANCH}", new)
    return new


def main():
    try:
        print(f"{BRANCH}: {commit(ROOT, ROOT / '_build' / 'html' / '_sources')}")
    except ValueError as error:
        sys.exit(f"book/colab.py: {error}")


if __name__ == "__main__":
    main()
