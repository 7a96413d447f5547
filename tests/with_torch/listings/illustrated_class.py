"""Our class with the habits of that of the Illustrated Transformer's Chinese edition.

That one is Ben Trevett's ``SelfAttention``; NOTICE says where it stands.
"""

import math

import torch

from listings import from_page
from listings.attention_class import CarefulAttention
from listings.mha_refusals import answer

PAGE, GIVEN = "book/pages/replay_illustrated_transformer.md", {"torch": torch, "CarefulAttention": CarefulAttention}
TensorScale = from_page(PAGE, **GIVEN)["TensorScale"]


def in_another_type(dtype, mask=None, number=False):
    """A call after ``.to(dtype)``; `number` puts math.sqrt in the tensor's place."""
    module, few = TensorScale(8, 2, 0.0).to(dtype), torch.ones(1, 3, 8).to(dtype)
    if number:
        module.scale = math.sqrt(4)
    return answer(lambda: module(few, few, few, mask))


def autocast(mask):
    def call():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            TensorScale(8, 2, 0.0)(few, few, few, mask)

    few = torch.ones(1, 3, 8)
    return answer(call)


def results():
    torch.manual_seed(0)
    module = TensorScale(300, 6, 0.1)
    query = torch.rand(64, 12, 300)
    key, value = torch.rand(64, 10, 300), torch.rand(64, 10, 300)
    found = {"shape of out": module(query, key, value).shape}
    found["rows sum to 1, training"] = torch.allclose(module.weights.sum(-1), torch.tensor(1.0))
    module.eval()
    seven = (torch.arange(10) < 7)[None, None, None, :]  # 1: seen, 0: hidden
    module(query, key, value, seven)
    weights = module.weights
    found["rows sum to 1, in use"] = torch.allclose(weights.sum(-1), torch.tensor(1.0))
    found["hidden keys get exactly 0"] = bool((weights[..., 7:] == 0).all())
    found["shape of weights"] = weights.shape
    found["shape of heads, words first"] = module.words_first.shape
    module(query, key, value, 0 * seven)
    found["nothing left: weights"] = module.weights[0, 0, 0].double().detach()
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
