"""The Transformer's arithmetic in NumPy, written to be read beside the formulas.

Modules, in the order in which they build on each other:

- `toytf.ops`: softmax, linear maps, embedding look-up, activations, layer norm;
- `toytf.positions`: positional encodings;
- `toytf.attention`: masks, scaled dot-product and multi-head attention;
- `toytf.model`: the whole Transformer, from token ids to logits;
- `toytf.decode`: writing a sentence, token by token;
- `toytf.gradcheck`: gradients against finite differences;
- `toytf.optim`: gradient descent, Adam, schedules of the learning rate;
- `toytf.train`: the training loop;
- `toytf.corpus`: vocabularies, sentence pairs, batches;
- `toytf.grammar`: English and Spanish sentences, as many as you like;
- `toytf.translator`: a model with its vocabularies, which learns and translates;
- `toytf.experiments`: the same training with parts taken out;
- `toytf.size`: parameters, multiplications and bytes, from a `Config` alone;
- `toytf.example`: the arrays of the running example, "Hello World";
- `toytf.byhand`: any of these computations written out term by term;
- `toytf.plot`: heat maps and diagrams (needs matplotlib);
- `toytf.published`: what five texts printed, computed again;
- `toytf.pytorch`: the same parameters in PyTorch, and back (needs torch);
- `toytf.listings`: PyTorch code that the book shows, with what it gave.

Conventions: tokens are rows, a linear map is ``x @ weight``, every function accepts any
leading axes, ``(..., length, width)``, no argument is modified (but for the parameters that
`toytf.optim` and `toytf.train` improve), and the dtype of the arguments is the dtype of the
result (integers become float64).
"""

__version__ = "0.1.0"
