// The positional encoding as clocks, to be turned. Beside clocks.py.
import { fixed, shown, onPage } from "./engine/numbers.js";
import { matmul } from "./engine/ops.js";
import { BASE, sinusoids, shift } from "./engine/positions.js";
import { button, html, set, uniqueId } from "./page/make.js";
import { number, choice, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { angleSum, positionSum, productSum } from "./page/sums.js";
import { Panel } from "./page/tables.js";

const TURN = 600; // milliseconds that the hands need to the next position, in Play
const PLAYED = 7; // positions: the fast hand comes round

class Clocks extends Live {
  settings({ pos, k, last, furthest, d_model: width, widths }) {
    const whole = { from: 0, step: 1, whole: true };
    return {
      pos: inSteps(number({ label: "position pos", start: pos, to: last, ...whole }), "position"),
      k: inSteps(number({ label: "steps k", start: k, to: furthest, ...whole }), "k"),
      d_model: choice({ label: "width d_model", start: String(width), options: widths }),
      clock: place({ label: "clock", start: 0, from: 0, to: widths.at(-1) / 2 - 1 }),
    };
  }

  take() {
    this.dials = [...this.querySelectorAll(".live-dial")];
    set(this.dials[0].parentNode, { role: "radiogroup", "aria-label": "clock whose turn is worked out below" });
    this.widths = [...this.querySelectorAll(".live-width")].map((box) => ({
      box,
      width: Number(box.dataset.width),
      panel: this.panel(box),
    }));
    this.turn = this.querySelector(".live-turn");
    // the clock whose turn is worked out: each dial's name is a radio button
    const group = uniqueId();
    this.radios = this.dials.map((dial, i) => {
      const caption = dial.querySelector(".live-name");
      const choose = () => this.change({ clock: i });
      const radio = html("input", { type: "radio", name: group, value: i, change: choose });
      caption.replaceWith(html("label", { class: "live-name" }, radio, caption.textContent));
      dial.querySelector("svg").addEventListener("click", choose);
      return radio;
    });
    this.turnedPanel = this.panel(this.querySelector(".live-turned"));
  }

  // The hands stand before what moves them: on a phone both are seen
  build() {
    super.build();
    this.dials[0].parentNode.after(this.controls);
    this.controls.prepend(this.player);
  }

  panel(box) {
    return new Panel(box.querySelector(".byhand"), { decimals: this.data.decimals });
  }

  // The position goes on, and k stays
  plays({ last }) {
    const from = this.state.pos + PLAYED > last ? -1 : this.state.pos;
    return Array.from({ length: PLAYED }, (_, n) => ({ pos: from + 1 + n }));
  }

  // The hands turn there; their numbers go along, and in the end are exact
  tween({ pos: from }) {
    const { pos, k, d_model: width } = this.state;
    const began = performance.now();
    const turn = (now) => {
      const part = Math.min(1, Math.max(0, (now - began) / TURN));
      const at = part < 1 ? from + (pos - from) * part * part * (3 - 2 * part) : pos;
      const rows = [at, at + k].map((place) => sinusoids(1, Number(width), place)[0]);
      this.showDials(rows, [pos, pos + k], Number(width));
      if (part < 1) this.turning = requestAnimationFrame(turn);
    };
    turn(began);
  }

  // A narrower encoding has fewer clocks.
  display() {
    cancelAnimationFrame(this.turning);
    if (2 * this.state.clock >= this.state.d_model) this.state.clock = 0;
    super.display();
  }

  show({ pos, k, d_model: wide, clock }) {
    const { decimals } = this.data;
    const [width, i] = [Number(wide), clock];
    this.radios[i].checked = true;
    const places = [pos, pos + k];
    const rows = places.map((place) => sinusoids(1, width, place)[0]);
    this.showDials(rows, places, width);
    for (const { box, panel, width: its } of this.widths) {
      box.hidden = its !== width;
      if (!box.hidden)
        panel.set({
          operands: [places.map((place) => [place])],
          result: rows,
          sum: (where, r, j) => positionSum(where, places[r], j, width, rows[r][j], decimals),
        });
    }
    // one pair of columns, and its block of the matrix that turns all
    const pair = rows[0].slice(2 * i, 2 * i + 2);
    const block = shift(k, width)
      .slice(2 * i, 2 * i + 2)
      .map((row) => row.slice(2 * i, 2 * i + 2));
    const turned = matmul([pair], block);
    this.turn.innerHTML = angleSum(`Turn of clock ${i}`, k, i, width);
    this.turnedPanel.set({
      operands: [[pair], block],
      result: turned,
      sum: (where, _, j) =>
        productSum(
          where,
          pair,
          block.map((row) => row[j]),
          turned[0][j],
          decimals,
        ),
    });
    const [allTurned] = matmul([rows[0]], shift(k, width));
    this.same = allTurned.every((x, j) => Math.abs(x - rows[1][j]) < 1e-12);
  }

  showDials(rows, places, width) {
    this.dials[0].parentNode.classList.toggle("live-few", width < this.data.widths.at(-1));
    this.dials.forEach((dial, i) => {
      dial.hidden = 2 * i >= width;
      if (dial.hidden) return;
      const [hand, later] = rows.map((row) => row.slice(2 * i, 2 * i + 2));
      this.showDial(dial, i, hand, later, places, (places[1] - places[0]) / BASE ** ((2 * i) / width));
    });
  }

  showDial(dial, i, hand, later, places, angle) {
    const word = (x) => onPage(fixed(x, this.data.decimals));
    const stands = (pos, [sin, cos]) => `position ${pos} at sine ${word(sin)} and cosine ${word(cos)}`;
    const svg = dial.querySelector("svg");
    svg.innerHTML = picture(this.data, hand, later, places, angle);
    const said = `Dial of clock ${i}: ${stands(places[0], hand)}, ${stands(places[1], later)}.`;
    svg.setAttribute("aria-label", said);
    dial.querySelector(".live-sin span").textContent = word(hand[0]);
    dial.querySelector(".live-cos span").textContent = word(hand[1]);
  }

  say({ pos, k, d_model: width, clock }) {
    const angle = (places) => shown(places / BASE ** ((2 * clock) / width), 6);
    const steps = k === 1 ? "1 step" : `${k} steps`;
    const radians = angle(pos) === "1" ? "radian" : "radians";
    return (
      `At position ${pos} clock ${clock} has turned by ${angle(pos)} ${radians}. ${steps} further it has ` +
      `turned by ${angle(k)} more, wherever you start. When each pair turns by its angle, ` +
      `PE[${pos}] ${this.same ? "becomes" : "does not become"} PE[${pos + k}].`
    );
  }
}

// What is in a dial: the template of clocks.py, filled as there (_picture)
function picture({ dial, radius, label, closest, sector }, hand, later, places, angle) {
  const at = ([sin, cos], by) => `${fixed(by * sin, 2)} ${fixed(-by * cos, 2)}`;
  const near = Math.hypot(later[0] - hand[0], later[1] - hand[1]) * label < closest * places.join("").length;
  const text = (name, place, words) => {
    const anchor = place[0] > 0.5 ? "start" : place[0] < -0.5 ? "end" : "middle";
    const by = label + 4 * (anchor === "middle");
    const both = near && anchor === "middle" && places[0] !== places[1] ? `, ${places[1]}` : "";
    return `<text class="live-${name}" transform="translate(${at(place, by)})" text-anchor="${anchor}">${words}${both}</text>`;
  };
  const parts = {
    from: at(hand, sector),
    to: at(later, sector),
    large: Number(angle % (2 * Math.PI) > Math.PI),
    tip: at(hand, radius),
    later: at(later, radius),
    foot: at([0, hand[1]], radius),
    labels: (near ? "" : text("later-at", later, places[1])) + text("at", hand, places[0]),
  };
  return dial.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
}

// A whole number with two buttons: one back, one on
function inSteps(setting, what) {
  let [now, buttons] = [];
  const possible = (value) => !setting.read(String(value)).error;
  return {
    ...setting,
    control(name, change) {
      buttons = [-1, 1].map((by) => {
        const click = () => possible(now + by) && change(now + by);
        return button(by < 0 ? "−1" : "+1", click, { "aria-label": `${what}: one ${by < 0 ? "back" : "on"}` });
      });
      const control = setting.control(name, change);
      control.classList.add("live-steps");
      const slider = control.querySelector("[type=range]");
      slider.before(buttons[0]);
      slider.after(buttons[1]);
      return control;
    },
    display(value) {
      now = value;
      setting.display(value);
      buttons.forEach((one, at) => one.setAttribute("aria-disabled", !possible(value + (at ? 1 : -1))));
    },
  };
}

define("clocks", Clocks);
