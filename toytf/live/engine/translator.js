// A Transformer with its two vocabularies. Beside toytf/translator.py.
import { start, stepper, greedySteps } from "./generate.js";

const SOS = "<sos>";
const EOS = "<eos>";

// Base64 of numbers of so many bytes: the lowest byte of each, then the next of each, up to the highest (live/wire.py)
export function floats(base64, each = 8) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const size = bytes.length / each;
  const view = new DataView(new ArrayBuffer(bytes.length));
  bytes.forEach((byte, at) => view.setUint8(each * (at % size) + Math.floor(at / size), byte));
  const number = each === 2 ? (at) => half(view.getUint16(at, true)) : (at) => view.getFloat64(at, true);
  return Array.from({ length: size }, (_, i) => number(each * i));
}

// The number that 16 bits stand for: a sign, five bits of a power of two, ten of what it is multiplied with
function half(bits) {
  const [sign, power, rest] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : 2 ** -24 * rest);
}

// `tree` has a shape in the place of each array; its numbers follow one another.
export function filled(tree, numbers) {
  let at = 0;
  const array = ([first, ...rest]) =>
    first === undefined ? numbers[at++] : Array.from({ length: first }, () => array(rest));
  const fill = (part) => {
    if (part === null) return null;
    if (Array.isArray(part)) return typeof part[0] === "number" ? array(part) : part.map(fill);
    return Object.fromEntries(Object.entries(part).map(([name, x]) => [name, fill(x)]));
  };
  return fill(tree);
}

export class Translator {
  constructor({ cfg, shapes, numbers, src_vocab, tgt_vocab }) {
    Object.assign(this, { cfg, src_vocab, tgt_vocab, params: filled(shapes, floats(numbers)) });
    this.ends = { sos: tgt_vocab.indexOf(SOS), eos: tgt_vocab.indexOf(EOS) };
  }

  // Word by word: what greedySteps hands out
  steps(words) {
    const ids = words.map((word) => this.src_vocab.indexOf(word));
    const ends = { ...this.ends, maxLength: 2 * words.length + 4 };
    return greedySteps(stepper(this.params, this.cfg), start(this.params, this.cfg, ids), ends);
  }
}
