// Random numbers as NumPy draws them: Generator with PCG64. The same state gives the same numbers.
//
// O'Neill, PCG (2014): a state of 128 bits, x = x * MULTIPLIER + inc, of which 64 bits are handed out. Normal numbers
// come from the ziggurat of Marsaglia and Tsang (2000): 256 layers of one area, the lowest with the tail.
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const low = (bits, x) => BigInt.asUintN(bits, x);

const [MANTISSA, TAIL, AREA] = [2 ** 52, 3.6541528853610088, 0.004928673233974658];
const LAYERS = ziggurat();

// Of each layer: its width in 2^52ths, up to which whole number a point lies within the next layer, its height
function ziggurat() {
  const [width, inside, height] = [0, 1, 2].map(() => new Float64Array(256));
  let x = TAIL;
  width[255] = x / MANTISSA;
  height[255] = Math.exp(-0.5 * x * x);
  width[0] = AREA / height[255] / MANTISSA;
  inside[0] = Math.floor(((x * height[255]) / AREA) * MANTISSA);
  height[0] = 1;
  for (let i = 254; i > 0; i -= 1) {
    const wider = x;
    x = Math.sqrt(-2 * Math.log(AREA / x + height[i + 1]));
    inside[i + 1] = Math.floor((x / wider) * MANTISSA);
    width[i] = x / MANTISSA;
    height[i] = Math.exp(-0.5 * x * x);
  }
  return { width, inside, height };
}

export class Generator {
  // What NumPy has in `bit_generator.state`, its large numbers as text
  constructor({ state, inc, has_uint32, uinteger }) {
    Object.assign(this, { state: BigInt(state), inc: BigInt(inc), half: has_uint32 ? uinteger : null });
  }

  bits64() {
    this.state = low(128, this.state * MULTIPLIER + this.inc);
    const [folded, by] = [low(64, (this.state >> 64n) ^ this.state), this.state >> 122n];
    return low(64, (folded >> by) | (folded << (64n - by)));
  }

  // The lower half of 64 bits, and the next time the upper one
  bits32() {
    if (this.half !== null) {
      const kept = this.half;
      this.half = null;
      return kept;
    }
    const bits = this.bits64();
    this.half = Number(bits >> 32n);
    return Number(low(32, bits));
  }

  random() {
    return Number(this.bits64() >> 11n) / 2 ** 53;
  }

  uniform(from, to) {
    return from + (to - from) * this.random();
  }

  normal() {
    for (;;) {
      const bits = this.bits64();
      const [layer, sign, point] = [Number(low(8, bits)), bits & 256n ? -1 : 1, Number(low(52, bits >> 9n))];
      const x = sign * point * LAYERS.width[layer];
      if (point < LAYERS.inside[layer]) return x;
      if (layer === 0) return (bits >> 17n) & 1n ? -this.tail() : this.tail();
      const between = LAYERS.height[layer - 1] - LAYERS.height[layer];
      if (between * this.random() + LAYERS.height[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  }

  tail() {
    for (;;) {
      const [beyond, y] = [-Math.log1p(-this.random()) / TAIL, -Math.log1p(-this.random())];
      if (2 * y > beyond * beyond) return TAIL + beyond;
    }
  }

  // The numbers from 0 to n - 1 in random order: each changes places with one before it, or stays
  permutation(n) {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i -= 1) {
      const mask = 2 ** (32 - Math.clz32(i)) - 1;
      let j;
      do j = (this.bits32() & mask) >>> 0;
      while (j > i);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }
}
