"""The whole Transformer in PyTorch: build it, load weights, train. It stands in chapter 21."""

from listings import chapter_21

results = chapter_21()["results"]
