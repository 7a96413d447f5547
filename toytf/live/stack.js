// A stack of layers with random weights: how its numbers grow, where the first NaN arises. Beside stack.py.
import { fixed, scientific, onPage, powerOfTen } from "./engine/numbers.js";
import { scaled, sum } from "./engine/ops.js";
import { encoderLayer } from "./engine/model.js";
import { html, uniqueId } from "./page/make.js";
import { number, choice, toggle, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { softmaxSum } from "./page/sums.js";
import { Panel, writeMatrix, cellsOf } from "./page/tables.js";
import { chart, power } from "./page/chart.js";

const SAME = 1e-12; // rows that differ by less of their size are called alike
const EPS = 1e-5;

// ---------------------------------------------------------------- numbers, as stack.py writes them

// A number of any size in at most eleven letters
function short(value) {
  const size = Math.abs(value);
  if (size >= 1 && size < 1e5) return onPage(fixed(value, 2));
  if ((size >= 0.001 && size < 1) || !Number.isFinite(value)) return onPage(fixed(value, 4));
  return powerOfTen(value, 2);
}

// A difference of nearly equal numbers has few digits
const shortGap = (value) => (value < SAME ? "< 10⁻¹²" : value < 0.01 ? powerOfTen(value, 1) : onPage(fixed(value, 3)));
const finite = (row) => row.every(Number.isFinite);
const largestIn = (matrices) => matrices.flat(Infinity).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
// How different rows are, for their size
const rowGap = (rows) =>
  Math.max(...rows[0].map((_, j) => Math.max(...rows.map((row) => row[j])) - Math.min(...rows.map((row) => row[j])))) /
  largestIn(rows);

// ---------------------------------------------------------------- the first bad number

// What a layer computes, in order: its name, its head, its rows
function* partsOf({ self_attention: attended, feed_forward: fed }) {
  for (const [h, trace] of attended.inner.attention.entries()) {
    yield ["queries", h, trace.q];
    yield ["keys", h, trace.k];
    yield ["values", h, trace.v];
    yield ["scores", h, trace.scaled_scores];
    yield ["weights", h, trace.attn_weights, trace.scaled_scores];
  }
  yield ["heads' outputs", null, attended.inner.heads];
  yield ["output of attention", null, attended.inner_out];
  yield ["rows after attention", null, attended.out];
  yield ["hidden numbers", null, fed.inner.hidden];
  yield ["output of feed-forward", null, fed.inner_out];
  yield ["output", null, fed.out];
}

// { layer, words } of the first infinity or NaN, or null
function firstBad(traces, rows, softmax) {
  for (const [n, trace] of traces.entries()) {
    for (const [name, h, part, scores] of partsOf(trace)) {
      for (const [i, row] of part.entries()) {
        const where = `Layer ${n + 1}, ${h === null ? "" : `head ${h + 1}, `}row ${rows[i]}`;
        const naive = name === "weights" && softmax === "naive" && why(scores[i]);
        if (naive) return { layer: n, words: `${where}: ${naive}` };
        if (!finite(row)) return { layer: n, words: `${where}: the ${name} are more than a float holds.` };
      }
    }
  }
  return null;
}

// What goes wrong when the powers of e of one row of scores are divided by their sum
function why(scores) {
  const exps = scores.map(Math.exp);
  const largest = onPage(fixed(Math.max(...scores), 2));
  if (!finite(exps)) {
    return `exp(${largest}) is more than a float holds. Infinity stands in its place, and ∞ / ∞ is NaN.`;
  }
  if (!Number.isFinite(sum(exps))) {
    return "each power of e is a float, and their sum is not. A number / ∞ is 0: all its weights are 0.";
  }
  if (sum(exps) === 0) {
    return `no score is above ${largest}, so every power of e is rounded to 0 (below about −745), and 0 / 0 is NaN.`;
  }
  return "";
}

// ---------------------------------------------------------------- the picture: that of stack.py

// sizes: [largest score, largest entry] of each layer
function draw(node, sizes, { limit, minds, alt }) {
  const logs = [0, 1].map((k) => sizes.map((size) => Math.log10(size[k])));
  const found = logs.flat().filter(Number.isFinite);
  const top = [4, 8, 16, 32, 64, 128].find((t) => t >= Math.max(0, ...found)) ?? 310;
  const bottom = [-1, -4, -16].find((b) => b <= Math.min(0, ...found)) ?? -64;
  const tick = [1, 2, 4, 8, 16, 32, 64].find((t) => t * 7 > top - bottom);
  const powers = Array.from({ length: top - bottom + 1 }, (_, k) => bottom + k).filter((p) => p % tick === 0);
  const series = logs.map((all) =>
    all.flatMap((log, n) => (Number.isFinite(log) ? [[n + 1, Math.max(log, bottom)]] : [])),
  );
  const bad = sizes.findIndex(([, entry]) => !Number.isFinite(entry));
  const [end, high, edge] = [sizes.length + 0.5, Math.log10(limit), bad + 0.5];
  const band = [edge, edge, end, end].map((x, k) => [x, k % 3 ? top : bottom]);
  chart(node, {
    alt,
    x: [0.5, end],
    y: [bottom, top],
    ticks: [sizes.map((_, k) => [k + 1, String(k + 1)]), powers.map((p) => [p, power(p)])],
    lines: [
      ...(bad < 0 ? [] : [["band", band]]),
      [minds ? "red" : "red dotted", [0.5, end].map((x) => [x, high])],
      ...[0, 1].flatMap((k) => (series[k].length ? [[["orange dashed", "blue"][k], series[k]]] : [])),
    ],
    marks: [0, 1].flatMap((k) => series[k].map((point) => [["orange", "blue"][k], ["square", "disc"][k], point])),
    texts: [
      ["red end", [end - sizes.length / 50, high], `exp overflows above +${fixed(limit, 2)}`, 15],
      ...(bad < 0 ? [] : [["red nan", [(edge + end) / 2, top], "NaN", 16]]),
    ],
    below: ["layer"],
  });
}

// ---------------------------------------------------------------- the element

class Stack extends Live {
  settings({ layers, depth, look }) {
    const most = layers.length;
    return {
      layers: number({ label: "layers", start: depth, from: 1, to: most, step: 1, whole: true }),
      scale: number({ label: "weights times", start: 1, from: 0.1, to: 10, scale: "log" }),
      residual: toggle({ label: "residual", start: false }),
      norm: choice({ label: "layer norm", start: "none", options: { none: "none", post: "after each part" } }),
      softmax: choice({
        label: "softmax",
        start: "naive",
        options: { naive: "as usually typed", stable: "largest subtracted" },
      }),
      look: place({ label: "look", start: look, to: most }),
    };
  }

  take({ layers }) {
    this.chart = this.querySelector(".live-chart");
    const [before, ...rest] = [...this.querySelectorAll(".byhand")].map((node) => new Panel(node));
    Object.assign(this, { before, heads: rest.slice(0, -1), after: rest.at(-1) });
    const [group, table] = [uniqueId(), this.querySelector(".live-layers")];
    this.radios = layers.map((_, k) => {
      const click = () => {
        this.querySelector("details").open = true;
        this.change({ look: k + 1 });
      };
      return html("input", { type: "radio", name: group, "aria-label": `look inside layer ${k + 1}`, click });
    });
    this.lines = this.radios.map((radio, k) => {
      const head = html("th", { scope: "row" }, html("label", {}, radio, html("span", {}, k + 1)));
      return html("tr", {}, head, html("td"), html("td"), html("td"));
    });
    table.tBodies[0].replaceChildren(...this.lines);
    table.classList.add("live-choice");
    table.createCaption().textContent = "Click or tap a layer to look inside.";
  }

  // A setting that makes a bad number, or moves the first one, turns to the layer where it arises.
  change(some) {
    super.change(some);
    const look = this.bad && this.bad.layer + 1;
    if (look && !("look" in some) && look !== this.state.look) super.change({ look });
  }

  show(state) {
    const { x, layers, n_heads } = this.data;
    const cfg = { n_heads, norm: state.norm, residual: state.residual, scale: true, eps: EPS, softmax: state.softmax };
    const traces = [];
    let rows = x;
    for (const layer of layers.slice(0, state.layers)) {
      const [out, trace] = encoderLayer(times(layer, state.scale), cfg, rows);
      traces.push({ ...trace, x: rows });
      rows = out;
    }
    const sizes = traces.map(({ self_attention: { inner }, out }) => [
      largestIn(inner.attention.map((head) => head.scaled_scores)),
      largestIn(out),
      rowGap(out),
    ]);
    Object.assign(this, { sizes, traces, bad: firstBad(traces, this.data.rows, state.softmax) });
    draw(this.chart, sizes, { limit: this.data.limit, minds: state.softmax === "naive", alt: this.seen(sizes) });
    const look = Math.min(state.look, state.layers);
    this.tabulate(sizes, look);
    this.inside(look, state.softmax === "stable");
  }

  tabulate(sizes, look) {
    this.lines.forEach((line, k) => {
      line.hidden = k >= sizes.length;
      line.classList.toggle("live-lit", k + 1 === look);
      this.radios[k].checked = k + 1 === look;
      if (line.hidden) return;
      sizes[k].forEach((value, j) => {
        line.cells[j + 1].textContent = j < 2 ? short(value) : shortGap(value);
        line.cells[j + 1].classList.toggle("live-nan", !Number.isFinite(value));
      });
    });
  }

  inside(look, subtractMax) {
    const { x, self_attention: attended, out } = this.traces[look - 1];
    this.querySelector(".stack-inside").textContent = `Inside layer ${look}`;
    writeRows(this.before, x);
    this.heads.forEach((panel, h) => {
      const { scaled_scores: scores, attn_weights: weights } = attended.inner.attention[h];
      panel.set({
        operands: [scores],
        result: weights,
        sum: (where, i, j) => softmaxSum(where, scores[i], j, weights[i][j], { subtractMax, sci: true }),
      });
    });
    writeRows(this.after, out);
  }

  seen(sizes) {
    const bad = sizes.findIndex(([, entry]) => !Number.isFinite(entry)) + 1;
    const of = ([score, entry]) => `${short(score)} and ${short(entry)}`;
    const end = bad ? `NaN from layer ${bad} on` : `${of(sizes.at(-1))} in layer ${sizes.length}`;
    return (
      `Largest score and largest entry of ${sizes.length} layers, on a scale of powers of ten, with a line at ` +
      `${fixed(this.data.limit, 2)}: from ${of(sizes[0])} in layer 1 to ${end}.`
    );
  }

  say({ softmax }) {
    const { bad, sizes, traces } = this;
    if (bad) {
      const lost = traces.findIndex(({ out }) => !out.some((row) => row.some(Number.isFinite))) + 1;
      return bad.words + (lost ? ` After layer ${lost} no row has a number left.` : "");
    }
    const largest = short(largestIn(sizes.map(([score]) => score)));
    const gap = sizes.at(-1)[2];
    return (
      "No infinity and no NaN: " +
      (softmax === "stable"
        ? `the largest score of all, signs left aside, is ${largest}, and each row's largest is subtracted before exp.`
        : `the largest score of all, signs left aside, is ${largest}, and exp overflows above ${fixed(this.data.limit, 2)}.`) +
      ` After layer ${sizes.length} the row gap is ` +
      `${gap < SAME ? "below 10⁻¹²: the rows are alike" : shortGap(gap)}.`
    );
  }
}

// A layer whose matrices are multiplied; its biases and norms are not.
function times(layer, factor) {
  const entry = ([name, array]) => [name, name.startsWith("w_") ? scaled(array, factor) : array];
  const matrices = (part) => Object.fromEntries(Object.entries(part).map(entry));
  return { ...layer, self_attention: matrices(layer.self_attention), feed_forward: matrices(layer.feed_forward) };
}

// Rows of any size: so few digits that they fit on a phone
function writeRows({ result }, rows) {
  const largest = largestIn(rows.flat().filter(Number.isFinite));
  writeMatrix(result, rows, { decimals: largest < 100 ? 4 : 2 });
  if (largest < 1e4) return;
  cellsOf(result).forEach((cells, i) =>
    cells.forEach((td, j) => {
      const word = scientific(rows[i][j], 2).replace("e+0", "e").replace("e+", "e").replace("e-0", "e-");
      td.textContent = onPage(Number.isFinite(rows[i][j]) ? word : fixed(rows[i][j], 2));
    }),
  );
}

define("stack", Stack);
