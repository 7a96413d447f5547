// Numbers as the course writes them. Beside toytf/byhand/expressions.py; the digits are the same.
// Browsers round the half 0.125 up to 0.13, Python to the even digit, 0.12. A half shows in 40 digits more.
const HALF = "5".padEnd(40, "0");

function halfToEven(word, longer) {
  const cut = longer.slice(0, -40).replace(/\.$/, "");
  return longer.endsWith(HALF) && /[02468]$/.test(cut) ? cut : word;
}

// `value` with so many decimals; a zero never has a minus sign.
export function fixed(value, decimals) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (Math.abs(value) >= 1e21) return BigInt(value) + (decimals ? `.${"0".repeat(decimals)}` : "");
  const word = halfToEven(value.toFixed(decimals), value.toFixed(decimals + 40));
  return /[1-9]/.test(word) ? word : word.replace("-", "");
}

// 4.677e-10
export function scientific(value, decimals = 3) {
  if (!Number.isFinite(value)) return fixed(value, decimals);
  const [digits, power] = value.toExponential(decimals).split("e");
  const word = halfToEven(digits, value.toExponential(decimals + 40).split("e")[0]);
  return `${/[1-9]/.test(word) ? word : word.replace("-", "")}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

// No more decimals than it has.
export function trimmed(value, decimals) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "-∞";
  const word = fixed(value, decimals);
  return word.includes(".") ? word.replace(/0+$/, "").replace(/\.$/, "") : word;
}

// Whether a word shows all of a number: what is left is only the float's own rounding.
export const isExact = (value, word) =>
  !Number.isFinite(value) || Math.abs(Number(word) - value) <= 1e-12 * Math.max(1, Math.abs(value));

// A word as it stands on the page: with a true minus sign, NaN and infinity by their usual names.
export const onPage = (word) =>
  word
    .replace(/^-?inf$/, (x) => x.replace("inf", "∞"))
    .replace("nan", "NaN")
    .replaceAll("-", "−");

// A number that is too long to be written out: 1.234 × 10²⁰ as 1.234e20
const LONGEST = 1e9;
export const isLong = (value) => Number.isFinite(value) && Math.abs(value) >= LONGEST;

export function shown(value, decimals = 4) {
  return onPage(isLong(value) ? scientific(value, 3).replace("e+", "e") : trimmed(value, decimals));
}

// 4.677 × 10⁻¹⁰
export function powerOfTen(value, decimals = 3) {
  const [digits, power] = scientific(value, decimals).split("e");
  const raised = [...String(Math.abs(Number(power)))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  return `${onPage(digits)} × 10${Number(power) < 0 ? "⁻" : ""}${raised}`;
}

// Whether a number would be written as zero without being it
export const vanishes = (value, decimals) =>
  Number.isFinite(value) && value !== 0 && Number(fixed(value, decimals)) === 0;

// The same of one
const nearlyOne = (value, decimals) => value < 1 && Number(fixed(value, decimals)) === 1;

// A share as `sci` writes it: what would be 0 or 1 without being it says how far it is from that. Else undefined.
export function small(value, decimals) {
  if (nearlyOne(value, decimals)) return `1 − ${powerOfTen(1 - value)}`;
  return vanishes(value, decimals) ? powerOfTen(value) : undefined;
}

// A matrix's words: every number with as many decimals as the longest needs, but `least`; with `sci` as `small` says.
export function words(matrix, decimals = 4, sci = false, least = 0) {
  const needed = Math.max(least, ...matrix.flat().map((v) => (trimmed(v, decimals).split(".")[1] ?? "").length));
  return matrix.map((row) =>
    row.map(
      (v) =>
        (sci && small(v, decimals)) ||
        (!Number.isFinite(v) || isLong(v) ? shown(v, decimals) : onPage(fixed(v, needed))),
    ),
  );
}

// ---------------------------------------------------------------- what somebody typed

// A number as people write it: 0.5 or 0,5; −3; 1/2, √2, 2√3/3, 10^6; 1,000,000; 65 %. Else undefined.
// `whole`: where whole numbers are asked for, 10,000 may be ten or ten thousand, and is not read.
export function parsed(text, whole = false) {
  let word = text
    .trim()
    .toLowerCase()
    .replace(/[−–—‐‑﹣－]/g, "-")
    .replace(/[⁄∕÷:]/g, "/")
    .replace(/[·×∙⋅]/g, "*")
    .replace(/\*\*/g, "^")
    .replace(/sqrt/g, "√")
    .replace(/ ?%$/, "/100");
  word = word.replace(
    /(^|[^\d.,])([1-9]\d{0,2}(?:[\s_'’]\d{3})+)(?!\d)/g,
    (_, before, digits) => before + digits.replace(/\D/g, ""),
  );
  if (/\d\s+[\d.,]/.test(word)) return undefined; // two numbers
  word = word.replace(/\s/g, "");
  if (/^-?[1-9]\d{0,2}(,\d{3}){2,}(\.\d+)?$|^-?[1-9]\d{0,2},\d{3}\.\d+$/.test(word)) word = word.replaceAll(",", "");
  if (whole && isEither(word)) return undefined;
  const tokens = word.replaceAll(",", ".").match(/(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|./g) ?? [];
  const value = product(tokens);
  return tokens.length === 0 && Number.isFinite(value) ? value : undefined;
}

// 10,000: a comma before three digits, behind any sign
export const isEither = (word) => /^\D?[1-9]\d{0,2},\d{3}$/.test(word);

// A product and its parts, each taken from the front of the tokens. What is no number is NaN.
function product(tokens) {
  let value = power(tokens);
  while (["*", "/", "√"].includes(tokens[0])) {
    const sign = tokens[0] === "√" ? "*" : tokens.shift();
    value = sign === "*" ? value * power(tokens) : value / power(tokens);
  }
  return value;
}

function power(tokens) {
  const sign = ["-", "+"].includes(tokens[0]) ? tokens.shift() : "+";
  const base = single(tokens);
  if (tokens[0] === "^") tokens.shift();
  else return sign === "-" ? -base : base;
  const raised = base ** power(tokens);
  return sign === "-" ? -raised : raised;
}

function single(tokens) {
  const token = tokens.shift();
  if (token === "√") return Math.sqrt(single(tokens));
  if (token !== "(") return token === undefined || !/\d/.test(token) ? NaN : Number(token);
  const value = product(tokens);
  return tokens.shift() === ")" ? value : NaN;
}
