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


def commit(repository, sources):
    """Commit the notebooks below `sources` as all that the branch has; the commit's id.

    Raises ValueError unless each installs toytf where it is missing, as in Colab.
    """
    paths = sorted(sources.rglob("*.ipynb"))
    wrong = "no notebook is there" if not paths else None
    for path in paths:
        first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        if "toytf[plot] @ " not in first:
            wrong = f"{path.name} does not install toytf in Colab"
    if wrong:
        raise ValueError(
            "expected a book that was built with TOYTF_SITE_URL or TOYTF_REPOSITORY "
            f"in {sources}, got: {wrong}"
        )

    def git(*command, **settings):
        command = ["git", "-C", str(repository), *command]
        environment = os.environ | settings
        return subprocess.check_output(command, env=environment, text=True).strip()

    who = ("GIT_{}_NAME", "%cn"), ("GIT_{}_EMAIL", "%ce"), ("GIT_{}_DATE", "%cI")
    last = {
        name.format(role): git("log", "-1", f"--format={what}")
        for role in ("AUTHOR", "COMMITTER")
        for name, what in who
    }
    with tempfile.TemporaryDirectory() as folder:
        # an index of its own, so that the one of the checkout stays
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        add = "add", "--force", "--", ":(glob)**/*.ipynb"
        git("--work-tree", str(sources), *add, **index)
        tree = git("write-tree", **index)
    message = "The notebooks as they are downloaded"
    new = git("commit-tree", tree, "-m", message, **last)
    git("update-ref", f"refs/heads/{BRANCH}", new)
    return new


if __name__ == "__main__":
    try:
        print(f"{BRANCH}: {commit(ROOT, ROOT / '_build' / 'html' / '_sources')}")
    except ValueError as error:
        sys.exit(f"book/colab.py: {error}")
