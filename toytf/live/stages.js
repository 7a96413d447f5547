// What happens in stages. Beside stages.py, which wrote all of them: what comes later is hidden, what moves is moved.
import { fixed, onPage } from "./engine/numbers.js";
import { dot, mean } from "./engine/ops.js";
import { set } from "./page/make.js";
import { choice, own } from "./page/settings.js";
import { Live, define } from "./page/element.js";

const [ASIDE, UP] = [
  [1, -1, 0],
  [1, 1, 1],
]; // where a row can be dragged

class Stages extends Live {
  settings({ stages, label = "stage", row, name, guess }) {
    const options = Object.fromEntries(stages.map((word, k) => [k + 1, word]));
    const stage = choice({ label, start: "1", options });
    if (guess) return { guess: choice({ start: "", ...guess }), stage }; // style hides the one or the other
    if (!row) return { stage };
    const read = (text) => {
      const value = text.split(" ").map(Number);
      return this.fits(value) ? { value } : { error: `${name}: expected a row in the picture, got “${text}”` };
    };
    return { stage, row: own({ start: row, read, write: (numbers) => numbers.join(" ") }) };
  }

  plays({ stages }) {
    return stages.map((_, k) => ({ stage: String(k + 1) }));
  }

  // A guess brings what it was about, stage after stage
  change(some) {
    super.change(some);
    if (!some.guess) return;
    this.player.focus({ preventScroll: true });
    this.play(this.plays(this.data));
  }

  // ---------------------------------------------------------------- a row that can be dragged

  place(row) {
    return this.data.look.map((axis) => dot(axis, row));
  }

  fits(row) {
    const { x, y, width, height } = this.querySelector("svg").viewBox.baseVal;
    const [a, b] = this.place(row);
    return row.length === 3 && new Set(row).size > 1 && Math.abs(a) < x + width && b > y && b < y + height;
  }

  take({ row, name, stages, look }) {
    if (!row) return;
    const last = (part) => [...this.querySelectorAll(part)].at(-1);
    const [ring, picture] = [last(".fall-row"), last("svg")];
    this.last = { ring, down: last(".fall-down"), out: last(".fall-out"), dot: last(".fall-dot"), line: last("tr") };
    Object.assign(this.last, { name: last(".fall-row + text"), end: last("svg text[data-stage]") });
    const move = (from, aside, up) => {
      const to = from.map((x, j) => Math.round(10 * (x + aside * ASIDE[j] + up * UP[j])) / 10);
      if (this.fits(to)) this.change({ row: to, stage: String(stages.length) });
    };
    const under = ({ clientX, clientY }) =>
      new DOMPoint(clientX, clientY).matrixTransform(picture.getScreenCTM().inverse());
    const isNear = (event) => {
      const [{ x, y }, [a, b]] = [under(event), this.place(this.state.row)];
      return Math.hypot(x - a, y - b) < 22; // a fingertip
    };
    let from;
    const pointerdown = (event) => {
      if (!isNear(event)) return;
      picture.setPointerCapture(event.pointerId);
      from = { at: under(event), row: this.state.row };
    };
    const pointermove = (event) => {
      if (!picture.hasPointerCapture(event.pointerId)) return;
      const { x, y } = under(event);
      move(from.row, (x - from.at.x) / dot(look[0], ASIDE), (y - from.at.y) / dot(look[1], UP));
    };
    const keydown = (event) => {
      const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      move(this.state.row, ...way.map((by) => by / 10));
    };
    set(picture, { role: "group", pointerdown, pointermove });
    const looks = { role: "slider", tabindex: 0, class: "fall-row fall-held", "aria-label": `the row ${name}` };
    set(ring, { ...looks, keydown });
    const touchstart = (event) => isNear(event.touches[0]) && event.preventDefault(); // it does not scroll the page
    picture.addEventListener("touchstart", touchstart, { passive: false });
  }

  draw(row) {
    const fallen = row.map((x) => x - mean(row));
    const size = Math.sqrt(mean(fallen.map((x) => x * x)));
    const ways = [row, fallen, fallen.map((x) => x / size)];
    const places = ways.map((way) => this.place(way));
    const at = places.map((point) => point.map((x) => fixed(x, 1)).join(" "));
    const [[a, b], , [x, y]] = places;
    const { ring, name, down, out, dot: spot, end, line } = this.last;
    set(ring, { cx: fixed(a, 1), cy: fixed(b, 1), "aria-valuenow": row[0], "aria-valuetext": row.join(", ") });
    set(name, { x: fixed(a + 17, 1), y: fixed(b + 5, 1) });
    [down, out].forEach((path, k) => set(path, { d: `M${at[k]}L${at[k + 1]}` }));
    set(spot, { cx: fixed(x, 1), cy: fixed(y, 1) });
    spot.dataset.at = places.map(([c, d]) => `${fixed(c - x, 1)},${fixed(d - y, 1)}`).join(" ");
    set(end, {
      x: fixed(x, 1),
      y: fixed(y + (y < -1 ? -10 : 20), 1),
      dx: x < 0 ? -8 : 8,
      "text-anchor": x < 0 ? "end" : "start",
    });
    line.querySelectorAll("td").forEach((cell, k) =>
      cell.querySelectorAll("span span").forEach((word, j) => {
        word.textContent = onPage(fixed(ways[k][j], k < 2 ? 1 : 2));
      }),
    );
  }

  // ---------------------------------------------------------------- what is there

  show({ stage, row }) {
    if (row) this.draw(row);
    for (const part of this.querySelectorAll("[data-stage]"))
      part.classList.toggle("live-later", part.dataset.stage > stage);
    for (const part of this.querySelectorAll("[data-each]")) {
      const value = part.dataset.each.split(" ")[stage - 1];
      part.classList.toggle("live-later", value === "nan"); // a bar that is not there
      if (part.matches(".live-bar")) part.style.setProperty("--share", value);
      else part.textContent = value;
    }
    for (const spot of this.querySelectorAll("[data-at]")) {
      const [x, y] = spot.dataset.at.split(" ")[stage - 1].split(",");
      spot.style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  // The guess is about the end, so there it gets its verdict, which stays.
  say({ stage, guess }) {
    const said = this.data.says[stage - 1];
    if (!guess) return said;
    if (stage < this.data.stages.length) return `You guessed ${guess} for the end. ${said}`;
    const off = guess - this.querySelector("td[data-each]:not(.live-bar)").dataset.each.split(" ").at(-1);
    return `You guessed ${guess} for the end: ${off ? (off < 0 ? "too low" : "too high") : "right"}. ${said}`;
  }
}

define("stages", Stages);
