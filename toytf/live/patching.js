// Heads silenced and rows of the memory swapped. Beside patching.py: the same steps, the same order.
import { fixed } from "./engine/numbers.js";
import { linear, softmax } from "./engine/ops.js";
import { encode, decode } from "./engine/model.js";
import { start, stepper, greedySteps, largestAt } from "./engine/generate.js";
import { html } from "./page/make.js";
import { own, place, toggle } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { Bars } from "./page/tables.js";
import { sentence, reading, wordKeys, named, quoted, weightTable } from "./sentence.js";

const TOP = 3;
const END = "(end)";
const HEADS = ["encoder", "decoder", "cross"].flatMap((part) => [1, 2].map((head) => `${part}${head}`));

// ---------------------------------------------------------------- what the model does

// The parameters, with the rows of W_O of the silent heads 0
function without(params, width, silent) {
  const mute = (layer, field, part) => {
    const attention = layer[field];
    const off = [0, 1].filter((h) => silent.includes(`${part}${h + 1}`));
    const rows = attention.w_o.map((row, i) => (off.includes(Math.floor(i / width)) ? row.map(() => 0) : row));
    return { ...layer, [field]: { ...attention, w_o: rows } };
  };
  return {
    ...params,
    encoder: params.encoder.map((layer) => mute(layer, "self_attention", "encoder")),
    decoder: params.decoder.map((layer) => mute(mute(layer, "self_attention", "decoder"), "cross_attention", "cross")),
  };
}

// Translate with some heads silent and some rows of the memory taken from another sentence. Probabilities and
// weights are those that follow the words of `like`, or what is written itself.
export function patched({ params, cfg, ...translator }, src, other, { rows = [], silent = [], like = null } = {}) {
  const changed = without(params, cfg.d_head ?? cfg.d_model / cfg.n_heads, silent);
  const ids = (words) => words.map((word) => translator.src_vocab.indexOf(word));
  const state = start(changed, cfg, ids(src));
  const theirs = rows.length ? encode(changed, cfg, ids(other))[0] : [];
  const memory = state.memory.map((row, k) => (rows.includes(k + 1) ? theirs[k] : row));
  const settings = { ...translator.ends, maxLength: 2 * src.length + 4 };
  const steps = [...greedySteps(stepper(changed, cfg), { ...state, memory }, settings)];
  const written = steps.map(({ token }) => token);
  const fed = [translator.ends.sos, ...(like ?? written).slice(0, -1)];
  const [out, trace] = decode(changed, cfg, fed, memory);
  return {
    ids: written,
    words: written.map((id) => named(translator.tgt_vocab[id])),
    probs: linear(changed.output, out).map((row) => softmax(row)),
    heads: trace.layers[0].cross_attention.inner.attention.map(({ attn_weights: weights }) => weights),
  };
}

// The most probable words of both, the most probable first
function favourites(before, after) {
  const best = (probs) =>
    probs
      .map((_, i) => i)
      .sort((a, b) => probs[b] - probs[a])
      .slice(0, TOP);
  return [...new Set([...best(before), ...best(after)])].sort(
    (a, b) => Math.max(before[b], after[b]) - Math.max(before[a], after[a]),
  );
}

// ---------------------------------------------------------------- the element

class Patching extends Live {
  settings(data) {
    const number = /^[1-9]\d?$/;
    const heads = Object.fromEntries(
      HEADS.map((name) => [name, toggle({ label: name.replace(/\d/, " $&"), start: data.silent.includes(name) })]),
    );
    return {
      sentence: sentence({ label: "A sentence", start: data.sentence, offers: true, ...data }),
      other: sentence({
        label: "Another sentence, whose rows can be taken",
        start: data.other,
        offers: true,
        ...data,
        kinds: [],
        nothing: "No rows to take: type a word.",
      }),
      ...heads,
      rows: own({
        start: data.rows,
        write: (rows) => rows.join(" ") || "none",
        read: (text) => {
          const rows = text === "none" ? [] : text.split(/[\s,]+/);
          return rows.every((row) => number.test(row) && Number(row) <= data.most)
            ? { value: [...new Set(rows.map(Number))].sort((a, b) => a - b) }
            : { error: `rows: expected none, or numbers from 1 to ${data.most}, got “${text}”` };
        },
      }),
      word: place({ label: "word", start: data.word, to: 2 * data.most + 4 }),
    };
  }

  take() {
    const part = (name) => this.querySelector(`.patch-${name}`);
    Object.assign(this, {
      cells: part("cells"),
      before: part("before"),
      after: part("after"),
      atName: part("at"),
      map: this.querySelector(".trans-map"),
    });
    [this.barsBefore, this.barsAfter] = [...this.querySelectorAll(".live-bars")].map((table) => new Bars(table));
    this.before.setAttribute("role", "radiogroup");
    this.before.setAttribute("aria-label", "What it writes before: choose a word to compare its probabilities");
    this.cells.setAttribute("role", "toolbar");
    this.cells.setAttribute("aria-label", "Rows of the memory: take one from the other sentence");
    wordKeys(this.before, (at) => this.change({ word: at + 1 }), { follow: true });
    this.after.addEventListener("click", ({ target }) => {
      // the same places, beyond keys: the line before has those
      const at = [...this.after.children].findIndex((word) => word.contains(target));
      if (at >= 0 && at < this.before.children.length) this.change({ word: at + 1 });
    });
    wordKeys(this.cells, (at) => this.swap(at + 1));
  }

  build() {
    super.build();
    this.said.remove();
    this.said = this.querySelector(".patch-said");
    this.said.classList.add("live-said");
    this.querySelector(".patch-name").textContent =
      "The memory, a row for each word. Tap one to take it from the other sentence.";
    this.querySelector(".patch-lines").before(
      html("p", { class: "patch-name" }, "What it writes. Tap a word to compare the probabilities at its place."),
    );
    const settings = (names) => names.map((name) => this.controls.querySelector(`[data-setting=${name}]`));
    const [mine, other] = settings(["sentence", "other"]);
    const line = (label, node) =>
      html("div", { class: "patch-sentence" }, html("span", { class: "patch-name" }, label), node);
    const heads = html(
      "fieldset",
      { class: "patch-heads" },
      html("legend", {}, "Silence a head"),
      html("div", {}, ...settings(HEADS)),
    );
    this.controls.append(line("sentence", mine), line("the other", other), heads);
  }

  swap(row) {
    if (row > this.both) return;
    const { rows } = this.state;
    this.change({ rows: rows.includes(row) ? rows.filter((r) => r !== row) : [...rows, row].sort((a, b) => a - b) });
  }

  show(state) {
    const [src, other] = [state.sentence, state.other].map((text) => reading(text, this.data).words);
    this.nothing = !src.length;
    this.classList.toggle("patch-nothing", this.nothing);
    this.both = Math.min(src.length, other.length);
    this.writeCells(src, other, state.rows);
    if (this.nothing) {
      this.was = null;
      return;
    }
    if (this.was === undefined && this.atStart(state)) {
      // what Python wrote stays
      this.at = state.word - 1;
      this.dress();
      return;
    }
    [this.rows, this.gone] = [true, false].map((can) => state.rows.filter((row) => row <= this.both === can));
    this.swaps = this.rows.map((row) => [row, src[row - 1], other[row - 1]]);
    this.silent = HEADS.filter((name) => state[name]);
    this.was = patched(toytf.trained, src, other);
    this.now = patched(toytf.trained, src, other, { rows: this.rows, silent: this.silent, like: this.was.ids });
    this.at = Math.min(state.word, this.was.words.length) - 1;
    this.writeWords(this.before, this.was.words);
    this.writeWords(this.after, this.now.words);
    this.dress();
    this.writeBars();
    this.writeMap(src);
  }

  fill(box, count, name) {
    while (box.children.length > count) box.lastChild.remove();
    const more = () => (name === "patch-cell" ? [html("i")] : []);
    while (box.children.length < count) box.append(html("span", { class: name }, html("b"), ...more()));
    return [...box.children];
  }

  writeCells(src, other, rows) {
    const nodes = this.fill(this.cells, src.length, "patch-cell");
    const focus = Math.max(
      0,
      nodes.findIndex((node) => node.tabIndex === 0),
    );
    nodes.forEach((node, k) => {
      const [can, taken] = [k < this.both, k < this.both && rows.includes(k + 1)];
      node.querySelector("b").textContent = src[k];
      node.querySelector("i").textContent = taken ? `← ${other[k]}` : can ? "its own" : "no other";
      node.classList.toggle("patch-other", taken);
      node.setAttribute("role", "button");
      node.setAttribute("aria-pressed", String(taken));
      node.toggleAttribute("aria-disabled", false);
      if (!can) node.setAttribute("aria-disabled", "true");
      node.tabIndex = k === focus ? 0 : -1;
    });
  }

  writeWords(box, words) {
    this.fill(box, words.length, "patch-word").forEach((node, t) => {
      const changed = words[t] !== this.was.words[t];
      node.querySelector("b").textContent = words[t];
      node.classList.toggle("patch-changed", changed);
      node.classList.toggle("patch-on", t === this.at);
      node.classList.toggle("patch-beyond", t >= this.was.words.length);
    });
  }

  dress() {
    [...this.before.children].forEach((node, t) => {
      node.setAttribute("role", "radio");
      node.setAttribute("aria-checked", String(t === this.at));
      node.tabIndex = t === this.at ? 0 : -1;
    });
  }

  writeBars() {
    const [before, after] = [this.was.probs[this.at], this.now.probs[this.at]];
    const best = favourites(before, after);
    const labels = best.map((i) => named(toytf.trained.tgt_vocab[i]));
    this.barsBefore.set(
      best.map((i) => before[i]),
      { labels },
    );
    this.barsAfter.set(
      best.map((i) => after[i]),
      { labels },
    );
    const soFar = this.was.words.slice(0, this.at).join(" ");
    const where = soFar ? `the next word after “${soFar}”` : "the first word";
    this.atName.textContent = `Probabilities of ${where}`;
  }

  writeMap(src) {
    const silent = (h, when) => when === "after" && this.silent.includes(`cross${h + 1}`);
    const runs = [
      ["before", this.was],
      ["after", this.now],
    ];
    const columns = [...src];
    for (const [row, word, taken] of this.swaps) columns[row - 1] = `${word} ← ${taken}`;
    weightTable(
      this.map,
      columns,
      [0, 1].flatMap((h) =>
        runs.map(([when, { heads }]) => [`${h + 1}, ${silent(h, when) ? "silent" : when}`, heads[h][this.at]]),
      ),
    );
  }

  say() {
    if (this.nothing) return ""; // the field says it
    if (this.was === undefined) return this.said.textContent;
    const { was, now, at } = this;
    const done = [
      ...this.silent.map((name) => `${name.replace(/\d/, " $&")} silent`),
      ...this.swaps.map(([row, word, taken]) => `row ${row} swapped (“${word}” ← “${taken}”)`),
      ...this.gone.map((row) => `there is no row ${row} to swap`),
    ];
    const written = now.words.filter((word) => word !== END).join(" ");
    const [i, j] = [largestAt(was.probs[at]), largestAt(now.probs[at])];
    const name = (k) => quoted(named(toytf.trained.tgt_vocab[k]));
    if (!done.length)
      return `Nothing is changed: it writes “${written}”. ${name(j)} has probability ${fixed(now.probs[at][j], 4)}.`;
    const length = Math.max(was.words.length, now.words.length);
    const changed = Array.from({ length }, (_, t) => was.words[t] !== now.words[t]).filter((x) => x).length;
    const share = (k) =>
      `${name(k)} had probability ${fixed(was.probs[at][k], 4)}, ` + `now ${fixed(now.probs[at][k], 4)}`;
    const what = done.join(", ").replace(/^./, (letter) => letter.toUpperCase());
    const differ = changed ? `${changed} ${changed === 1 ? "place differs" : "places differ"}` : "No word differs";
    return `${what}: it writes “${written}”. ${differ}. ${[...new Set([i, j])].map(share).join("; ")}.`;
  }
}

define("patching", Patching);
