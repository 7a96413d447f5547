"""The whole Transformer in PyTorch: build it, load weights, train."""

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from toytf.corpus import EOS, SOS, Pair, batches, to_batch
from toytf.grammar import corpus
from toytf.optim import cosine_schedule
from toytf.translator import Translator
from toytf.tree import named_arrays

PAIRS = {
    "hello world": "hola mundo",
    "the small queens see a red house": "las reinas pequeñas ven una casa roja",
    "my dog wants these black hats": "mi perro quiere estos sombreros negros",
}
STEPS = 100


class Attention(nn.Module):
    def __init__(self, d, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d, d, bias=False)
        self.w_k = nn.Linear(d, d, bias=False)
        self.w_v = nn.Linear(d, d, bias=False)
        self.w_o = nn.Linear(d, d, bias=False)

    def forward(self, x, memory, may_attend):
        rows = self.w_q(x), self.w_k(memory), self.w_v(memory)
        # sentence, token, width -> sentence, head, token, width of a head
        q, k, v = (r.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for r in rows)
        out = scaled_dot_product_attention(q, k, v, attn_mask=may_attend)
        return self.w_o(out.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, d, d_ff):
        super().__init__()
        self.w_1 = nn.Linear(d, d_ff)
        self.w_2 = nn.Linear(d_ff, d)

    def forward(self, x):
        return self.w_2(self.w_1(x).relu())


class EncoderLayer(nn.Module):
    def __init__(self, d, n_heads, d_ff):
        super().__init__()
        self.self_attention = Attention(d, n_heads)
        self.norm_1 = nn.LayerNorm(d)
        self.feed_forward = FeedForward(d, d_ff)
        self.norm_2 = nn.LayerNorm(d)

    def forward(self, x, may_read):
        x = self.norm_1(x + self.self_attention(x, x, may_read))
        return self.norm_2(x + self.feed_forward(x))


class DecoderLayer(nn.Module):
    def __init__(self, d, n_heads, d_ff):
        super().__init__()
        self.self_attention = Attention(d, n_heads)
        self.norm_1 = nn.LayerNorm(d)
        self.cross_attention = Attention(d, n_heads)
        self.norm_2 = nn.LayerNorm(d)
        self.feed_forward = FeedForward(d, d_ff)
        self.norm_3 = nn.LayerNorm(d)

    def forward(self, y, memory, may_look, may_read):
        y = self.norm_1(y + self.self_attention(y, y, may_look))
        y = self.norm_2(y + self.cross_attention(y, memory, may_read))
        return self.norm_3(y + self.feed_forward(y))


def sinusoids(length, d):
    i = torch.arange(0, d, 2, dtype=torch.float64)
    angles = torch.arange(length)[:, None] / 10000 ** (i / d)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


class Transformer(nn.Module):
    def __init__(self, cfg, longest=64):
        super().__init__()
        d, sizes = cfg.d_model, (cfg.d_model, cfg.n_heads, cfg.d_ff)
        self.src_embedding = nn.Embedding(cfg.src_vocab, d)
        self.tgt_embedding = nn.Embedding(cfg.tgt_vocab, d)
        encoder = (EncoderLayer(*sizes) for _ in range(cfg.n_encoder_layers))
        decoder = (DecoderLayer(*sizes) for _ in range(cfg.n_decoder_layers))
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.output = nn.Linear(d, cfg.tgt_vocab)
        self.register_buffer("positions", sinusoids(longest, d))
        self.double()  # 64 bits a number, as in NumPy

    def place(self, table, ids):
        rows = table(ids) * table.embedding_dim**0.5
        return rows + self.positions[: ids.shape[-1]]

    def forward(self, src, tgt, src_is_token):
        may_read = src_is_token[:, None, None]  # sentence, head, query, key
        may_look = torch.ones(tgt.shape[-1], tgt.shape[-1], dtype=torch.bool).tril()
        x, y = self.place(self.src_embedding, src), self.place(self.tgt_embedding, tgt)
        for layer in self.encoder:
            x = layer(x, may_read)
        for layer in self.decoder:
            y = layer(y, x, may_look, may_read)
        return self.output(y)


ENDINGS = {
    "embedding.weight": "embedding",
    **{f"w_{part}.weight": f"w_{part}" for part in "qkvo12"},
    **{f"w_{part}.bias": f"b_{part}" for part in "12"},
    **{f"norm_{n}.weight": f"norm_{n}.gamma" for n in "123"},
    **{f"norm_{n}.bias": f"norm_{n}.beta" for n in "123"},
}


def in_toytf(name):
    """What toytf calls a parameter."""
    for ending, ours in ENDINGS.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + ours
    return name


def load(model, params):
    """Copy toytf's arrays into the parameters of the same name."""
    arrays = named_arrays(params)
    for name, parameter in model.named_parameters():
        array = arrays.pop(in_toytf(name))
        turned = array if "embedding" in name else array.T  # nn.Linear: out x in
        parameter.data = torch.tensor(turned)
    assert not arrays, f"nobody took {list(arrays)}"


def loss_of(model, batch):
    src, tgt, goal = map(torch.from_numpy, (batch.src, batch.tgt, batch.goal))
    flags = batch.src_is_token, batch.tgt_is_token
    src_is_token, counted = map(torch.from_numpy, flags)
    logits = model(src, tgt, src_is_token)
    return cross_entropy(logits[counted], goal[counted])


def train(model, data, rate, steps):
    optimiser = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for step in range(1, steps + 1):
        optimiser.param_groups[0]["lr"] = rate(step)
        optimiser.zero_grad()  # or the new gradients are added to the old ones
        loss = loss_of(model, next(data))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def write(model, translator, sentence):
    """The likeliest word, until the end. Every step reads all words again."""
    words = translator.tgt_vocab
    src = torch.tensor([translator.src_vocab.ids(sentence.split())])
    everything = torch.ones_like(src, dtype=torch.bool)
    written, rows = [words.id(SOS)], []
    while written[-1] != words.id(EOS) and len(written) < 20:
        logits = model(src, torch.tensor([written]), everything)
        rows.append(logits[0, -1].log_softmax(-1))
        written.append(int(rows[-1].argmax()))
    return words.tokens(written[1:-1]), torch.stack(rows)


def gradients(model, translator):
    """The loss of three pairs of unequal lengths, and the gradient of every array."""
    pairs = [Pair(tuple(en.split()), tuple(es.split())) for en, es in PAIRS.items()]
    loss = loss_of(model, to_batch(pairs, translator.src_vocab, translator.tgt_vocab))
    loss.backward()
    return loss, {
        in_toytf(name): p.grad if "embedding" in name else p.grad.t()
        for name, p in model.named_parameters()
    }


def results():
    translator = Translator.load()
    model = Transformer(translator.cfg)
    parameters = list(model.parameters())
    found = {
        "arrays": len(parameters),
        "parameters": sum(p.numel() for p in parameters),
        "buffers": tuple(name for name, _ in model.named_buffers()),
        "shape of feed_forward.w_1.weight": model.encoder[
            0
        ].feed_forward.w_1.weight.shape,
    }
    load(model, translator.params)
    for sentence in PAIRS:
        words, rows = write(model, translator, sentence)
        found[f"{sentence}: words"] = " ".join(words)
        found[f"{sentence}: log-probabilities"] = rows  # written word, vocabulary
    found["loss"], grads = gradients(model, translator)
    for name, array in grads.items():
        found[f"gradient of {name}"] = array

    rng = np.random.default_rng(0)  # as in chapter 16
    pairs, _ = corpus(rng)
    new = Translator.new(rng)
    model = Transformer(new.cfg)
    load(model, new.params)
    data = batches(to_batch(pairs, new.src_vocab, new.tgt_vocab), 48, rng)
    losses = train(model, data, cosine_schedule(0.01, 100, 500), STEPS)
    found["losses"] = np.array(losses)
    return found
