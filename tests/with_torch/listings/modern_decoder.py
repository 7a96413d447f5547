"""Hugging Face's Llama, Qwen3 and Mixtral classes with weights drawn for the decoder of chapter 23."""

import math
from dataclasses import dataclass
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
import transformers

from listings import from_cells
from toytf.attention import attention
from toytf.ops import softmax

NAMES = "rms_norm frequencies stretched rotate swiglu mixture window_mask grouped_attention layer decoder"
NAMES += " Sizes drawn EXAMPLES example"
GIVEN = {"np": np, "dataclass": dataclass, "attention": attention, "softmax": softmax}
modern = SimpleNamespace(**from_cells("book/chapters/23_today.md", *NAMES.split(), **GIVEN))


def model(params, cfg):
    """The library's class for these sizes, filled with these weights."""
    sizes = {
        "vocab_size": cfg.words,
        "hidden_size": cfg.d,
        "intermediate_size": cfg.d_ff,
        "num_hidden_layers": cfg.n_layers,
        "num_attention_heads": cfg.n_heads,
        "num_key_value_heads": cfg.n_key_heads,
        "head_dim": cfg.d_head,
        "rms_norm_eps": cfg.eps,
        "rope_parameters": {"rope_type": "default", "rope_theta": cfg.base},
    }
    if cfg.stretch > 1:
        sizes["rope_parameters"] |= {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
        sizes["rope_parameters"] |= {"factor": cfg.stretch, "original_max_position_embeddings": cfg.read}
    if cfg.n_experts:
        sizes["num_local_experts"] = cfg.n_experts
        sizes["num_experts_per_tok"] = cfg.chosen
        sizes["sliding_window"] = cfg.window
        made = transformers.MixtralForCausalLM(transformers.MixtralConfig(**sizes))
        made.set_experts_implementation("eager")  # the fast one has no float64
    elif cfg.norm_qk:
        made = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**sizes))
    else:
        made = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes))
    made = made.double().eval()
    state = {name: torch.from_numpy(np.array(w)) for name, w in weights(params).items()}
    made.load_state_dict(state)  # by default it refuses a name too few or too many
    return made


def weights(params):
    """The arrays under the library's names; a linear map is stored transposed."""
    named = {
        "model.embed_tokens.weight": params["embedding"],
        "model.norm.weight": params["gamma"],
        "lm_head.weight": params["output"].T,
    }
    for i, p in enumerate(params["layers"]):
        here = f"model.layers.{i}"
        for x in "qkvo":
            named[f"{here}.self_attn.{x}_proj.weight"] = p[f"w_{x}"].T
        for x in {"q", "k"} & {name.removeprefix("gamma_") for name in p}:
            named[f"{here}.self_attn.{x}_norm.weight"] = p[f"gamma_{x}"]
        named[f"{here}.input_layernorm.weight"] = p["gamma_1"]
        named[f"{here}.post_attention_layernorm.weight"] = p["gamma_2"]
        if "router" in p:
            pairs = [np.hstack([e["w_1"], e["w_3"]]).T for e in p["experts"]]
            downs = [e["w_2"].T for e in p["experts"]]
            named[f"{here}.mlp.gate.weight"] = p["router"].T
            named[f"{here}.mlp.experts.gate_up_proj"] = np.stack(pairs)
            named[f"{here}.mlp.experts.down_proj"] = np.stack(downs)
        else:
            for name, w in (("gate", "w_1"), ("up", "w_3"), ("down", "w_2")):
                named[f"{here}.mlp.{name}_proj.weight"] = p[w].T
    return named


def logits(params, cfg, ids, double=True):
    """What the class gives. Norms, angles and the router's shares are float32 in it.

    With `double`, each place that says float32 means float64; nothing else is touched.
    """
    if not double:
        with torch.no_grad():
            return model(params, cfg)(torch.tensor([ids])).logits[0]
    with (
        mock.patch.multiple(torch, float32=torch.float64, float=torch.float64),
        mock.patch.object(torch.Tensor, "float", torch.Tensor.double),
    ):
        return logits(params, cfg, ids, double=False)


def results():
    found = {"transformers": transformers.__version__}
    for name, cfg in modern.EXAMPLES.items():
        params, ids = modern.example(name)
        exact = logits(params, cfg, ids)
        off = (logits(params, cfg, ids, double=False) - exact).abs().max().item()
        found[name] = exact
        found[f"{name}: as it stands, power of ten"] = math.floor(math.log10(off))
    return found
