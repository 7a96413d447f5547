"""The translator of chapter 16, moved into PyTorch."""

import torch
from torch.nn.functional import cross_entropy

from toytf.corpus import EOS, SOS, Pair, to_batch
from toytf.course import pytorch
from toytf.translator import Translator
from toytf.tree import named_arrays

PAIRS = {
    "hello world": "hola mundo",
    "the small queens see a red house": "las reinas pequeñas ven una casa roja",
    "my dog wants these black hats": "mi perro quiere estos sombreros negros",
}


def write(model, translator, sentence):
    """The likeliest word, until the end. Every step reads all words again."""
    words = translator.tgt_vocab
    src = torch.tensor([translator.src_vocab.ids(sentence.split())])
    written, rows = [words.id(SOS)], []
    while written[-1] != words.id(EOS) and len(written) < 20:
        logits = model(src, torch.tensor([written]))
        rows.append(logits[0, -1].log_softmax(-1))
        written.append(int(rows[-1].argmax()))
    return words.tokens(written[1:-1]), torch.stack(rows)


def gradients(model, translator):
    """The loss of three pairs of unequal lengths, and the gradient of every array."""
    pairs = [Pair(tuple(en.split()), tuple(es.split())) for en, es in PAIRS.items()]
    batch = to_batch(pairs, translator.src_vocab, translator.tgt_vocab)
    logits = model(
        torch.from_numpy(batch.src),
        torch.from_numpy(batch.tgt),
        pytorch.key_padding_mask(batch.src_is_token),
        pytorch.key_padding_mask(batch.tgt_is_token),
    )
    counted = torch.from_numpy(batch.tgt_is_token)
    loss = cross_entropy(logits[counted], torch.from_numpy(batch.goal)[counted])
    loss.backward()
    return loss, pytorch.from_model(model, pytorch.gradients)


def results():
    translator = Translator.load()
    model = pytorch.model(translator.params, translator.cfg)
    found = {}
    for sentence in PAIRS:
        with torch.no_grad():
            words, rows = write(model, translator, sentence)
        found[f"{sentence}: words"] = " ".join(words)
        found[f"{sentence}: log-probabilities"] = rows  # written word, vocabulary
    loss, grads = gradients(model, translator)
    found["loss"] = loss
    for name, array in named_arrays(grads).items():
        found[f"gradient of {name}"] = array
    return found
