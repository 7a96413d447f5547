// Drawing a word from shares on a strip. Beside sampling.py.
import { fixed, shown, onPage } from "./engine/numbers.js";
import { softmax, sum } from "./engine/ops.js";
import { draw } from "./engine/generate.js";
import { floats } from "./engine/translator.js";
import { button, html, set } from "./page/make.js";
import { number, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";

class Sampling extends Live {
  settings({ words, numbers }) {
    this.numbers = floats(numbers);
    return {
      temperature: number({ label: "temperature", start: 1, from: 0.1, to: 10, scale: "log" }),
      topk: number({ label: "top-k", start: words.length, from: 1, to: words.length, step: 1, whole: true }),
      topp: number({ label: "top-p", start: 1, from: 0.01, to: 1, step: 0.01 }),
      u: number({ label: "random number", start: this.numbers[0], from: 0, to: 1, step: 0.001 }),
      draws: place({ label: "draws", start: 1, from: 0, to: this.numbers.length }),
    };
  }

  take() {
    this.strip = this.querySelector(".live-strip");
    this.pointer = this.querySelector(".live-pointer");
    this.parts = [...this.querySelectorAll(".live-part")];
    this.rows = [...this.querySelector(".live-chances").tBodies[0].rows];
    // a finger or the mouse points at the strip; keys move the slider below it
    const point = (event) => {
      const { left, width } = this.strip.getBoundingClientRect();
      this.change({ u: Number(Math.min(1, Math.max(0, (event.clientX - left) / width)).toFixed(3)) });
    };
    const pointerdown = (event) => {
      this.strip.setPointerCapture(event.pointerId);
      point(event);
    };
    const pointermove = (event) => this.strip.hasPointerCapture(event.pointerId) && point(event);
    set(this.strip, { pointerdown, pointermove });
  }

  build() {
    super.build();
    const hundred = button("draw 100", () => this.more(100 - (this.state.draws % 100))); // with the one at the start
    this.buttons = [button("next random number", () => this.more(1)), hundred];
    this.again = button("count anew", () => this.change({ draws: 0 }));
    const line = this.querySelector(".live-line");
    line.after(
      this.querySelector("[data-setting=u]"),
      html("div", { class: "live-draws" }, ...this.buttons, this.again),
    );
  }

  // The next random numbers; the last of them stays on the strip.
  more(by) {
    const draws = Math.min(this.state.draws + by, this.numbers.length);
    if (draws > this.state.draws) this.change({ draws, u: this.numbers[draws - 1] });
  }

  show({ temperature, topk, topp, u, draws }) {
    const { logits, words } = this.data;
    // all words, or the whole probability, is no cut
    const cuts = { temperature, topK: topk === words.length ? null : topk, topP: topp === 1 ? null : topp };
    const { token, probs, kept, shares } = draw(logits, u, cuts);
    const [before, counts] = [softmax(logits), words.map(() => 0)];
    for (const next of this.numbers.slice(0, draws)) counts[draw(logits, next, cuts).token] += 1;
    this.parts.forEach((part, k) => {
      part.hidden = k >= kept.length;
      if (part.hidden) return;
      part.firstChild.textContent = words[kept[k]];
      part.style.setProperty("--share", shares[k]);
      part.classList.toggle("live-drawn", kept[k] === token);
    });
    this.pointer.style.setProperty("--at", u);
    this.pointer.dataset.word = words[token];
    this.rows.forEach((row, i) => {
      const place = kept.indexOf(i);
      const [, bar, ...cells] = row.cells;
      bar.style.setProperty("--share", place < 0 ? 0 : shares[place]);
      bar.style.setProperty("--before", before[i]);
      const share = place < 0 ? "cut" : fixed(shares[place], 4);
      [fixed(before[i], 4), fixed(probs[i], 4), share, counts[i]].forEach((word, c) => {
        cells[c].textContent = onPage(String(word));
      });
      row.classList.toggle("live-lit", i === token);
      row.classList.toggle("live-cut", place < 0);
    });
    const at = kept.indexOf(token);
    const from = sum(shares.slice(0, at));
    Object.assign(this, { token, kept, counts, from, to: from + shares[at] });
    const ends = draws === this.numbers.length;
    for (const button of this.buttons) button.setAttribute("aria-disabled", ends);
    const told = `The shares of ${kept.length} words end to end; ${shown(u)} points at ${words[token]}.`;
    set(this.strip, { "aria-label": told });
  }

  say({ u, draws }) {
    const { words } = this.data;
    const { token, kept, counts, from, to } = this;
    const left = `${kept.length} of ${words.length} words ${kept.length === 1 ? "is" : "are"} left.`;
    const said = [
      kept.length === words.length ? `All ${words.length} words have a part of the strip.` : left,
      `${shown(u)} lies between ${fixed(from, 4)} and ${fixed(to, 4)}, the part of “${words[token]}”.`,
    ];
    if (u !== this.numbers[draws - 1]) said.push("You point; only numbers that the buttons draw are counted.");
    if (draws > 1) {
      const times = counts[token] === 1 ? "once" : `${counts[token]} times`;
      said.push(`With the first ${draws} random numbers “${words[token]}” comes ${times};`);
      said.push(`${fixed(draws * (to - from), 1)} are to be expected.`);
    }
    if (draws === this.numbers.length) said.push("The page has no more random numbers: count anew.");
    return said.join(" ");
  }
}

define("sampling", Sampling);
