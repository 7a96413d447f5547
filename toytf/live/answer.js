// Where an answer worked out by hand is typed, and told what the notebook's checker would say. Beside answer.py.
//
// What is said is check/answers.py, in plain JavaScript: the same rule of what is right, the same words.
import { scientific, parsed, isEither } from "./engine/numbers.js";
import { button, html, set, uniqueId, TYPED } from "./page/make.js";

// ---------------------------------------------------------------- what the checker says

// A number to ten digits, as Python's format writes it with .10g
function tenDigits(value) {
  if (Object.is(value, -0)) return "-0";
  const [digits, exponent] = scientific(value, 9).split("e");
  const power = Number(exponent);
  const short = (word) => (word.includes(".") ? word.replace(/\.?0*$/, "") : word);
  if (power < -4 || power >= 10) return `${short(digits)}e${exponent}`;
  const [minus, whole] = [digits.startsWith("-") ? "-" : "", digits.replace(/[-.]/g, "")];
  const padded = power < 0 ? "0".repeat(-power) + whole : whole;
  const point = Math.max(power, 0) + 1;
  return minus + short(`${padded.slice(0, point)}.${padded.slice(point)}`);
}

// The place of entry k, as people count
function placeOf(shape, k) {
  if (shape.length === 0) return "";
  return shape.length === 1 ? `entry ${k + 1}` : `row ${Math.floor(k / shape[1]) + 1}, column ${(k % shape[1]) + 1}`;
}

// Whether a wrong answer is a known one
function fits({ value, room = null, each }, mine, part) {
  const [away, off] = [value, part.expected].map((numbers) => mine.map((x, k) => Math.abs(x - numbers[k])));
  const near = away.map((x, k) => x <= (room === null ? Math.max(part.room, 0.006) : (room[k] ?? room)));
  if (each) return off.every((x, k) => x <= part.room || near[k]);
  return near.every(Boolean) && Math.max(...away) <= Math.max(...off);
}

// What is said to an answer, line by line, and which entries are off. `seen` holds the wrong ones so far: the first
// is told where it is off and what it looks like, the second the step before, the third how the number comes about.
export function reply(about, part, mine, seen) {
  const off = mine.map((x, k) => !(Math.abs(x - part.expected[k]) <= part.room));
  const wrong = off.flatMap((isOff, k) => (isOff ? [k] : []));
  if (wrong.length === 0) {
    seen.clear();
    return { right: true, off, lines: [`${about}: right.`] };
  }
  if (seen.size < 3) seen.add(mine.map((x) => x + 0).join(" ")); // + 0: no -0
  const more = [() => "", (k) => part.before[k], (k) => part.work[k]][seen.size - 1];
  const looks = part.traps.find((trap) => fits(trap, mine, part))?.looks;
  const said =
    part.shape.length === 0
      ? "not right."
      : `${wrong.length} of ${mine.length} entries differ${wrong.length === 1 ? "s" : ""}.`;
  const lines = wrong
    .slice(0, 3)
    .map((k) =>
      [[placeOf(part.shape, k), `yours ${tenDigits(mine[k])}`].filter(Boolean).join(": "), more(k)]
        .filter(Boolean)
        .join("; "),
    );
  return {
    right: false,
    off,
    lines: [
      `${about}: ${said}`,
      ...(looks ? [`It looks like ${looks}`] : []),
      ...lines,
      ...(wrong.length > 3 ? [`and ${wrong.length - 3} more`] : []),
    ],
  };
}

// ---------------------------------------------------------------- what stands on the page

// One answer: its cells, and below them what is said to it.
class Part {
  constructor(about, part) {
    Object.assign(this, { about, part, seen: new Set() });
    const [name, said] = [uniqueId(), uniqueId()];
    this.cells = part.expected.map((_, k) => this.cell(k, said));
    this.last = this.cells[0];
    this.said = html("div", { class: "answer-said", id: said, role: "status" });
    const stay = (event) => event.preventDefault(); // the keyboard stays open
    const turning = { class: "answer-sign", "aria-label": "Change the sign", pointerdown: stay };
    const check = html("button", { "aria-label": (part.name && `Check ${part.name}`) || null }, "Check");
    const press = [button("±", () => this.turnSign(), turning), check];
    const decimals = part.decimals ? ` to ${part.decimals} decimal${part.decimals > 1 ? "s" : ""}` : "";
    const called = [part.name || "your answer", html("span", {}, decimals)];
    const group = { class: "answer-try", role: "group", "aria-labelledby": name };
    const submit = (event) => {
      event.preventDefault();
      this.check();
    };
    this.node = html(
      "form",
      { class: "answer-part", novalidate: true, submit },
      html("p", { class: "answer-name", id: name }, ...called),
      html("div", group, this.grid(), html("span", { class: "answer-press" }, ...press)),
      this.said,
    );
  }

  cell(k, said) {
    const input = html("input", {
      ...TYPED,
      inputmode: "decimal",
      enterkeyhint: "go",
      "aria-label": placeOf(this.part.shape, k) || this.part.name || "your answer",
      focus: () => {
        this.last = input;
      },
      input: () => this.mark(input, false),
      paste: (event) => this.paste(event, k),
    });
    input.dataset.said = said;
    return input;
  }

  // Cells with the numbers of their rows and columns
  grid() {
    const [rows, columns] = this.part.shape;
    const number = (n) => html("span", { class: "answer-number", "aria-hidden": "true" }, n);
    const boxed = this.cells.map((input) => html("span", { class: "answer-cell" }, input));
    if (rows === undefined) return html("div", { class: "answer-row" }, ...boxed);
    if (columns === undefined) {
      if (rows > 2) boxed.forEach((cell, k) => cell.prepend(number(k + 1)));
      return html("div", { class: "answer-row" }, ...boxed);
    }
    const heads = Array.from({ length: columns }, (_, j) => number(j + 1));
    const line = (i) => [number(i + 1), ...boxed.slice(i * columns, (i + 1) * columns)];
    const lines = Array.from({ length: rows }, (_, i) => line(i)).flat();
    return html("div", { class: "answer-table", style: `--columns: ${columns}` }, number(""), ...heads, ...lines);
  }

  mark(input, off) {
    set(input, { "aria-invalid": off ? "true" : null, "aria-describedby": off ? input.dataset.said : null });
    input.parentElement.classList.toggle("answer-off", off);
  }

  // Keypads of phones have no minus.
  turnSign() {
    const input = this.last;
    input.value = /^\s*[-−]/.test(input.value) ? input.value.replace(/^\s*[-−]/, "") : `−${input.value.trim()}`;
    this.mark(input, false);
    input.focus();
  }

  // A pasted row or table goes into the cells from this one on: [2, 1, 0], or what a spreadsheet gives.
  paste(event, k) {
    const text = event.clipboardData.getData("text");
    const words = text
      .replace(/[[\](){}]/g, " ")
      .trim()
      .split(/\s*;\s*|,\s+|\s+/);
    if (words.length < 2 || words.length > this.cells.length - k) return;
    event.preventDefault();
    words.forEach((word, i) => {
      this.cells[k + i].value = word;
      this.mark(this.cells[k + i], false);
    });
  }

  check() {
    const mine = this.cells.map((input) => parsed(input.value, this.isWhole()));
    const missing = mine.map((number) => number === undefined);
    const { right, lines, off } = missing.includes(true)
      ? this.unread(missing)
      : reply(this.about, this.part, mine, this.seen);
    this.cells.forEach((input, k) => this.mark(input, off[k]));
    this.say(right, lines);
  }

  isWhole() {
    return !this.part.decimals && this.part.expected.every(Number.isInteger);
  }

  // What is empty or cannot be read is no try.
  unread(missing) {
    const [about, { shape }] = [this.about, this.part];
    const empty = this.cells.map((input) => input.value.trim() === "");
    if (empty.every(Boolean)) return { lines: [`${about}: not answered yet.`], off: empty.map(() => false) };
    const lines = this.cells.flatMap(({ value }, k) => {
      if (!missing[k] || empty[k]) return [];
      const at = [about, placeOf(shape, k)].filter(Boolean).join(", ");
      return [
        this.isWhole() && isEither(value.trim())
          ? `${at}: “${value}” may be read in two ways. Write it without the comma.`
          : `${at}: expected a number, such as 2, -0.5, 1/3 or √2, got “${value}”.`,
      ];
    });
    if (empty.includes(true)) lines.push(`${about}: ${placeOf(shape, empty.indexOf(true))} has no number yet.`);
    return { lines, off: missing.map((no, k) => no && !empty[k]) };
  }

  say(right, lines) {
    this.said.classList.toggle("answer-right", right === true);
    this.said.classList.toggle("answer-wrong", right === false);
    this.said.replaceChildren(...lines.map((line) => html("p", {}, line)));
  }

  reset() {
    this.seen.clear();
    this.cells.forEach((input) => {
      input.value = "";
      this.mark(input, false);
    });
    this.say(undefined, []);
  }
}

class Answer extends HTMLElement {
  connectedCallback() {
    // in the capturing phase: it does not bubble, and the page may still be read, without what stands inside
    this.addEventListener("toggle", () => this.build(), { capture: true, once: true });
  }

  build() {
    const details = this.querySelector("details");
    const { number, parts } = JSON.parse(this.querySelector("script").textContent);
    const made = parts.map((part) => new Part(part.name ? `${number}, ${part.name}` : number, part));
    const reset = () => made.forEach((part) => part.reset());
    const again = button("Start over", reset, { "aria-label": `Start over with ${number}` });
    details.append(...made.map(({ node }) => node), html("p", { class: "answer-foot" }, again));
  }
}

if (!customElements.get("toytf-answer")) customElements.define("toytf-answer", Answer); // a page may read it twice
