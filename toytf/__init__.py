"""The Transformer's arithmetic in NumPy, written to be read beside the formulas.

The files are the Transformer, in the order in which they build on each other:

- `toytf.parameters`: sizes, and what is learned; `toytf.traces`: what a formula leaves behind;
- `toytf.ops`: softmax, linear maps, embedding look-up, activations, layer norm;
- `toytf.positions`: positional encodings;
- `toytf.attention`: masks, scaled dot-product and multi-head attention;
- `toytf.tree`: the arrays of a model, each under its name;
- `toytf.model`: the whole Transformer, from token ids to logits;
- `toytf.generate`: writing a sentence, token by token;
- `toytf.store`: a model in a file;
- `toytf.gradcheck`: gradients against finite differences;
- `toytf.optim`: gradient descent, Adam, schedules of the learning rate;
- `toytf.train`: the training loop;
- `toytf.corpus`: vocabularies, sentence pairs, batches;
- `toytf.grammar`: English and Spanish sentences, as many as you like;
- `toytf.translator`: a model with its vocabularies, which learns and translates;
- `toytf.size`: parameters, multiplications and bytes, from a `Config` alone;
- `toytf.example`: the arrays of the running example, "Hello World".

The folders stand around it, each on the ones before:

- `toytf.byhand`: any of these computations written out term by term;
- `toytf.course`: figures, PyTorch, experiments;
- `toytf.check`: checkers that name the mistake.

Conventions: tokens are rows, a linear map is ``x @ weight``, every function accepts any
leading axes, ``(..., length, width)``, no argument is modified (but for the parameters that
`toytf.optim` and `toytf.train` improve), and the dtype of the arguments is the dtype of the
result (integers become float64).

The outermost call is checked: shapes, kinds, finite numbers. `ValueError` means that the kind was right and the value
was not, `TypeError` that the kind was wrong; each names the argument, what was expected and what came.
"""

__version__ = "0.1.0"
