"""What five texts printed about the Transformer, computed again: see `published`."""
