// The arithmetic of an entry, as toytf/byhand writes it: "=" where every number is shown in full, "≈" where one is not.
import { trimmed, scientific, isLong, isExact, onPage, vanishes } from "../engine/numbers.js";
import { sum } from "../engine/ops.js";
import { BASE } from "../engine/positions.js";

const DECIMALS = 4;

// ---------------------------------------------------------------- expressions: { exact, text(tight), evaluated }

// `sci` writes what would vanish, or is too long, as a power of ten.
export function num(value, decimals = DECIMALS, sci = false) {
  const long = isLong(value);
  const asPower = sci && (long || vanishes(value, decimals));
  const word = long || asPower ? scientific(value).replace("e+", "e") : trimmed(value, decimals);
  const [digits, power] = word.split("e");
  const text = onPage(asPower ? `${digits} × 10<sup>${Number(power)}</sup>` : word);
  return {
    value,
    exact: Number.isFinite(value) ? isExact(value, word) : !Number.isNaN(value),
    text: (tight) => (tight && value < 0 ? `(${text})` : text),
  };
}

const all = (parts) => parts.every((part) => part.exact);
const bracket = (text, tight) => (tight ? `(${text})` : text);

export const plus = (parts) => ({
  exact: all(parts),
  evaluates: parts.some((part) => part.evaluates),
  text(tight) {
    if (parts.length === 1) return parts[0].text(tight);
    const [first, ...rest] = parts.map((part) => part.text());
    return bracket(first + rest.map((w) => (w.startsWith("−") ? ` − ${w.slice(1)}` : ` + ${w}`)).join(""), tight);
  },
});
export const minus = (a, b) => ({
  exact: all([a, b]),
  value: a.value - b.value,
  text: (tight) => bracket(`${a.text()} − ${b.text(true)}`, tight),
});
export const times = (...parts) => ({ exact: all(parts), text: () => parts.map((part) => part.text(true)).join("·") });
export const over = (a, b) => ({
  exact: all([a, b]),
  value: a.value / b.value,
  evaluates: a.evaluates || b.evaluates,
  text: () => `${a.text(true)} / ${b.text(true)}`,
});
export const root = (a) => ({ exact: a.exact, text: () => `√${a.text(true)}` });
export const larger = (a, b) => ({ exact: all([a, b]), text: () => `max(${a.text()}, ${b.text()})` });
// a power of e is irrational, but for e⁰: no finite number of digits is all of it
export const exp = (power) => ({
  exact: power.exact,
  evaluates: power.value !== 0,
  text: () => `e<sup>${power.text()}</sup>`,
});
const power = (base, exponent) => ({
  exact: all([base, exponent]),
  text: () => `${base.text(true)}<sup>${exponent.text()}</sup>`,
});
// so are sine and cosine, but at 0
const wave = (name, angle) => ({
  exact: angle.exact,
  evaluates: angle.value !== 0,
  text: () => `${name}(${angle.text()})`,
});
const row = (numbers) => ({ exact: all(numbers), text: () => `[${numbers.map((n) => n.text()).join("&ensp;")}]` });

// A name such as <pad> in what is read as HTML
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// "Hello, 2 = 1·0 + 3·1 = 0 + 3 = 3"
export function chain(where, steps) {
  const signs = steps.map((step, k) => {
    if (k === 0) return step.exact ? "=" : "≈";
    const before = steps[k - 1];
    const evaluated = before.evaluates && !step.evaluates;
    return before.exact && step.exact && !evaluated ? "=" : "≈";
  });
  const texts = steps.map((step) => step.text());
  const said = texts.map((text, k) => `${signs[k]} ${text}`).filter((_, k) => texts[k] !== texts[k - 1]);
  return `<b>${escaped(where)}</b> ${said.join("\n")}`;
}

// ---------------------------------------------------------------- the sums of the panels

// One entry of a product: its row of the left factor, its column of the right one; and what is added, if anything
export function productSum(where, left, column, value, decimals = DECIMALS, added = []) {
  const short = (x) => num(x, decimals);
  const [pairs, more] = [left.map((x, k) => [x, column[k]]), added.map(short)];
  const products = pairs.map(([x, y]) => short(x * y));
  const factors = pairs.map(([x, y]) => times(short(x), short(y)));
  return chain(where, [plus([...factors, ...more]), plus([...products, ...more]), short(value)]);
}

// The angle of a clock of the positional encoding: position / 10000^(2 pair / dModel)
function angleSteps(pos, pair, dModel, decimals = 6) {
  const exponent = 2 * pair;
  const by = BASE ** (exponent / dModel);
  const asPower = { ...power(num(BASE), over(num(exponent), num(dModel))), value: by };
  return [over(num(pos), asPower), over(num(pos), num(by)), num(pos / by, decimals)];
}

export const angleSum = (where, pos, pair, dModel) => chain(where, angleSteps(pos, pair, dModel));

// One entry of the positional encoding; an angle needs more digits than its sine
export function positionSum(where, pos, column, dModel, value, decimals = DECIMALS) {
  const name = column % 2 === 0 ? "sin" : "cos";
  const angles = angleSteps(pos, Math.floor(column / 2), dModel, Math.max(decimals, 6));
  return chain(where, [...angles.map((angle) => wave(name, angle)), num(value, decimals)]);
}

// A whole row as a mix of the value rows
export function weightedSumRow(where, weights, values, value) {
  const mixed = weights.map((a, j) => row(values[j].map((x) => num(a * x))));
  const pairs = weights.map((a, j) => times(num(a), row(values[j].map((x) => num(x)))));
  return chain(where, [plus(pairs), plus(mixed), row(value.map((x) => num(x)))]);
}

export const addSum = (where, a, b, value) => chain(where, [plus([num(a), num(b)]), num(value)]);
export const divideSum = (where, a, by, value) => chain(where, [over(num(a), num(by)), num(value)]);
export const reluSum = (where, x, value) => chain(where, [larger(num(0), num(x)), num(value)]);

// The powers of e of one row of scores, the largest subtracted first if asked
export function softmaxSum(where, scores, j, value, { subtractMax = false, sci = false } = {}) {
  const largest = Math.max(...scores);
  const powers = scores.map((s) => exp(subtractMax ? minus(num(s), num(largest)) : num(s)));
  const exps = scores.map((s) => Math.exp(subtractMax ? s - largest : s));
  const [written, total] = [(x) => num(x, DECIMALS, sci), sum(exps)];
  const numbers = exps.map(written);
  return chain(where, [
    over(powers[j], plus(powers)),
    over(numbers[j], plus(numbers)),
    over(numbers[j], written(total)),
    written(value),
  ]);
}
