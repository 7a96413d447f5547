"""These tests need Otter-Grader, and a minute or two: `make test-classroom` runs them, `make test` leaves them out."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("otter") else ["test_*.py"]
