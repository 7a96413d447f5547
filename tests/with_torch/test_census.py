"""The census of chapter 23 finds in ten files what was found there by hand, and no more."""

import re

import pytest

from listings import ROOT, census

# Read by hand, top to bottom; marks that every one of them has stand in ALL.
ALL = {"RMSNorm", "gate in the feed-forward"}
ROTARY = {"rotary positions", "stretched positions"}
EXPERTS = {"mixture of experts", "scores moved for balance"}
BY_HAND = {
    "beam": ROTARY | EXPERTS | {
        "layers without positions", "norm after a part, too", "norm on queries and keys", "soft cap", "fixed factors",
        "gate on the attention", "groups of experts", "grouped keys", "sliding window",
    },
    "cohere2_moe": ROTARY | {
        "layers without positions", "fixed factors", "attention and network side by side", "mixture of experts",
        "an expert for all", "grouped keys", "sliding window",
    },
    "glm_moe_dsa": ROTARY | EXPERTS | {"an expert for all", "groups of experts", "latent keys", "indexer"},
    "hy_v3": ROTARY | EXPERTS | {"norm on queries and keys", "an expert for all", "grouped keys"},
    "hyperclovax": ROTARY | {"norm after a part, too", "fixed factors", "grouped keys"},
    "kimi_linear": EXPERTS | {
        "an expert for all", "groups of experts", "latent keys", "linear or state-space layers", "short convolution",
    },
    "laguna": ROTARY | EXPERTS | {
        "norm on queries and keys", "soft cap", "gate on the attention", "an expert for all", "grouped keys",
        "sliding window",
    },
    "lfm3": ROTARY | {
        "norm after a part, too", "norm on queries and keys", "gate on the attention", "grouped keys",
        "sliding window", "short convolution",
    },
    "mimo_v2_flash": ROTARY | EXPERTS | {
        "fixed factors", "groups of experts", "grouped keys", "sliding window", "sinks",
    },
    "mistral4": ROTARY | {"mixture of experts", "an expert for all", "groups of experts", "latent keys"},
}  # fmt: skip


@pytest.mark.parametrize("model", BY_HAND)
def test_in_ten_files_the_marks_are_what_was_read_there(model):
    year, found = census.decoders()[model]
    assert year == 2026
    assert set(found) == ALL | BY_HAND[model]


def test_a_class_that_nobody_listed_is_a_part_without_a_name():
    known = "class TinyAttention:\n    'It has no RMSNorm.'\n"
    assert census.strange(census.parts(known)) == [] == census.parts(known)
    assert census.strange(census.parts(known + "class TinyMagic: pass")) == ["class TinyMagic"]


def test_a_part_that_the_book_names_has_its_section():
    text = (ROOT / "book/chapters/23_today.md").read_text("utf-8")
    headings = set(re.findall(r"^#{2,3} (.*)$", text, re.M))
    assert {section for *_, section in census.FIXED["parts"]} - {None} <= headings
