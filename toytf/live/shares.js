// What one head and two heads can reach, to be tried. Beside shares.py.
import { shown, fixed } from "./engine/numbers.js";
import { dot } from "./engine/ops.js";
import { weightedSum } from "./engine/attention.js";
import { set } from "./page/make.js";
import { number, toggle } from "./page/settings.js";
import { Live, define } from "./page/element.js";

const STEP = 0.01;
const rounded = (share) => Math.round(Math.min(1, Math.max(0, share)) / STEP) / Math.round(1 / STEP);

class Shares extends Live {
  settings({ start, rows: [word] }) {
    const range = { start, from: 0, to: 1, step: STEP };
    return {
      one: toggle({ label: "A and B are one head", start: true }),
      a: number({ label: `head A: share of ${word}`, ...range }),
      b: number({ label: `head B: share of ${word}`, ...range }),
    };
  }

  take({ values }) {
    this.columns = [0, 1].map((j) => values.map((row) => [row[j]]));
    this.picture = this.querySelector(".live-plane svg");
    this.point = this.querySelector(".live-point");
    this.listen();
  }

  // ---------------------------------------------------------------- shares and places

  // Head j's column of the output, if `share` of its attention goes to the first word
  column(j, share) {
    return weightedSum([share, 1 - share], this.columns[j])[0];
  }

  // The share of head j that gives this number in its column
  shareFor(j, value) {
    const [first, second] = this.data.values;
    return rounded((value - second[j]) / (first[j] - second[j]));
  }

  // The one share for both columns that comes nearest to this output
  nearest(out) {
    const [first, second] = this.data.values;
    const along = first.map((x, j) => x - second[j]);
    const away = out.map((x, j) => x - second[j]);
    return rounded(dot(away, along) / dot(along, along));
  }

  change(some) {
    const next = { ...this.state, ...some };
    if (next.one) {
      if (some.one) next.a = this.nearest([this.column(0, next.a), this.column(1, next.b)]);
      else next.a = some.a ?? some.b ?? next.a;
      next.b = next.a;
    }
    super.change(next);
  }

  // One head has one share, whatever a link says.
  display() {
    if (this.state.one) this.state.b = this.state.a;
    super.display();
  }

  // ---------------------------------------------------------------- the picture

  pixels(out) {
    const { left, right, top, bottom } = this.data.box;
    const [x, y] = this.data.ends.map(([least, most], j) => (out[j] - least) / (most - least));
    return [left + (right - left) * x, bottom - (bottom - top) * y];
  }

  // What stands under the mouse or finger
  under(event) {
    const { left, right, top, bottom } = this.data.box;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
    const parts = [(x - left) / (right - left), (bottom - y) / (bottom - top)];
    return this.data.ends.map(([least, most], j) => least + (most - least) * parts[j]);
  }

  moveTo(out) {
    if (this.state.one) this.change({ a: this.nearest(out) });
    else this.change({ a: this.shareFor(0, out[0]), b: this.shareFor(1, out[1]) });
  }

  listen() {
    const { picture, point } = this;
    set(picture, { role: "group" });
    this.querySelector(".live-key-point").append(": drag the ring");
    set(point, { role: "slider", tabindex: 0, "aria-label": "the point", "aria-valuemin": 0, "aria-valuemax": 1 });
    const drag = (event) => point.hasPointerCapture(event.pointerId) && this.moveTo(this.under(event));
    picture.addEventListener("click", (event) => !point.contains(event.target) && this.moveTo(this.under(event)));
    // who drags the ring does not scroll the page; touch-action does not say so for a part of a picture
    point.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    const pointerdown = (event) => point.setPointerCapture(event.pointerId);
    set(point, { pointerdown, pointermove: drag, keydown: (event) => this.moveByKey(event) });
  }

  // Right and up are more of the first and of the second column.
  moveByKey(event) {
    const [j, way] = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 1], ArrowDown: [1, -1] }[event.key] ?? [];
    if (way === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [first, second] = this.data.values;
    const by = way * Math.sign(first[j] - second[j]) * STEP * (event.shiftKey ? 10 : 1);
    const name = this.state.one || j === 0 ? "a" : "b";
    this.change({ [name]: rounded(this.state[name] + by) });
  }

  draw(out) {
    const { wanted, cols } = this.data;
    const part = (name, attributes) => set(this.querySelector(`.live-${name}`), attributes);
    const [x, y] = this.pixels(out).map((pixel) => fixed(pixel, 2));
    part("point", { transform: `translate(${x} ${y})` });
    part("left", { x1: x, y1: y });
    part("guide-x", { x1: x, y1: y, x2: x });
    part("guide-y", { x1: x, y1: y, y2: y });
    const place = (point) => cols.map((col, j) => `${col} ${shown(point[j])}`).join(", ");
    const told = `Plane of ${cols.join(" and ")}. The point: ${place(out)}. Wanted: ${place(wanted)}.`;
    set(this.picture, { "aria-label": told });
    set(this.point, { "aria-valuenow": this.state.a, "aria-valuetext": place(out) });
  }

  // ---------------------------------------------------------------- what follows

  show({ one, a, b }) {
    const out = [this.column(0, a), this.column(1, b)];
    this.querySelector(".live-reach").classList.toggle("live-has-two", !one);
    this.distance = Math.hypot(...out.map((x, j) => x - this.data.wanted[j]));
    this.out = out;
    this.draw(out);
  }

  say({ one, a, b }) {
    const [word] = this.data.rows;
    const heads = one
      ? `One head gives “${word}” ${shown(a)} of its attention`
      : `Head A gives “${word}” a share of ${shown(a)}, head B ${shown(b)}`;
    const out = this.data.cols.map((col, j) => `column “${col}” ${shown(this.out[j])}`).join(" and ");
    const rest = fixed(this.distance, 2);
    return `${heads}. That makes ${out}. ${rest === "0.00" ? "That is what was wanted." : `Distance that remains: ${rest}.`}`;
  }
}

define("shares", Shares);
