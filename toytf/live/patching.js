// Heads silenced, rows of the memory swapped, matrices turned round. Beside patching.py: the same steps, the same order.
import { fixed } from "./engine/numbers.js";
import { linear, softmax, transposed } from "./engine/ops.js";
import { encode, decode } from "./engine/model.js";
import { start, stepper, greedySteps, largestAt, order } from "./engine/generate.js";
import { html, set } from "./page/make.js";
import { toggle, own, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { Bars } from "./page/tables.js";
import { END, named, quoted, reading, sentence, wordKeys, writeWords, weightTable } from "./sentence.js";

const TOP = 5;
const SAME = "now: nothing is changed";
const from = (word, other) => (word === other ? "(other’s)" : `← ${other}`);
const called = (part) => part.replace(/\d$/, " head $&").replace(/[qkvo]$/, " w_$&");

// ---------------------------------------------------------------- what the model does

// The parameters, with the rows of W_O of the silent heads 0, and some matrices turned round
function without(params, width, silent) {
  const mute = (layer, field, part) => {
    const off = (i) => silent.includes(`${part}${Math.floor(i / width) + 1}`);
    const rows = layer[field].w_o.map((row, i) => (off(i) ? row.map(() => 0) : row));
    const turned = [..."qkvo"].filter((letter) => silent.includes(part + letter)).map((letter) => `w_${letter}`);
    const round = Object.fromEntries(turned.map((name) => [name, transposed(layer[field][name])]));
    return { ...layer, [field]: { ...layer[field], w_o: rows, ...round } };
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
        data.parts.map((name) => [name, toggle({ label: called(name), start: !data.turned, words: data.words })]),
      ),
      rows: own({
        start: [],
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

  // The line and the bars of now are like those of before.
  take() {
    const twin = (node) => node.parentNode.appendChild(node.cloneNode(true));
    const [line, bars] = [this.querySelector(".patch-line"), this.querySelector(".live-bars")];
    [this.before, this.now] = [line, twin(line)].map((one) => one.lastElementChild);
    this.now.className = "patch-now";
    this.now.previousSibling.textContent = "now";
    this.bars = [bars, twin(bars)].map((table) => new Bars(table));
    this.bars[1].table.caption.textContent = SAME;
    this.tried = {};
    bars.parentNode.classList.add("patch-same");
    const hint = "Click or tap a word to see its probabilities.";
    this.querySelector(".live-said").after(html("div", { class: "patch-name" }, hint));
    this.map = this.querySelector(".live-map");
    const [compare, take] = ["choose a word to compare its probabilities", "take one from the other sentence"];
    this.cells = html("div", { class: "patch-cells", lang: "en" });
    set(this.before, { role: "radiogroup", "aria-label": `What it writes before: ${compare}` });
    set(this.cells, { role: "toolbar", "aria-label": `Rows of the memory: ${take}` });
    const more = this.querySelector(".patch-more");
    const choose = (at) => this.change({ word: at + 1 });
    wordKeys(this.before, choose, { follow: true });
    // the same places, beyond keys: the line before has those
    wordKeys(this.now, async (at) => (await this.ready()) && at < this.was.words.length && choose(at));
    for (const words of [this.before, this.now]) words.addEventListener("click", () => (more.open = true));
    wordKeys(this.cells, async (at) => (await this.ready()) && this.swap(at + 1));
  }

  build() {
    super.build();
    const name = (words) => html("span", { class: "patch-name" }, words);
    const settings = (names) => names.map((one) => this.controls.querySelector(`[data-setting=${one}]`));
    const [mine, other] = settings(["sentence", "other"]);
    const line = (label, node) => html("div", { class: "patch-sentence" }, name(label), node);
    this.legend = html("legend", {}, this.data.legend);
    const look = `patch-heads${this.data.turned ? " patch-turned" : ""}`;
    const heads = html("fieldset", { class: look }, this.legend, html("div", {}, ...settings(this.data.parts)));
    const hint = name("A row for each word. Click or tap one to take it from the other sentence.");
    const rows = this.data.other ? [line("memory", this.cells), hint] : [];
    const switches = html("div", { class: "live-controls" }, ...rows, heads);
    // what it writes stands above the switches, in sight of them
    this.querySelector(".live-alone").replaceWith(switches);
    this.querySelector(".patch-reads").remove();
    this.controls.replaceChildren(line("sentence", mine), ...(this.data.other ? [line("take from", other)] : []));
  }

  reset() {
    this.tried = {};
    super.reset();
  }

  // Of each matrix that the reader turned alone, in this sentence: whether no word changed
  tally({ sentence: text, ...state }) {
    const tried = (this.tried[text] ??= {});
    if (this.silent.length === 1) tried[this.silent[0]] = this.was.words.join() === this.is.words.join();
    for (const name of this.data.parts) {
      const box = this.querySelector(`[data-setting=${name}]`);
      box.classList.toggle("patch-wrong", tried[name] === false);
      if (name in tried && !state[name]) box.lastChild.textContent = tried[name] ? "same words" : "other words";
    }
    const [all, kept] = [this.data.parts, Object.values(tried)];
    const right = kept.filter((same) => same).length;
    this.legend.textContent = Object.values(this.tried).some((one) => Object.keys(one).length)
      ? `Tried alone with this sentence: ${kept.length} of ${all.length}. Same words: ${right}.`
      : this.data.legend;
  }

  swap(row) {
    if (row > this.both) return;
    const { rows } = this.state;
    this.change({ rows: rows.includes(row) ? rows.filter((r) => r !== row) : [...rows, row].sort((a, b) => a - b) });
  }

  prepare(state) {
    const [src, other] = [state.sentence, state.other].map((text) => reading(text, this.data).words);
    this.nothing = !src.length;
    this.classList.toggle("patch-nothing", this.nothing);
    this.both = Math.min(src.length, other.length);
    [this.rows, this.gone] = [true, false].map((can) => state.rows.filter((row) => row <= this.both === can));
    const cells = src.map((word, k) => {
      const [off, on] = [k >= this.both, this.rows.includes(k + 1)];
      const small = on ? from(word, other[k]) : off ? "no other" : `row ${k + 1}`;
      return { word, look: `patch-cell${on ? " patch-other" : ""}`, on, off, small };
    });
    writeWords(this.cells, "button", cells);
    Object.assign(this, { src, other });
  }

  show(state) {
    if (this.nothing) return;
    const { src, other } = this;
    this.swaps = this.rows.map((row) => [row, src[row - 1], other[row - 1]]);
    this.silent = this.data.parts.filter((name) => state[name] === this.data.turned);
    this.was = patched(toytf.trained, src, other);
    this.is = patched(toytf.trained, src, other, { rows: this.rows, silent: this.silent, like: this.was.ids });
    this.at = Math.min(state.word, this.was.words.length) - 1;
    writeWords(this.before, "radio", this.wordsOf(this.was));
    writeWords(this.now, null, this.wordsOf(this.is));
    const pair = (t) => `${this.was.words[t] ?? ""}\n${this.is.words[t] ?? ""}`;
    for (const line of [this.before, this.now]) [...line.children].forEach((node, t) => (node.dataset.pair = pair(t)));
    const probs = [this.was, this.is].map((run) => run.probs[this.at]);
    const shown = { at: favourites(...probs), names: toytf.trained.tgt_vocab.map(named) };
    this.bars.forEach((bars, k) => bars.set(probs[k], shown));
    const same = !this.rows.length && !this.silent.length;
    if (this.data.turned) this.tally(state);
    this.querySelector(".patch-bars").classList.toggle("patch-same", same);
    this.bars[1].table.caption.textContent = same ? SAME : "now";
    const soFar = this.was.words.slice(0, this.at).join(" ");
    const where = soFar ? `the next word after “${soFar}”` : "the first word";
    this.querySelector(".patch-at").textContent = `Probabilities of ${where}`;
    const rows = [0, 1].flatMap((h) => [
      [`${h + 1}, before`, this.was.heads[h][this.at]],
      ...(same
        ? []
        : [[`${h + 1}, ${this.silent.includes(`cross${h + 1}`) ? "silenced" : "now"}`, this.is.heads[h][this.at]]]),
    ]);
    const taken = src.map((word, k) => (this.rows.includes(k + 1) ? `${word} ${from(word, other[k])}` : word));
    weightTable(this.map, taken, rows);
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
    const { was, is: now, at } = this;
    const { length: many } = this.silent;
    const [things, how] = this.data.turned ? ["matrices", this.data.words[0]] : ["heads", this.data.words[1]];
    const done = [
      ...(many > 3 ? [`${many} ${things} ${how}`] : this.silent.map((name) => `${called(name)} ${how}`)),
      ...this.swaps.map(([row, word, taken]) => {
        const whose = word === taken ? "of the other sentence" : `← “${taken}”`;
        return `row ${row} swapped (“${word}” ${whose})`;
      }),
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
