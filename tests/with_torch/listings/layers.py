"""An encoder layer and a decoder layer in the paper's order."""

import bridge
import numpy as np
import torch
from torch import nn

from listings.attention_class import CarefulAttention
from toytf.attention import causal_mask, padding_mask
from toytf.model import Config, init
from toytf.ops import Linear


class FeedForward(nn.Sequential):
    def __init__(self, width, inner):
        super().__init__(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))


class AddAndNorm(nn.Module):
    """The one place that adds the input and norms, so that nothing is added twice."""

    def __init__(self, width, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)  # train() and eval() switch it

    def forward(self, x, part):
        return self.norm(x + self.dropout(part))


class EncoderLayer(nn.Module):
    def __init__(self, width, n_heads, inner, dropout=0.1):
        super().__init__()
        self.attend = CarefulAttention(width, n_heads, dropout)
        self.feed = FeedForward(width, inner)
        self.join_1 = AddAndNorm(width, dropout)
        self.join_2 = AddAndNorm(width, dropout)

    def forward(self, x, may_attend=None):
        x = self.join_1(x, self.attend(x, x, x, may_attend)[0])
        return self.join_2(x, self.feed(x))


class DecoderLayer(nn.Module):
    def __init__(self, width, n_heads, inner, dropout=0.1):
        super().__init__()
        self.attend = CarefulAttention(width, n_heads, dropout)
        self.read = CarefulAttention(width, n_heads, dropout)  # weights of its own
        self.feed = FeedForward(width, inner)
        self.join_1 = AddAndNorm(width, dropout)
        self.join_2 = AddAndNorm(width, dropout)
        self.join_3 = AddAndNorm(width, dropout)

    def forward(self, y, memory, may_attend=None, may_read=None):
        y = self.join_1(y, self.attend(y, y, y, may_attend)[0])
        y = self.join_2(y, self.read(y, memory, memory, may_read)[0])
        return self.join_3(y, self.feed(y))


def fill(attention, p):
    """Put toytf's parameters into an Attention."""
    attention.to_q = bridge.linear(Linear(p.w_q, p.b_q))
    attention.to_k = bridge.linear(Linear(p.w_k, p.b_k))
    attention.to_v = bridge.linear(Linear(p.w_v, p.b_v))
    attention.to_out = bridge.linear(Linear(p.w_o, p.b_o))


def fill_feed(feed, p):
    feed[0] = bridge.linear(Linear(p.w_1, p.b_1))
    feed[2] = bridge.linear(Linear(p.w_2, p.b_2))


def results():
    cfg = Config(1, 1, d_model=8, n_heads=2, d_ff=32, bias=True)
    rng = np.random.default_rng(21)
    params = init(cfg, rng)
    encoder, decoder = (
        EncoderLayer(8, 2, 32).double(),
        DecoderLayer(8, 2, 32).double(),
    )
    fill(encoder.attend, params.encoder[0].self_attention)
    fill_feed(encoder.feed, params.encoder[0].feed_forward)
    fill(decoder.attend, params.decoder[0].self_attention)
    fill(decoder.read, params.decoder[0].cross_attention)
    fill_feed(decoder.feed, params.decoder[0].feed_forward)
    x, y = (torch.from_numpy(rng.normal(size=(2, n, 8))) for n in (5, 3))
    is_token = np.arange(5) < [[5], [3]]  # the second sentence is shorter
    hidden = torch.from_numpy(padding_mask(is_token)[:, None])  # batch, head, query, key
    causal = torch.from_numpy(causal_mask(3))
    noisy = [encoder(x, hidden) for _ in range(2)]  # a new module is in training mode
    encoder.eval(), decoder.eval()
    memory = encoder(x, hidden)
    return {
        "memory": memory,
        "out": decoder(y, memory, causal, hidden),
        "training: two calls agree": torch.equal(*noisy),
        "in use: two calls agree": torch.equal(encoder(x, hidden), memory),
    }
