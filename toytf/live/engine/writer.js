// A decoder alone with its vocabulary. Beside toytf/writer.py.
import { start, stepper } from "./generate.js";
import { filled, floats } from "./translator.js";

export class Writer {
  constructor({ cfg, shapes, numbers, vocab }) {
    const params = filled(shapes, floats(numbers, 2));
    Object.assign(this, { cfg, vocab, params, step: stepper(params, cfg, { cached: true }) });
  }

  // Reads one more token: the scores of the next, each layer's and head's shares of the tokens so far, and the state
  // to go on from
  read(token, before = null) {
    const [[logits], state] = this.step(before ?? start(this.params, this.cfg), [this.vocab.indexOf(token)]);
    const looks = state.decoders[0].layers.map((layer) =>
      layer.self_attention.inner.attention.map(({ attn_weights: [row] }) => row),
    );
    return { logits, looks, state };
  }
}
