"""``python -m toytf.course.published``: compute every published number again; see `toytf.course.published.cli`."""

import sys

from toytf.course.published.cli import main

if __name__ == "__main__":
    sys.exit(main())
