"""What five texts printed about the Transformer, held against what the replays compute: see `ledger`."""
