"""``python -m toytf.published``: compute every published number again; see `toytf.published.cli`."""

import sys

from toytf.published.cli import main

if __name__ == "__main__":
    sys.exit(main())
