// A story that is written on. Beside writer.py, which wrote the first, its bars and its promises.
import { fixed } from "./engine/numbers.js";
import { softmax } from "./engine/ops.js";
import { draw, order } from "./engine/generate.js";
import { floats } from "./engine/translator.js";
import { button, html, set, TYPED, uniqueId } from "./page/make.js";
import { choice, number, place } from "./page/settings.js";
import { Live, define, listed } from "./page/element.js";
import { Bars } from "./page/tables.js";
import { named, quoted, nearest, wordKeys, writeWords } from "./sentence.js";

const TOP = 5;
const [SOS, EOS] = ["<sos>", "<eos>"];
const LETTERS = 400; // of a beginning
const STORIES = 99; // of one beginning, each with random numbers of its own
const PACES = { slow: 900, quick: 250, "at once": 0 }; // milliseconds from one word to the next
const moves = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;
const capital = (text) => text.replace(/^./, (first) => first.toUpperCase());

// ---------------------------------------------------------------- tokens and text

// The space before each token and the token as the stories are told (toytf/stories.py: told)
export function pieces(tokens) {
  return tokens.map((token, i) => {
    const [before, after] = [tokens[i - 1] ?? "“", tokens[i + 1] ?? ""];
    const joins = before.endsWith("-") && token.startsWith("-");
    const text = token.slice(Number(joins), token.endsWith("-") && after.startsWith("-") ? -1 : undefined);
    const space = before === "“" || joins || /^[.,!?”]$/.test(token) ? "" : " ";
    const begins = before === "“" || (space && /^[.!?]$/.test(before)) || text === "i";
    return [space, named(begins ? capital(text) : text)];
  });
}

const told = (tokens) => pieces(tokens).flat().join("");

// A name as its syllables; one that breaks off after a syllable ends with its hyphen.
function syllablesOf(word, syllables) {
  const [first, middle, last] = syllables.map((part) => `(${part.join("|")})`);
  const found = new RegExp(`^${first}(?:-|${middle}(?:-|${last}))$`, "i").exec(word);
  if (!found) return null;
  const [a, b, c] = found.slice(1).map((part) => part?.toLowerCase());
  return [`${capital(a)}-`, ...(b ? [`-${b}-`] : []), ...(c ? [`-${c}`] : [])];
}

// The tokens of a text, up to what cannot be read; `odd` are all words that cannot, and `at` is where the first stands.
// The last one may still be being typed.
export function cut(text, { words, syllables }) {
  const plain = text
    .replace(/[’‘]/g, "'")
    .replace(/„|(^|\s)"/g, "$1“")
    .replace(/"/g, "”");
  const found = [...plain.matchAll(/[.,!?“”]|[^\s.,!?“”]+/g)].map(({ 0: word, index }) => {
    const read = words.includes(word.toLowerCase()) ? [word.toLowerCase()] : syllablesOf(word, syllables);
    return { word, index, read };
  });
  const odd = found.filter(({ read }) => !read);
  const known = odd.length ? found.slice(0, found.indexOf(odd[0])) : found;
  return { tokens: known.flatMap(({ read }) => read), odd: odd.map(({ word }) => word), at: odd[0]?.index };
}

// Whether a word or a name begins so
function mayBecome(word, { words, syllables: [first, middle, last] }) {
  const begun = word.toLowerCase();
  const names = first.flatMap((a) => middle.flatMap((b) => last.map((c) => (a + b + c).toLowerCase())));
  return [...words, ...names].some((other) => other.startsWith(begun));
}

// ---------------------------------------------------------------- what a story promises

// Each slot of a story's sentences with the fact that its words speak of; null if it is no story of the grammar
// (toytf/stories.py: facts, whose forms, slots and promises `about` has)
export function facts(tokens, about) {
  const sentences = tokens.join(" ").match(/[^.]+ \.(?: |$)/g) ?? [];
  const forms = about.sentences;
  if (sentences.length !== forms.length || sentences.join("") !== tokens.join(" ")) return null;
  const found = sentences.map((sentence, i) => {
    for (const [end, form] of forms[i]) {
      const read = pattern(form, about).exec(sentence.trim());
      if (read) return [...readSlots(read.groups ?? {}, about), ...(end ? [["end", end]] : [])];
    }
    return null;
  });
  return found.includes(null) ? null : found.flat();
}

const bare = (slot) => slot.replace(/2$/, "");

function readSlots(groups, { slots }) {
  return Object.entries(groups).map(([name, words]) => {
    const slot = name.split("_")[0];
    return [slot, slots[bare(slot)]?.[words] ?? words];
  });
}

// A sentence's form with each slot open for all words that can stand there
function pattern(form, { slots, name }) {
  let places = 0;
  const open = (_, slot) => `(?<${slot}_${(places += 1)}>${Object.keys(slots[bare(slot)] ?? { [name]: 0 }).join("|")})`;
  return new RegExp(`^${form.replace(/[.?*+()|]/g, "\\$&").replace(/\{(\w+)\}/g, open)}$`);
}

// A mark, a promise and its facts, for each promise that a finished story speaks of
export function promises(tokens, about) {
  const said = tokens.at(-1) === EOS && facts(tokens.slice(0, -1), about);
  if (!said) return [["✗", "form", about.odd]];
  return Object.entries(about.promises).flatMap(([promise, slots]) => {
    const its = [...new Set(said.filter(([slot]) => slots.includes(slot)).map(([, fact]) => fact))];
    const words = its.map((fact) => about.owners[fact] ?? (fact.includes("-") ? told(fact.split(" ")) : fact));
    return its.length ? [[its.length > 1 ? "✗" : "✓", promise, words.join(", then ")]] : [];
  });
}

// ---------------------------------------------------------------- the element

class Story extends Live {
  settings(data) {
    const heads = { 1: "head 1", 2: "head 2", 3: "head 3", 4: "head 4" };
    return {
      beginning: this.beginning(data),
      layers: choice({ label: "Written by", start: "2", options: { 1: "one layer", 2: "two layers" } }),
      temperature: number({ label: "temperature", start: data.temperature, from: 0.1, to: 2, step: 0.1 }),
      pace: choice({ label: "Pace", start: "quick", options: Object.keys(PACES) }),
      layer: choice({ label: "Attention of", start: `${data.layer}`, options: { 1: "layer 1", 2: "layer 2" } }),
      head: choice({ label: "", start: `${data.head}`, options: heads }),
      draw: place({ label: "draw", start: 1, to: STORIES }),
      written: place({ label: "written", start: 0, from: 0, to: data.longest }),
      word: place({ label: "word", start: 0, from: 0, to: 2 * LETTERS }), // 0: the newest, or the last name's
    };
  }

  // The beginning as it is typed, with what there is to say about it
  beginning(data) {
    const id = uniqueId();
    const label = "The beginning of a story";
    const typed = () => {
      this.stop();
      this.change({ beginning: this.field.value, written: 0, word: 0, draw: 1 });
    };
    const keydown = (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.writeOn();
    };
    return {
      start: data.beginning,
      write: (text) => text,
      read: (text) =>
        text.length <= LETTERS
          ? { value: text }
          : { error: `${label}: expected at most ${LETTERS} letters, got ${text.length}` },
      control: (name) => {
        const attributes = { ...TYPED, type: null, rows: 2, maxlength: LETTERS, lang: "en", enterkeyhint: "go" };
        const said = { "aria-label": label, "aria-describedby": id };
        this.field = html("textarea", { ...attributes, ...said, input: typed, keydown });
        this.note = html("p", { class: "story-note", id, "aria-live": "polite" });
        return html("div", { class: "story-field", "data-setting": name }, this.field, this.note);
      },
      display: (text) => {
        if (this.field.value !== text) this.field.value = text;
      },
    };
  }

  take(data) {
    const part = (name) => this.querySelector(`.story-${name}`);
    [this.text, this.marks] = [part("text"), part("promises")];
    this.bars = new Bars(this.querySelector(".live-bars"));
    this.numbers = floats(data.numbers);
    this.reads = { 1: [], 2: [] }; // what each model made of the tokens so far
    set(this.text, { role: "radiogroup" });
    const choose = (i) => {
      this.stop();
      if (i > 0 && i !== this.state.word) this.change({ word: i });
    };
    wordKeys(this.text, choose, { follow: true });
  }

  build() {
    super.build();
    this.querySelector(".live-static .story-field").replaceWith(
      this.controls.querySelector("[data-setting=beginning]"),
    );
    this.on = button("Write on", () => (this.timer ? this.stop() : this.writeOn()), {
      class: "story-go",
      "aria-describedby": this.note.id,
    });
    this.one = button("One word", () => this.oneWord());
    this.anew = button("Begin anew", () => {
      if (this.read.odd.length) return;
      const next = { draw: (this.state.draw % STORIES) + 1, written: 0, word: 0 };
      this.change(next);
      this.writeOn();
    });
    const buttons = html("div", { class: "story-buttons" }, this.on, this.one, this.anew);
    this.querySelector(".story-field").after(buttons, this.controls);
    const looks = ["temperature", "layer", "head"].map((name) => this.controls.querySelector(`[data-setting=${name}]`));
    this.querySelector(".story-side").prepend(...looks);
  }

  reset() {
    this.stop();
    super.reset();
  }

  follow() {
    this.stop();
    super.follow();
  }

  // ---------------------------------------------------------------- writing

  async writeOn() {
    this.stop();
    const { beginning } = this.state;
    if (this.blocked() || !(await this.ready()) || beginning !== this.state.beginning) return;
    if (!moves() || !PACES[this.state.pace]) this.change({ written: this.data.longest, word: 0 });
    else this.tick();
  }

  tick() {
    const { longest } = this.data;
    this.timer = setTimeout(() => this.tick(), PACES[this.state.pace]);
    this.change({ written: Math.min(this.state.written + 1, longest), word: 0 });
    if (!this.blocked() && PACES[this.state.pace]) return;
    this.stop();
    this.change({ written: longest }); // to the end, whatever is changed now
  }

  async oneWord() {
    this.stop();
    if (!this.blocked() && (await this.ready())) this.change({ written: this.state.written + 1, word: 0 });
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.buttons();
  }

  ended() {
    return this.tokens?.at(-1) === EOS || this.state.written >= this.data.longest;
  }

  blocked() {
    return this.ended() || this.read.odd.length > 0;
  }

  buttons() {
    if (!this.on) return;
    this.on.textContent = this.timer ? "Pause" : "Write on";
    for (const one of [this.on, this.one]) set(one, { "aria-disabled": String(this.blocked()) });
    set(this.anew, { "aria-disabled": String(this.read.odd.length > 0) });
  }

  // What the model reads and scores at every place, up to the last token. What it has read before is kept.
  compute({ layers, temperature, draw: story, written }) {
    const [writer, reads, { numbers, data }] = [toytf.writers[layers], this.reads[layers], this];
    const begun = this.read.tokens;
    const tokens = [...begun];
    for (let t = 0; tokens[t - 1] !== EOS; t += 1) {
      const token = tokens[t - 1] ?? SOS;
      if (reads[t]?.token !== token) reads.splice(t, Infinity, { token, ...writer.read(token, reads[t - 1]?.state) });
      const k = t - begun.length;
      if (k >= written) break;
      if (k < 0) continue;
      const u = numbers[(data.longest * (story - 1) + k) % numbers.length];
      tokens.push(writer.vocab[draw(reads[t].logits, u, { temperature }).token]);
    }
    this.tokens = tokens;
  }

  // ---------------------------------------------------------------- showing

  prepare({ beginning }) {
    this.read = cut(beginning, this.data);
    this.remark();
    this.buttons();
  }

  show(state) {
    this.compute(state);
    this.buttons();
    const layer = Math.min(state.layer, state.layers);
    this.can.layer.name(state.layers === "1" ? ["layer 1"] : ["layer 1", "layer 2"]);
    this.can.layer.display(String(layer));
    const last = this.tokens.length - (this.tokens.at(-1) === EOS);
    this.at = state.word ? Math.min(state.word - 1, last) : this.newest(state);
    const { logits, looks } = this.reads[state.layers][this.at];
    Object.assign(this, { layer, row: looks[layer - 1][state.head - 1] });
    this.probs = softmax(logits.map((x) => x / state.temperature));
    this.writeText();
    this.writeBars(state);
    this.writePromises();
  }

  // The word that was written last, or the place of the first; in a finished story the last that begins a name
  newest({ written }) {
    const name = this.tokens.findLastIndex((token) => /^[A-Z]/.test(token));
    if (this.ended() && name >= 0) return name;
    return written ? this.tokens.length - 1 : this.tokens.length;
  }

  writeText() {
    const ended = this.tokens.at(-1) === EOS;
    const begun = this.read.tokens.length;
    const items = [{ word: "(start)", look: "story-word story-start", share: this.row[0], off: true }];
    const look = (i) =>
      `story-word${i < begun ? " story-typed" : ""}${i === this.at ? " story-on" : ""}` +
      `${this.tokens[i] === EOS ? " story-start" : ""}`;
    pieces(this.tokens).forEach(([small, word], i) => {
      items.push({ word, small, look: look(i), on: i === this.at, share: this.row[i + 1] });
    });
    const i = this.tokens.length;
    if (!ended) items.push({ word: "…", small: " ", look: look(i), on: i === this.at, label: "The next word" });
    writeWords(this.text, "radio", items);
    const story = told(this.tokens.filter((token) => token !== EOS));
    set(this.text, { "aria-label": `The story: “${story}” Choose a word to see what could have come there` });
  }

  writeBars({ temperature }) {
    const { vocab } = toytf.writers[this.state.layers];
    this.drawn = vocab.indexOf(this.tokens[this.at]);
    const best = order(this.probs).slice(0, TOP);
    const at = this.drawn < 0 || best.includes(this.drawn) ? best : [...best, this.drawn];
    this.bars.set(this.probs, { at, names: vocab.map(named) });
    const when = this.drawn < 0 ? "can come" : "could have come";
    this.bars.table.caption.textContent = `What ${when} here, at temperature ${temperature}`;
  }

  writePromises() {
    this.marks.hidden = !this.ended();
    const line = ([mark, promise, words]) =>
      html("li", mark === "✗" ? { class: "story-broken" } : {}, html("b", {}, mark), ` ${promise}: ${words}`);
    this.marks.replaceChildren(...(this.ended() ? promises(this.tokens, this.data) : []).map(line));
  }

  remark() {
    const [said, words] = this.remarkOn(this.read.odd);
    if (this.note.dataset.said === said) return; // or it would be read aloud again
    this.note.dataset.said = said;
    const replace = (word) => {
      const [text, { odd, at }] = [this.state.beginning, this.read];
      this.field.focus();
      this.change({ beginning: text.slice(0, at) + word + text.slice(at + odd[0].length), written: 0, word: 0 });
    };
    const chips = words.map((word) => button(word, () => replace(word), { class: "live-chip" }));
    this.note.replaceChildren(said, ...(chips.length ? [html("span", { class: "live-ask" }, ...chips)] : []));
  }

  // What there is to say, and words for the place of the first
  remarkOn([odd, ...others]) {
    const { words, syllables, slots } = this.data;
    const { tokens } = this.read;
    const typing = !others.length && this.state.beginning.endsWith(odd);
    if (!odd || (typing && mayBecome(odd, this.data))) return ["", []];
    const starts = syllables[0].some((syllable) => odd.startsWith(syllable));
    if (/^[A-Z]/.test(odd) && (starts || tokens.length)) {
      const [first, middle, last] = syllables.map((part) => part.join(", "));
      const parts = `A name has three syllables: ${first}; then ${middle}; then ${last}.`;
      return [`“${odd}” is no name of these stories. ${parts}`, []];
    }
    const known = words.filter((word) => /^[a-z]/.test(word));
    const all = listed([...new Set([odd, ...others])].map(quoted));
    const near = nearest(odd.toLowerCase(), known);
    const slot = tokens.at(-1) in slots.nature ? slots.kind : tokens.at(-1) === "a" ? slots.nature : slots.thing;
    const is = others.length ? "are" : "is";
    const what = `${all} ${is} not among the ${known.length} words of its stories. It reads what stands before, but cannot write on.`;
    return [`${what} In place of “${odd}”: `, near.length ? near : Object.keys(slot)];
  }

  say({ head }) {
    const words = ["(start)", ...this.tokens.map((token) => quoted(named(token)))];
    const p = (i) => fixed(this.probs[i], 4);
    const [most] = order(this.row);
    const looks = `looked most at ${words[most]}, with ${fixed(this.row[most], 4)} of its attention.`;
    const whose = `Head ${head} of layer ${this.layer} ${looks}`;
    const next = order(this.probs)[0];
    const { vocab } = toytf.writers[this.state.layers];
    if (this.drawn < 0) return `Most probable here is ${quoted(named(vocab[next]))}, with ${p(next)}. ${whose}`;
    const typed = this.at < this.read.tokens.length ? "You typed it. " : "";
    return `${words[this.at + 1]} had probability ${p(this.drawn)} here. ${typed}${whose}`;
  }
}

define("writer", Story);
