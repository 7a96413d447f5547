// Heads silenced and rows of the memory swapped. Beside patching.py: the same steps, the same order.
import { fixed } from "./engine/numbers.js";
import { linear, softmax } from "./engine/ops.js";
import { encode, decode } from "./engine/model.js";
import { start, stepper, greedySteps, largestAt, order } from "./engine/generate.js";
import { html, set } from "./page/make.js";
import { toggle, own, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { Bars } from "./page/tables.js";
import { END, named, quoted, reading, sentence, wordKeys, writeWords, weightTable } from "./sentence.js";

const TOP = 5;
const HEADS = ["encoder", "decoder", "cross"].flatMap((part) => [1, 2].map((head) => `${part}${head}`));

// ---------------------------------------------------------------- what the model does

// The parameters, with the rows of W_O of the silent heads 0
function without(params, width, silent) {
  const mute = (layer, field, part) => {
    const off = (i) => silent.includes(`${part}${Math.floor(i / width) + 1}`);
    const rows = layer[field].w_o.map((row, i) => (off(i) ? row.map(() => 0) : row));
    return { ...layer, [field]: { ...layer[field], w_o: rows } };
  };
  return {
    ...params,
    encoder: params.encoder.map((layer) => mute(layer, "self_attention", "encoder")),
    decoder: params.decoder.map((layer) => mute(mute(layer, "self_attention", "decoder"), "cross_attention", "cross")),
  };
}

// Translate with some heads silent and some rows of the memory taken from another sentence. Probabilities and
// weights are those that follow the words of `like`, or what is written itself.
function patched({ params, cfg, ...translator }, src, other, { rows = [], silent = [], like = null } = {}) {
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

// The most probable words of both, the most probable first: as many every time, so that nothing below them moves
const favourites = (before, after) => order(before.map((p, i) => Math.max(p, after[i]))).slice(0, TOP);

// ---------------------------------------------------------------- the element

class Patching extends Live {
  settings(data) {
    const number = /^[1-9]\d?$/;
    const label = "Another sentence, from which rows can be taken";
    const other = { ...data, kinds: [], nothing: "No rows to take: type a word.", start: data.other, label };
    return {
      sentence: sentence({ label: "A sentence", start: data.sentence, offers: true, ...data }),
      other: sentence({ offers: true, ...other }),
      ...Object.fromEntries(
        HEADS.map((name) => [name, toggle({ label: name.replace(/\d/, " $&"), start: data.silent.includes(name) })]),
      ),
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
    for (const name of ["cells", "before", "after"]) this[name] = this.querySelector(`.patch-${name}`);
    this.map = this.querySelector(".live-map");
    this.bars = [...this.querySelectorAll(".live-bars")].map((table) => new Bars(table));
    const [compare, take] = ["choose a word to compare its probabilities", "take one from the other sentence"];
    set(this.before, { role: "radiogroup", "aria-label": `What it writes before: ${compare}` });
    set(this.cells, { role: "toolbar", "aria-label": `Rows of the memory: ${take}` });
    wordKeys(this.before, (at) => this.change({ word: at + 1 }), { follow: true });
    // the same places, beyond keys: the line before has those
    wordKeys(
      this.after,
      async (at) => (await this.ready()) && at < this.was.words.length && this.change({ word: at + 1 }),
    );
    wordKeys(this.cells, async (at) => (await this.ready()) && this.swap(at + 1));
  }

  build() {
    super.build();
    const name = (words) => html("span", { class: "patch-name" }, words);
    this.querySelector(".patch-name").textContent =
      "The memory, a row for each word. Click or tap one to take it from the other sentence.";
    const settings = (names) => names.map((one) => this.controls.querySelector(`[data-setting=${one}]`));
    const [mine, other] = settings(["sentence", "other"]);
    const line = (label, node) => html("div", { class: "patch-sentence" }, name(label), node);
    const heads = html("div", {}, ...settings(HEADS));
    const silence = html("fieldset", { class: "patch-heads" }, html("legend", {}, "Silence a head"), heads);
    this.controls.append(line("sentence", mine), line("take from", other));
    // what it writes stands below the switches, in sight of them
    this.querySelector(".patch-lines").before(
      html("div", { class: "live-controls" }, silence),
      name("What it writes. Click or tap a word to compare the probabilities at its place."),
    );
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
    [this.rows, this.gone] = [true, false].map((can) => state.rows.filter((row) => row <= this.both === can));
    const [cells, columns] = [[], []];
    src.forEach((word, k) => {
      const [off, on] = [k >= this.both, this.rows.includes(k + 1)];
      const small = on ? `← ${other[k]}` : off ? "no other" : "its own";
      cells.push({ word, look: `patch-cell${on ? " patch-other" : ""}`, on, off, small });
      columns.push(on ? `${word} ${small}` : word);
    });
    writeWords(this.cells, "button", cells);
    if (this.nothing) return;
    this.swaps = this.rows.map((row) => [row, src[row - 1], other[row - 1]]);
    this.silent = HEADS.filter((name) => state[name]);
    this.was = patched(toytf.trained, src, other);
    this.now = patched(toytf.trained, src, other, { rows: this.rows, silent: this.silent, like: this.was.ids });
    this.at = Math.min(state.word, this.was.words.length) - 1;
    writeWords(this.before, "radio", this.wordsOf(this.was));
    writeWords(this.after, null, this.wordsOf(this.now));
    const probs = [this.was, this.now].map((run) => run.probs[this.at]);
    const shown = { at: favourites(...probs), names: toytf.trained.tgt_vocab.map(named) };
    this.bars.forEach((bars, k) => bars.set(probs[k], shown));
    const same = !this.rows.length && !this.silent.length;
    this.querySelector(".patch-bars").classList.toggle("patch-same", same);
    this.bars[1].table.caption.textContent = same ? "after: nothing is changed" : "after";
    const soFar = this.was.words.slice(0, this.at).join(" ");
    const where = soFar ? `the next word after “${soFar}”` : "the first word";
    this.querySelector(".patch-at").textContent = `Probabilities of ${where}`;
    const rows = [0, 1].flatMap((h) => [
      [`${h + 1}, before`, this.was.heads[h][this.at]],
      [`${h + 1}, ${this.silent.includes(`cross${h + 1}`) ? "silent" : "after"}`, this.now.heads[h][this.at]],
    ]);
    weightTable(this.map, columns, rows);
  }

  wordsOf({ words }) {
    return words.map((word, t) => {
      const looks = { changed: word !== this.was.words[t], on: t === this.at, beyond: t >= this.was.words.length };
      const names = Object.keys(looks).filter((name) => looks[name]);
      return { word, on: looks.on, look: ["patch-word", ...names.map((name) => `patch-${name}`)].join(" ") };
    });
  }

  say() {
    if (this.nothing) return ""; // the field says it
    const { was, now, at } = this;
    const done = [
      ...this.silent.map((name) => `${name.replace(/\d/, " $&")} silent`),
      ...this.swaps.map(([row, word, taken]) => `row ${row} swapped (“${word}” ← “${taken}”)`),
      ...this.gone.map((row) => `there is no row ${row} to swap`),
    ];
    const words = now.words.filter((word) => word !== END).join(" ");
    const written = words ? `“${words}”` : "nothing";
    const [i, j] = [largestAt(was.probs[at]), largestAt(now.probs[at])];
    const name = (k) => quoted(named(toytf.trained.tgt_vocab[k]));
    if (!done.length)
      return `Nothing is changed: it writes ${written}. ${name(j)} has probability ${fixed(now.probs[at][j], 4)}.`;
    const length = Math.max(was.words.length, now.words.length);
    const changed = Array.from({ length }, (_, t) => was.words[t] !== now.words[t]).filter((x) => x).length;
    const share = (k) => `${name(k)} had probability ${fixed(was.probs[at][k], 4)}, now ${fixed(now.probs[at][k], 4)}`;
    const what = done.join(", ").replace(/^./, (letter) => letter.toUpperCase());
    const differ = changed ? `${changed} ${changed === 1 ? "place differs" : "places differ"}` : "No word differs";
    return `${what}: it writes ${written}. ${differ}. ${[...new Set([i, j])].map(share).join("; ")}.`;
  }
}

define("patching", Patching);
