"""Our class with the habits of that of the Illustrated Transformer's Chinese edition.

That one is Ben Trevett's ``SelfAttention``; NOTICE says where it stands.
"""

import torch

from listings import from_page
from listings.attention_class import CarefulAttention
from listings.mha_refusals import answer

PAGE, GIVEN = "book/pages/replay_illustrated_transformer.md", {"torch": torch, "CarefulAttention": CarefulAttention}
TensorScale = from_page(PAGE, **GIVEN)["TensorScale"]


def results():
    torch.manual_seed(0)
    module = TensorScale(300, 6, 0.1)
    query = torch.rand(64, 12, 300)
    key, value = torch.rand(64, 10, 300), torch.rand(64, 10, 300)
    found = {"shape of out": module(query, key, value).shape}
    module.eval()
    seven = (torch.arange(10) < 7)[None, None, None, :]  # 1: seen, 0: hidden
    module(query, key, value, seven)
    found["hidden keys get exactly 0"] = bool((module.weights[..., 7:] == 0).all())
    module(query, key, value, 0 * seven)
    found["nothing left: weights"] = module.weights[0, 0, 0].double().detach()
    moved, nowhere = module.to("meta"), query.to("meta")
    found["call after .to"] = answer(lambda: moved(nowhere, nowhere, nowhere))
    return found
