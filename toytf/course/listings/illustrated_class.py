"""The class of the Illustrated Transformer's Chinese edition, without copying's losses.

Its steps are the edition's; some names are shorter, and its comments are left out.
"""

import math

import torch
from torch import nn

from toytf.course.listings.mha_refusals import answer


class MultiheadAttention(nn.Module):
    def __init__(self, hid_dim, n_heads, dropout):
        super().__init__()
        self.hid_dim, self.n_heads = hid_dim, n_heads
        assert hid_dim % n_heads == 0
        self.w_q = nn.Linear(hid_dim, hid_dim)
        self.w_k = nn.Linear(hid_dim, hid_dim)
        self.w_v = nn.Linear(hid_dim, hid_dim)
        self.fc = nn.Linear(hid_dim, hid_dim)
        self.do = nn.Dropout(dropout)
        self.scale = torch.sqrt(torch.FloatTensor([hid_dim // n_heads]))

    def split(self, rows):
        cut = rows.view(len(rows), -1, self.n_heads, self.hid_dim // self.n_heads)
        return cut.permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.w_q(query))
        k = self.split(self.w_k(key))
        v = self.split(self.w_v(value))
        attention = torch.matmul(q, k.permute(0, 1, 3, 2)) / self.scale
        if mask is not None:
            attention = attention.masked_fill(mask == 0, -1e10)
        attention = self.do(torch.softmax(attention, dim=-1))
        x = torch.matmul(attention, v).permute(0, 2, 1, 3).contiguous()
        self.seen = {"weights": attention, "heads, words first": x}
        return self.fc(x.view(len(query), -1, self.hid_dim))


def in_another_type(dtype, mask=None, number=False):
    """A call after ``.to(dtype)``; `number` puts math.sqrt in the tensor's place."""
    module, few = MultiheadAttention(8, 2, 0.0).to(dtype), torch.ones(1, 3, 8).to(dtype)
    if number:
        module.scale = math.sqrt(4)
    return answer(lambda: module(few, few, few, mask))


def autocast(mask):
    def call():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            MultiheadAttention(8, 2, 0.0)(few, few, few, mask)

    few = torch.ones(1, 3, 8)
    return answer(call)


def results():
    torch.manual_seed(0)
    module = MultiheadAttention(300, 6, 0.1)
    query = torch.rand(64, 12, 300)
    key, value = torch.rand(64, 10, 300), torch.rand(64, 10, 300)
    found = {"shape of out": module(query, key, value).shape}
    found["rows sum to 1, training"] = torch.allclose(
        module.seen["weights"].sum(-1), torch.tensor(1.0)
    )
    module.eval()
    seven = (torch.arange(10) < 7)[None, None, None, :]  # 1: seen, 0: hidden
    module(query, key, value, seven)
    weights = module.seen["weights"]
    found["rows sum to 1, in use"] = torch.allclose(weights.sum(-1), torch.tensor(1.0))
    found["hidden keys get exactly 0"] = bool((weights[..., 7:] == 0).all())
    found["shape of weights"] = weights.shape
    found["shape of heads, words first"] = module.seen["heads, words first"].shape
    module(query, key, value, 0 * seven)
    found["nothing left: weights"] = module.seen["weights"][0, 0, 0].double().detach()
    found["saved"] = list(module.state_dict())
    moved, nowhere = module.to("meta"), query.to("meta")
    found["call after .to"] = answer(lambda: moved(nowhere, nowhere, nowhere))
    hide_one = torch.tensor([1, 1, 0])[None, None, None, :]
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        found[f"{name}, no mask"] = in_another_type(dtype)
        found[f"{name}, mask"] = in_another_type(dtype, hide_one)
        found[f"{name}, mask, scale a number"] = in_another_type(dtype, hide_one, True)
    found["autocast, mask"] = autocast(hide_one)
    half = torch.ones(2, 2).half()
    found["float16 scores, divided"] = str((half / torch.FloatTensor([2])).dtype)
    found["float16 scores, divided by a number"] = str((half / 2.0).dtype)
    return found
