// What a training costs, to be moved. Beside bill.py, which wrote the table.
import { button, html } from "./page/make.js";
import { number, toggle } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { fillTable } from "./page/tables.js";

// Up from the half, as bill.py
const twoDigits = (x) => Number((x * (1 + 1e-9)).toPrecision(2)).toLocaleString("en", { maximumSignificantDigits: 2 });
const RANGES = {
  parameters: ["parameters N, billions", 0.01, 10000],
  tokens: ["tokens D, trillions", 0.0002, 200],
  mfu: ["MFU, % of the peak", 1, 100],
  hour: ["dollars an hour", 0.1, 20],
};

class Bill extends Live {
  settings({ start }) {
    const slider = ([name, [label, from, to]]) => [name, number({ label, start: start[name], from, to, scale: "log" })];
    const lock = toggle({ label: "20 tokens a parameter", start: false });
    return { ...Object.fromEntries(Object.entries(RANGES).map(slider)), lock };
  }

  build() {
    super.build();
    this.models = Object.entries(this.data.models).map(([name, some]) => [
      some,
      button(name, () => this.change({ ...some, lock: false })),
    ]);
    this.controls.prepend(html("div", { class: "live-options" }, ...this.models.map(([, one]) => one)));
    this.controls.before(this.querySelector(".live-static"));
  }

  // While it is locked, N and D go together
  change(some) {
    super.change((some.lock ?? this.state.lock) && "tokens" in some ? { ...some, parameters: 50 * some.tokens } : some);
  }

  display() {
    if (this.state.lock) this.state.tokens = this.state.parameters / 50;
    super.display();
  }

  show(state) {
    const { parameters, tokens, mfu, hour } = state;
    for (const [some, one] of this.models)
      one.setAttribute("aria-pressed", !state.lock && Object.entries(some).every(([name, x]) => state[name] === x));
    const hours = (6 * parameters * 1e9 * tokens * 1e12) / (3600 * this.data.peak * (mfu / 100));
    const bill = [hours * hour, hours, (1000 * tokens) / parameters];
    const table = this.querySelector(".live-bill");
    const names = [...table.querySelectorAll("th")].map((name) => name.textContent);
    fillTable(
      table,
      bill.map((x, i) => [names[i], twoDigits(x)]),
    );
    this.dollars = twoDigits(hours * hour);
  }

  // Aloud only: who sees has the table
  say({ parameters, tokens }) {
    const [N, D] = [parameters, tokens].map((x) => x.toLocaleString("en", { maximumSignificantDigits: 3 }));
    return `${N} billion parameters that read ${D} trillion tokens: ${this.dollars} dollars for the machines.`;
  }
}

define("bill", Bill);
