"""What nn.MultiheadAttention takes, and what it refuses, in its own words."""

import torch
from torch import nn

QUERIES, KEYS, SENTENCES, WIDTH, HEADS = 12, 10, 64, 300, 6


def answer(attempt):
    """What happens: "accepted", or the error."""
    try:
        attempt()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def results():
    query = torch.zeros(QUERIES, SENTENCES, WIDTH)
    memory = torch.zeros(KEYS, SENTENCES, WIDTH)
    module = nn.MultiheadAttention(WIDTH, HEADS)

    def attend(width=WIDTH, heads=1, key=memory, value=memory):
        return answer(lambda: nn.MultiheadAttention(width, heads)(query, key, value))

    def masked(name, *shape, dtype=torch.bool):
        mask = {name: torch.zeros(*shape, dtype=dtype)}
        return answer(lambda: module(query, memory, memory, **mask))

    return {
        "width 299": attend(width=299),
        "width 300": attend(width=300),
        "6 heads": attend(heads=6),
        "8 heads": attend(heads=8),
        "600 heads": attend(heads=600),
        "9 keys, 10 values": attend(key=memory[:9]),
        "key_padding_mask (N, S)": masked("key_padding_mask", SENTENCES, KEYS),
        "key_padding_mask (S, N)": masked("key_padding_mask", KEYS, SENTENCES),
        "attn_mask (L, S)": masked("attn_mask", QUERIES, KEYS),
        "attn_mask (N, L, S)": masked("attn_mask", SENTENCES, QUERIES, KEYS),
        "attn_mask (N·heads, L, S)": masked("attn_mask", SENTENCES * HEADS, QUERIES, KEYS),
        "key_padding_mask of bytes": masked("key_padding_mask", SENTENCES, KEYS, dtype=torch.uint8),
        "attn_mask of bytes": masked("attn_mask", QUERIES, KEYS, dtype=torch.uint8),
    }
