"""Settings that every test shares."""

from hypothesis import settings

# No example may fail because a machine is slow, or pass because the dice fell well.
settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")
