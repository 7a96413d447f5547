"""These tests need torch: `make test-torch` runs them, `make test` leaves them out.

The folder is not called "torch": pytest puts the folder above it on the path of imports, and an
import of torch would find the folder.
"""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["*"]
