// The trained translator at work. Beside translator.py, which wrote the lines of words, the threads, and the bars.
import { fixed } from "./engine/numbers.js";
import { softmax, sum } from "./engine/ops.js";
import { largestAt } from "./engine/generate.js";
import { html, svg } from "./page/make.js";
import { place, choice } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { Bars } from "./page/tables.js";
import {
  sentence,
  reading,
  begun,
  mayBegin,
  mayFollow,
  palette,
  kindOf,
  wordKeys,
  named,
  quoted,
  weightTable,
} from "./sentence.js";

const END = "(end)";
const TOP = 5;
const LONGEST = 16; // letters of a word: of what is longer the rest is cut off
const AT_ONCE = 90; // milliseconds from one new word to the next, and all of them in less than 700
const moves = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;

class Translation extends Live {
  settings(data) {
    return {
      sentence: sentence({ label: "An English sentence", start: data.sentence, ...data }),
      word: place({ label: "word", start: data.word, to: 2 * data.most + 4 }),
      head: choice({ label: "Attention of", start: "both", options: { 1: "head 1", 2: "head 2", both: "both heads" } }),
    };
  }

  take() {
    const part = (name) => this.querySelector(`.trans-${name}`);
    Object.assign(this, {
      picture: part("picture"),
      src: part("src"),
      tgt: part("tgt"),
      threads: part("threads"),
      detail: part("detail"),
      map: part("map"),
      bars: new Bars(this.querySelector(".live-bars")),
    });
    this.start = this.data.sentence;
    this.changing = null; // the English word that is being changed: its place, or the place after the last
    this.empty = false; // the words to tap stand there because no word is read
    this.src.setAttribute("role", "toolbar");
    this.src.setAttribute("aria-label", "The English words: choose one to change it");
    this.tgt.setAttribute("role", "radiogroup");
    this.tgt.setAttribute("aria-label", "The Spanish words: choose one to see where it looks");
    wordKeys(
      this.tgt,
      (at) => {
        [this.changing, this.picked] = [null, this.read.words.join(" ")];
        this.change({ word: at + 1 });
      },
      { follow: true },
    );
    wordKeys(this.src, (at) => this.changeWord(this.changing === at ? null : at));
    this.addEventListener("keydown", (event) => this.paletteKeys(event));
  }

  // A link may choose the (end), too.
  follow() {
    const before = this.picked;
    this.picked = undefined;
    super.follow();
    this.picked ??= before;
  }

  // What Python left room for takes its place
  build() {
    super.build();
    const [field, head] = ["sentence", "head"].map((name) => this.controls.querySelector(`[data-setting=${name}]`));
    this.querySelector(".live-sentence:not([data-setting])").replaceWith(field);
    this.querySelector(".trans-head").replaceWith(head);
    this.controls.remove();
    this.said.remove();
    this.said = this.querySelector(".trans-said");
    this.said.classList.add("live-said");
    field.addEventListener("focusout", () => this.begun && this.show(this.state)); // it is begun no more
    const box = this.map.closest("details");
    box.addEventListener("toggle", () => box.open && this.writeMap());
    addEventListener("beforeprint", () => this.writeMap()); // paper shows it, and is made before it opens
    this.warmUp();
  }

  // ---------------------------------------------------------------- computing

  // The engine is slow the first time it runs. So it writes the first sentence while nobody waits, a word at a time.
  warmUp() {
    const { words } = reading(this.data.sentence, this.data);
    const [all, steps] = [[], toytf.trained.steps(words)];
    const idle = globalThis.requestIdleCallback ?? ((run) => setTimeout(run, 200));
    const warm = () => {
      const { value, done } = steps.next();
      if (!done) {
        all.push(value);
        idle(warm);
      } else if (!this.key) this.keep(words.join(" "), all);
    };
    idle(warm);
  }

  compute(words) {
    const key = words.join(" ");
    if (this.key !== key) this.keep(key, words.length ? [...toytf.trained.steps(words)] : []);
  }

  keep(key, steps) {
    this.key = key;
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

  // What Python wrote stays as it is until something changes.
  asWritten(state) {
    return !this.shares && this.changing === null && this.atStart(state);
  }

  show(state) {
    this.read = reading(state.sentence, this.data);
    this.beginAnew(state);
    const given = state.sentence === this.data.sentence || state.word !== this.data.word;
    this.picked ??= given ? this.read.words.join(" ") : ""; // by a link
    if (this.asWritten(state)) {
      Object.assign(this, { at: state.word - 1, slots: Number(this.picture.style.getPropertyValue("--slots")) });
      this.shown = [...this.tgt.children].map((word) => word.textContent);
      this.writeEnglish(null);
      this.writeSpanish(this.shown);
      return;
    }
    this.compute(this.read.words);
    this.at = this.placeOf(state.word) - 1;
    this.shares = this.weights(state.head);
    this.slots = Math.max(this.data.slots, this.read.tokens.length, this.spanish.length);
    this.picture.style.setProperty("--slots", this.slots);
    this.picture.classList.toggle("trans-long", this.slots > this.data.slots);
    this.writeEnglish(this.shares[this.at] ?? []);
    this.writeSpanish(this.spanish);
    this.drawThreads();
    this.writeBars();
    if (this.map.closest("details").open) this.writeMap();
    this.offer();
    if (moves()) this.reveal(this.shown);
    this.shown = this.spanish;
  }

  // Who types another sentence keeps the place, but not at the (end): that one is chosen only by a tap, a key, a link.
  placeOf(word) {
    const last = this.spanish.length;
    if (word === last && this.picked === this.read.words.join(" ")) return last;
    const real = this.spanish.at(-1) === END ? last - 1 : last;
    return Math.min(word, real || last);
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

  // As many words in a line as are needed: those that stand there are taken
  fill(box, count) {
    while (box.children.length > count) box.lastChild.remove();
    while (box.children.length < count) box.append(html("span", { class: "trans-word" }, html("b")));
    return [...box.children];
  }

  // Without a row of shares the numbers stay
  writeEnglish(row) {
    const { tokens } = this.read;
    const more = tokens.length < Math.min(this.slots, this.data.most) ? 1 : 0; // a place to add a word
    const nodes = this.fill(this.src, tokens.length + more);
    const focus = nodes.findIndex((node) => node.tabIndex === 0);
    const typing = document.activeElement?.matches(".live-field input") && this.contains(document.activeElement);
    this.begun = Boolean(typing && begun(this.state.sentence, this.data));
    nodes.forEach((node, i) => {
      const { word, place } = tokens[i] ?? { word: "+", place: -1 };
      const left = place < 0 && i < tokens.length;
      const begins = this.begun && i === tokens.length - 1;
      if (!node.querySelector("i")) node.prepend(html("i"));
      node.querySelector("b").textContent = word;
      if (row || place < 0) {
        const share = place >= 0 ? (row[place] ?? 0) : 0;
        const number = place >= 0 && row.length ? fixed(share, 4) : "";
        node.querySelector("i").textContent = left && !begins ? "left out" : number;
        node.style.setProperty("--share", share.toFixed(4));
      }
      node.classList.toggle("trans-out", left && !begins);
      node.classList.toggle("trans-begun", begins);
      node.classList.toggle("trans-more", i === tokens.length);
      node.classList.toggle("trans-on", i === this.changing);
      node.setAttribute("role", "button");
      node.setAttribute("aria-pressed", String(i === this.changing));
      if (i === tokens.length) node.setAttribute("aria-label", "Add a word");
      else node.removeAttribute("aria-label");
      node.tabIndex = i === Math.max(0, focus) ? 0 : -1;
    });
  }

  writeSpanish(words) {
    this.fill(this.tgt, words.length).forEach((node, t) => {
      node.querySelector("b").textContent = words[t];
      node.setAttribute("role", "radio");
      node.setAttribute("aria-checked", String(t === this.at));
      node.tabIndex = t === this.at ? 0 : -1;
      node.classList.toggle("trans-on", t === this.at);
      node.classList.toggle("trans-end", words[t] === END);
    });
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
      const box = this.threads.children[group];
      while (box.children.length > all.length) box.lastChild.remove();
      while (box.children.length < all.length) box.append(svg("path"));
      all.forEach(({ share, t, k }, i) => {
        const path = box.children[i];
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
    const best = probs
      .map((_, i) => i)
      .sort((a, b) => probs[b] - probs[a])
      .slice(0, TOP);
    const labels = best.map((i) => named(toytf.trained.tgt_vocab[i]));
    this.bars.set(
      best.map((i) => probs[i]),
      { labels },
    );
    const word = quoted(this.spanish[this.at]);
    this.bars.table.caption.textContent = `The ${TOP} most probable words where it wrote ${word}`;
  }

  writeMap() {
    if (!this.shares) return;
    const { words } = this.read;
    weightTable(
      this.map,
      words,
      this.shares.map((row, t) => [this.spanish[t], row]),
    );
  }

  // New words come one after the other, with their threads
  reveal(before) {
    const first = this.spanish.findIndex((word, t) => word !== before[t]);
    if (first < 0) return;
    const pause = Math.min(AT_ONCE, 700 / (this.spanish.length - first));
    const appear = (node, t) =>
      t >= first &&
      node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 200, delay: pause * (t - first), fill: "backwards" });
    [...this.tgt.children].forEach(appear);
    for (const path of this.threads.querySelectorAll("path")) appear(path, Number(path.dataset.t));
  }

  // ---------------------------------------------------------------- another word in a word's place

  changeWord(at) {
    [this.changing, this.empty] = [at, false];
    this.show(this.state);
    if (at !== null) this.detail.scrollIntoView({ block: "nearest" });
  }

  offer() {
    this.detail.querySelector(".live-palette")?.remove();
    this.detail.classList.toggle("trans-offers", this.changing !== null);
    if (this.changing === null) return;
    const { tokens } = this.read;
    const at = (this.changing = Math.min(this.changing, tokens.length));
    const now = tokens[at]?.word ?? null;
    const kind = now === null ? "" : kindOf(this.data, now);
    const follow = mayFollow(
      this.data,
      tokens
        .slice(0, at)
        .filter(({ known }) => known)
        .map(({ word }) => word),
    );
    const wanted = (word, its) => (kind ? its === kind : !follow.size || follow.has(word));
    const withWord = (word) => tokens.map((token, i) => (i === at ? word : token.word));
    const all = this.data.groups.filter((group) => group.kind === kind).flatMap(({ words }) => words);
    const fitting = new Set(all.filter((word) => mayBegin(this.data, withWord(word))));
    const odd = (word) => Boolean(fitting.size) && !fitting.has(word); // no sentence that it learned has it here
    const { empty } = this;
    const put = (word) => {
      const words = empty ? [] : tokens.map((token) => token.word);
      const place = empty ? 0 : at;
      words[place] = word;
      this.empty = false;
      if (now === null) this.changing = place + 1;
      this.change({ sentence: words.join(" ") });
      this.detail.querySelector(now === null ? ".live-chip" : "[aria-pressed=true]")?.focus();
    };
    const out = () => {
      this.changing = null;
      this.change({
        sentence: tokens
          .filter((_, i) => i !== at)
          .map(({ word }) => word)
          .join(" "),
      });
      this.src.querySelector("[tabindex='0']")?.focus();
    };
    const more = [
      now === null ? "" : html("button", { type: "button", click: out }, "Take it out"),
      empty ? "" : html("button", { type: "button", click: () => this.close() }, "Done"),
    ];
    const goesOn = follow.size ? "" : ". It learned no sentence that goes on here.";
    const strange = fitting.size && fitting.size < all.length ? " (dashed: in no sentence that it learned)" : "";
    const label = empty
      ? "Words to begin with"
      : now === null
        ? `Add a word${goesOn}`
        : `In place of “${now}”${strange}`;
    this.detail.append(palette(this.data, wanted, { label, now, choose: put, odd, more }));
  }

  close() {
    const at = this.changing;
    this.changeWord(null);
    const words = [...this.src.children];
    words.forEach((word, i) => {
      word.tabIndex = i === at ? 0 : -1;
    });
    words[at]?.focus();
  }

  // Tab leads from an English word to the words for its place, and back; Escape closes them.
  paletteKeys(event) {
    if (this.changing === null) return;
    const box = this.detail.querySelector(".live-palette");
    const [fromWord, fromBox] = [this.src, box].map((part) => part.contains(event.target));
    const first = box.querySelector("button");
    if (event.key === "Escape" && (fromWord || fromBox)) this.close();
    else if (event.key === "Tab" && !event.shiftKey && fromWord)
      (box.querySelector("[aria-pressed=true]") ?? first).focus();
    else if (event.key === "Tab" && event.shiftKey && event.target === first) this.src.children[this.changing]?.focus();
    else return;
    event.preventDefault();
  }

  reset() {
    [this.changing, this.empty] = [null, false];
    super.reset();
  }

  say({ head }) {
    if (!this.shares) return this.said.textContent;
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
    return (
      `It writes “${words.join(" ")}”.${cut} ${name} has probability ` +
      `${fixed(Math.max(...this.probs[this.at]), 4)} and looks most at “${this.read.words[k]}”, ` +
      `with ${fixed(row[k], 4)} of ${whose}.`
    );
  }
}

define("translator", Translation);
