// The trained translator at work. Beside translator.py, which wrote the lines of words, the threads, and the bars.
import { fixed } from "./engine/numbers.js";
import { softmax, sum } from "./engine/ops.js";
import { largestAt, order } from "./engine/generate.js";
import { button, svg, set, stopAt } from "./page/make.js";
import { choice, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { Bars, fitted } from "./page/tables.js";
import { END, named, quoted, kindOf, reading, begun, fits, mayBegin, mayFollow } from "./sentence.js";
import { sentence, palette, wordKeys, writeWords, weightTable } from "./sentence.js";

const TOP = 5;
const LONGEST = 16; // letters of a word: of what is longer the rest is cut off
const AT_ONCE = 90; // milliseconds from one new word to the next, and all of them in less than 700
const moves = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;

class Translation extends Live {
  settings(data) {
    return {
      sentence: sentence({ label: "An English sentence", start: data.sentence, list: true, ...data }),
      word: place({ label: "word", start: data.word, to: 2 * data.most + 4 }),
      head: choice({ label: "Attention of", start: "both", options: { 1: "head 1", 2: "head 2", both: "both heads" } }),
    };
  }

  take() {
    const part = (name) => this.querySelector(`.trans-${name}`);
    for (const name of ["picture", "src", "tgt", "threads", "detail"]) this[name] = part(name);
    this.map = this.querySelector(".live-map");
    this.bars = new Bars(this.querySelector(".live-bars"));
    this.changing = null; // the English word that is being changed: its place, or the place after the last
    this.empty = false; // the words to tap stand there because no word is read
    set(this.src, { role: "toolbar", "aria-label": "The English words: choose one to change it" });
    set(this.tgt, { role: "radiogroup", "aria-label": "The Spanish words: choose one to see where it looks" });
    const choose = (at) => {
      this.changing = null;
      this.change({ word: at + 1 });
    };
    wordKeys(this.tgt, choose, { follow: true });
    wordKeys(this.src, async (at) => (await this.ready()) && this.changeWord(this.changing === at ? null : at));
    this.addEventListener("keydown", ({ key }) => key === "Escape" && this.changing !== null && this.close());
  }

  // What Python left room for takes its place
  build() {
    super.build();
    const [field, head] = ["sentence", "head"].map((name) => this.controls.querySelector(`[data-setting=${name}]`));
    this.querySelector(".live-sentence:not([data-setting])").replaceWith(field);
    this.querySelector(".trans-head").replaceWith(head);
    const anew = ({ type, target }) => {
      if (!this.empty && (type === "input" || target.closest("button"))) this.changing = null;
    };
    for (const type of ["input", "click"]) field.addEventListener(type, anew, true);
    this.controls.remove();
  }

  // Who types another sentence keeps the place, but not at the (end): that one is chosen only by a tap, a key, a link.
  change(some) {
    if ("sentence" in some || "word" in some) this.typed = "sentence" in some;
    super.change(some);
  }

  follow() {
    this.typed = false;
    super.follow();
  }

  placeOf(word) {
    const last = this.spanish.length;
    const real = this.spanish.at(-1) === END ? last - 1 : last;
    return word === last && !this.typed ? last : Math.min(word, real || last);
  }

  // ---------------------------------------------------------------- computing

  compute(words) {
    const steps = words.length ? [...toytf.trained.steps(words)] : [];
    this.spanish = steps.map(({ token }) => named(toytf.trained.tgt_vocab[token]));
    this.probs = steps.map(({ logits }) => softmax(logits));
    const cross = steps.at(-1)?.state.decoders[0].layers[0].cross_attention.inner.attention ?? [];
    this.heads = cross.map(({ attn_weights: weights }) => weights);
  }

  // Which share of a word's attention each English word has: of one head, or the mean of both
  weights(head) {
    if (head !== "both") return this.heads[Number(head) - 1] ?? [];
    return (this.heads[0] ?? []).map((row, t) =>
      row.map((_, k) => this.heads.reduce((total, weights) => total + weights[t][k], 0) / this.heads.length),
    );
  }

  // ---------------------------------------------------------------- showing

  show(state) {
    this.read = reading(state.sentence, this.data);
    this.beginAnew(state);
    this.compute(this.read.words);
    this.at = this.placeOf(state.word) - 1;
    this.shares = this.weights(state.head);
    const [{ slots, most }, { length }] = [this.data, this.read.tokens];
    this.slots = Math.max(this.spanish.length, length + (length < most ? 1 : 0));
    this.picture.style.setProperty("--slots", this.slots);
    this.picture.classList.toggle("trans-long", this.slots > slots);
    this.writeEnglish(this.shares[this.at] ?? []);
    const look = (word, t) => `trans-word${t === this.at ? " trans-on" : ""}${word === END ? " trans-end" : ""}`;
    const spanish = this.spanish.map((word, t) => ({ word, on: t === this.at, look: look(word, t) }));
    writeWords(this.tgt, "radio", spanish);
    this.drawThreads();
    this.writeBars();
    const rows = this.shares.map((row, t) => [this.spanish[t], row]);
    weightTable(this.map, this.read.words, rows);
    this.offer();
    if (this.shown && moves()) this.reveal(this.shown);
    this.shown = this.spanish;
  }

  // Where no word is read, the words to begin with stand in the place of what there would be to see.
  beginAnew({ sentence }) {
    const { words, tokens } = this.read;
    const typed = sentence !== this.text;
    this.text = sentence;
    if (!words.length && (this.changing === null || this.empty || typed)) {
      [this.changing, this.empty] = [tokens.length, true];
    } else if (this.empty) [this.changing, this.empty] = [null, false];
  }

  writeEnglish(row) {
    const { tokens } = this.read;
    const typing = begun(this.state.sentence, this.data);
    const words = tokens.map(({ word, place }, i) => {
      const [begins, on] = [typing && i === tokens.length - 1, i === this.changing];
      const out = place < 0 && !begins;
      const look = `trans-word${out ? " trans-out" : ""}${begins ? " trans-begun" : ""}${on ? " trans-on" : ""}`;
      const share = row[place] ?? 0;
      return { word, look, on, share, small: out ? "left out" : place < 0 || !row.length ? "" : fixed(share, 4) };
    });
    if (tokens.length < this.data.most) {
      const on = this.changing === tokens.length;
      words.push({ word: "+", look: `trans-word trans-more${on ? " trans-on" : ""}`, on, label: "Add a word" });
    }
    writeWords(this.src, "button", words);
  }

  // The middles of the places, in thousandths: side by side a place is as wide as its words, below each other all
  // are alike
  places() {
    const { room, narrowest, gap } = this.data;
    const lengths = [this.src, this.tgt].map((box) =>
      [...box.children].map((word) => Math.min(LONGEST, word.querySelector("b").textContent.length)),
    );
    const columns = Array.from(
      { length: Math.max(...lengths.map((words) => words.length)) },
      (_, i) => gap + Math.max(narrowest, ...lengths.map((words) => words[i] ?? 0)),
    );
    const total = Math.max(room, sum(columns));
    const widths = [...columns, total - sum(columns)].map((width) => `minmax(0,${width}fr)`);
    this.picture.style.setProperty("--columns", widths.join(" "));
    const side = columns.map((width, i) => Math.round(((sum(columns.slice(0, i)) + width / 2) / total) * 1000));
    return [side, Array.from({ length: this.slots }, (_, i) => Math.round(((i + 0.5) / this.slots) * 1000))];
  }

  drawThreads() {
    const slotOf = this.read.tokens.flatMap(({ place: at }, slot) => (at >= 0 ? [slot] : []));
    const all = this.shares.flatMap((row, t) => row.map((share, k) => ({ share, t, k: slotOf[k] })));
    this.places().forEach((places, group) => {
      const paths = fitted(this.threads.children[group], all.length, () => svg("path"));
      all.forEach(({ share, t, k }, i) => {
        const path = paths[i];
        const [a, b] = [places[k], places[t]];
        const d = `M${a} 0C${a} 500 ${b} 500 ${b} 1000`;
        if (path.getAttribute("d") !== d) path.setAttribute("d", d);
        path.style.setProperty("--share", share.toFixed(4));
        path.classList.toggle("trans-on", t === this.at);
        path.dataset.t = t;
      });
    });
    const links = this.shares.map((row, t) => `${this.spanish[t]} to ${this.read.words[largestAt(row)]}`);
    const said = links.length ? `The strongest thread of each word: ${links.join(", ")}.` : "No threads yet.";
    this.threads.setAttribute("aria-label", said);
  }

  writeBars() {
    const probs = this.probs[this.at];
    this.bars.table.classList.toggle("trans-nothing", !probs);
    if (!probs) return;
    this.bars.set(probs, { at: order(probs).slice(0, TOP), names: toytf.trained.tgt_vocab.map(named) });
    const word = quoted(this.spanish[this.at]);
    this.bars.table.caption.textContent = `The ${TOP} most probable words where it wrote ${word}`;
  }

  // New words come one after the other, with their threads
  reveal(before) {
    const first = this.spanish.findIndex((word, t) => word !== before[t]);
    if (first < 0) return;
    const pause = Math.min(AT_ONCE, 700 / (this.spanish.length - first));
    const appear = (node, t) => {
      const timing = { duration: 200, delay: pause * (t - first), fill: "backwards" };
      if (t >= first) node.animate([{ opacity: 0 }, { opacity: 1 }], timing);
    };
    [...this.tgt.children].forEach(appear);
    for (const path of this.threads.querySelectorAll("path")) appear(path, Number(path.dataset.t));
  }

  // ---------------------------------------------------------------- another word in a word's place

  changeWord(at) {
    [this.changing, this.empty] = [at, false];
    this.show(this.state);
    if (at === null) return;
    this.detail.scrollIntoView({ block: "nearest" });
    (this.detail.querySelector("[aria-pressed=true]") ?? this.detail.querySelector(".live-chip")).focus();
  }

  offer() {
    this.detail.querySelector(".live-palette")?.remove();
    this.detail.classList.toggle("trans-offers", this.changing !== null);
    if (this.changing === null) return;
    const { empty, data } = this;
    const words = this.read.tokens.map(({ word }) => word);
    const at = (this.changing = Math.min(this.changing, words.length));
    const now = words[at] ?? null;
    const kind = now === null ? "" : kindOf(data, now);
    const before = this.read.tokens.slice(0, at).flatMap(({ word, known }) => (known ? [word] : []));
    const follow = mayFollow(data, before);
    const wanted = (word, its) => (kind ? its === kind : !follow.size || follow.has(word));
    const all = data.groups.filter((group) => group.kind === kind).flatMap((group) => group.words);
    const fitting = new Set(
      all.filter((word) =>
        mayBegin(
          data,
          words.map((old, i) => (i === at ? word : old)),
        ),
      ),
    );
    const odd = (word) => Boolean(fitting.size) && !fitting.has(word); // no sentence that it learned has it here
    const choose = (word) => {
      this.empty = false;
      if (now === null) this.changing = (empty ? 0 : at) + 1;
      const sentence = empty ? word : [...words.slice(0, at), word, ...words.slice(at + 1)].join(" ");
      this.change({ sentence });
      this.detail.querySelector(now === null ? ".live-chip" : "[aria-pressed=true]")?.focus();
    };
    const out = () => {
      this.changing = null;
      this.change({ sentence: words.filter((_, i) => i !== at).join(" ") });
      this.src.querySelector("[tabindex='0']")?.focus();
    };
    const more = [now === null ? "" : button("Take it out", out), empty ? "" : button("Done", () => this.close())];
    const goesOn = follow.size ? "" : ". It learned no sentence that goes on here.";
    const strange = fitting.size && fitting.size < all.length ? " (dashed: in no sentence that it learned)" : "";
    const label = now === null ? `Add a word${goesOn}` : `In place of “${now}”${strange}`;
    const box = palette(data, wanted, { label: empty ? "Words to begin with" : label, now, choose, odd, more });
    this.detail.append(box);
  }

  close() {
    const word = this.src.children[this.changing];
    this.changeWord(null);
    stopAt([[...this.src.children]], word);
    word?.focus();
  }

  reset() {
    [this.changing, this.empty] = [null, false];
    super.reset();
  }

  say({ head }) {
    if (!this.spanish.length) return ""; // the field says it
    const words = this.spanish.filter((word) => word !== END);
    const row = this.shares[this.at];
    const k = largestAt(row);
    const cut =
      this.spanish.at(-1) === END
        ? ""
        : ` It stops here without an end: ${this.spanish.length} words are the most for this sentence.`;
    const whose = head === "both" ? "its attention" : `the attention of head ${head}`;
    const word = this.spanish[this.at];
    const name = word === END ? `${END}, its sign that it is done,` : quoted(word);
    const writes = fits(this.data, this.read.words) ? "It writes" : "Outside what it learned it writes";
    return (
      `${writes} “${words.join(" ")}”.${cut} ${name} has probability ` +
      `${fixed(Math.max(...this.probs[this.at]), 4)} and looks most at “${this.read.words[k]}”, ` +
      `with ${fixed(row[k], 4)} of ${whose}.`
    );
  }
}

define("translator", Translation);
