"""Single lines of the published classes, and what PyTorch says."""

import torch
from torch import nn

from listings.mha_refusals import answer


class IgnoredArgument(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, x, training):
        return self.dropout(x)  # nobody reads `training`


def training_argument():
    torch.manual_seed(0)
    x, module = torch.ones(1000), IgnoredArgument()
    found = {}
    for mode in (True, False):
        module.train(mode)
        for said in (True, False):
            drops = bool((module(x, training=said) == 0).any())
            found[f"train({mode}), training={said}: drops"] = drops
    return found


def masks():
    n, step = 2, 5
    scores = torch.zeros(n, 4, step, step)  # sentence, head, query, key

    def fill(mask):
        return answer(lambda: scores.clone().masked_fill_(mask, -torch.inf))

    square = torch.zeros(step, 4, step, step)  # as many sentences as tokens
    first_two = torch.zeros(step, step, dtype=torch.bool)
    first_two[0, :2] = True  # meant: two tokens of sentence 0 are padding
    read = square.masked_fill(first_two, -torch.inf)
    return {
        "mask [n, step]": fill(torch.zeros(n, step, dtype=torch.bool)),
        "mask [n, 1, 1, step]": fill(torch.zeros(n, 1, 1, step, dtype=torch.bool)),
        "n = step: sentences that the mask touches": int(read.isinf().any(-1).any(-1).any(-1).sum()),
        "n = step: queries that it touches": int(read[0, 0].isinf().any(-1).sum()),
        "all hidden": torch.full((3,), -torch.inf).double().softmax(-1),
    }


def results():
    rows = torch.zeros(1, 10, 300)
    cut = rows[..., : 300 // 8 * 8]  # what 8 heads of 300 // 8 cover
    eight = answer(lambda: nn.Linear(300, 300)(cut))
    root = torch.sqrt(torch.tensor(64.0))
    return {
        **training_argument(),
        **masks(),
        "8 heads of 300: columns": cut.shape[-1],
        "8 heads of 300: output layer": eight,
        "sqrt(64) + 1e-8 == 8 in float32": bool(root + 1e-8 == 8.0),
        "sqrt(64) + 1e-8 == 8 in float64": bool(root.double() + 1e-8 == 8.0),
    }
