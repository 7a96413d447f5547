// A beam search stepped through. Beside beam.py.
import { fixed, shown, onPage } from "./engine/numbers.js";
import { beamSteps, greedy } from "./engine/generate.js";
import { html } from "./page/make.js";
import { number, choice, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";

const SOS = "<sos>";
const BECAME = { kept: "✓ kept", dropped: "✗ thrown away", ended: "■ ended, set aside" };
const CUT = "✓ kept, and cut off";
const LEGEND =
  "✓ kept, ✗ thrown away, ■ ended, ★ the best in the end; dashed: not looked at. " +
  "On a line: the word’s probability. In a box: that of all words up to it.";

// A tree of words as a model: a step gives the logarithms of what may follow each sentence.
function treeModel({ tokens, after }, eos, maxLength) {
  const following = new Map(
    after.map(([words, next, probs]) => [words.join(" "), new Map(next.map((word, k) => [word, probs[k]]))]),
  );
  const followers = (words) => following.get(words.join(" ")) ?? new Map([[eos, 1]]);
  const step = (state, last) => {
    const ids = state.ids.map((before, row) => [...before, last[row]]);
    const logits = ids.map((all) => {
      const next = followers(all.slice(1).map((id) => tokens[id]));
      return tokens.map((word) => Math.log(next.get(word) ?? 0));
    });
    return [logits, { ids }];
  };
  return {
    step,
    state: { ids: [[]] },
    words: (ids) => ids.map((id) => tokens[id]).join(" "),
    ends: { sos: tokens.indexOf(SOS), eos: tokens.indexOf(eos), maxLength },
  };
}

// All steps of a search and the sentence it finds. What cannot be (probability 0) is no candidate.
function searched({ step, state, ends }, width, lengthPenalty) {
  const search = beamSteps(step, state, { ...ends, width, lengthPenalty });
  const [steps, can] = [[], (all) => all.filter(({ logProb, log_prob: done }) => (logProb ?? done) > -Infinity)];
  for (let next = search.next(); ; next = search.next()) {
    if (next.done) return { steps, best: next.value[0] };
    const { candidates, best, alive, done } = next.value;
    if (can(candidates).length)
      steps.push({ candidates: can(candidates), best: can(best), alive: can(alive), done: can(done) });
  }
}

// Back and on: two buttons, and the arrow keys on them
function stepSetting({ max_length: most, step: start }) {
  let [back, on, says] = [];
  let [at, last] = [0, 0];
  return {
    ...place({ label: "step", start, from: 0, to: most }),
    control(name, change) {
      const go = (by) => () => at + by >= 0 && at + by <= last && change(at + by);
      const keys = (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        (by < 0 ? back : on).focus();
        go(by)();
      };
      back = html("button", { type: "button", click: go(-1) }, "◀ back");
      on = html("button", { type: "button", click: go(1) }, "on ▶");
      says = html("span", { class: "live-at" });
      return html(
        "div",
        {
          class: "live-setting live-stepper",
          role: "group",
          "aria-label": "step",
          "data-setting": name,
          keydown: keys,
        },
        back,
        says,
        on,
      );
    },
    display() {}, // how far one can go, the search knows
    place(now, end) {
      [at, last] = [now, end];
      says.textContent = `step ${at} of ${last}`;
      back.setAttribute("aria-disabled", at === 0);
      on.setAttribute("aria-disabled", at === last);
    },
  };
}

class Beam extends Live {
  settings(data) {
    const names = Object.keys(data.trees);
    const widths = Array.from({ length: data.widest }, (_, k) => String(k + 1));
    const as = (all) => Object.fromEntries(all.map((name) => [name, name]));
    return {
      ...(names.length > 1 && { tree: choice({ label: "tree", start: names[0], options: as(names) }) }),
      width: choice({ label: "width", start: "2", options: as(widths) }),
      penalty: number({ label: "penalty α", start: 0, from: 0, to: data.steepest, step: 0.1 }),
      step: stepSetting(data),
    };
  }

  take({ trees, eos, max_length: maxLength }) {
    this.models = Object.fromEntries(
      Object.entries(trees).map(([name, tree]) => [name, treeModel(tree, eos, maxLength)]),
    );
    this.parts = [...this.querySelectorAll(".live-beam")];
    for (const part of this.parts) part.querySelector(".live-tree").after(html("p", { class: "live-legend" }, LEGEND));
    const table = (heads, caption) =>
      html(
        "table",
        { class: "live-list" },
        html("caption", {}, caption),
        html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
        html("tbody"),
      );
    this.candidates = table(["sentence", "probability", "log-prob.", "fate"], "");
    this.aside = table(["sentence", "tokens n", "log-prob.", "score"], "Set aside");
  }

  build() {
    super.build();
    this.querySelector(".live-static").before(this.said);
  }

  show({ tree = Object.keys(this.models)[0], width, penalty, step }) {
    const model = this.models[tree];
    const { steps, best } = searched(model, Number(width), penalty);
    const at = Math.min(step, steps.length);
    this.can.step.place(at, steps.length);
    const became = new Map(); // of each sentence looked at so far
    for (const { candidates, best: chosen } of steps.slice(0, at)) {
      for (const c of candidates) {
        became.set(model.words(c.ids), !chosen.includes(c) ? "dropped" : c.token === model.ends.eos ? "ended" : "kept");
      }
    }
    const [ended, now, last] = [at === steps.length, steps[at - 1], at === model.ends.maxLength];
    const part = this.parts.find(({ dataset }) => dataset.tree === tree);
    for (const other of this.parts) other.hidden = other !== part;
    this.mark(part, became, at, ended ? model.words(best.ids) : null);
    part.querySelector(".live-legend").after(this.candidates, this.aside);
    this.list(
      this.candidates,
      now
        ? now.candidates.map((c) => [
            model.words(c.ids),
            fixed(Math.exp(c.logProb), 4),
            fixed(c.logProb, 4),
            last && became.get(model.words(c.ids)) === "kept" ? CUT : BECAME[became.get(model.words(c.ids))],
          ])
        : [],
    );
    this.candidates.caption.textContent = `Step ${at}: the candidates, best first`;
    this.candidates.hidden = !now;
    this.aside.hidden = !now?.done.length;
    const byScore = [...(now?.done ?? [])].sort((a, b) => b.score - a.score);
    this.list(
      this.aside,
      byScore.map((h) => [model.words(h.ids), h.ids.length, fixed(h.log_prob, 4), fixed(h.score, 4)]),
    );
    this.compare(part, { model, penalty, width: Number(width), ended });
    Object.assign(this, { steps, at, best, ended, model });
  }

  // Each word of the tree: what became of it
  mark(part, became, at, winner) {
    for (const li of part.querySelectorAll("[data-words]")) {
      const { words } = li.dataset;
      const what = became.get(words);
      const wins = winner !== null && `${winner} `.startsWith(`${words} `);
      li.querySelector(".live-node").className =
        `live-node live-${wins ? "best" : (what ?? "unseen")}` +
        (what && words.split(" ").length === at ? " live-now" : "");
      const said = wins ? "★ the best" : (BECAME[what] ?? "");
      const sign = li.querySelector("em");
      sign.textContent = said && ` ${said[0]}`;
      sign.toggleAttribute("hidden", !said);
      sign.setAttribute("aria-label", said.slice(2)); // read aloud in the place of ✓
    }
  }

  list(table, rows) {
    table.tBodies[0].replaceChildren(
      ...rows.map(([name, ...cells]) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, name),
          ...cells.map((cell) => html("td", {}, onPage(String(cell)))),
        ),
      ),
    );
  }

  compare(part, { model, penalty, width, ended }) {
    const found = part.querySelector(".live-found");
    found.hidden = !ended; // or it would tell how it ends
    [...found.tBodies[0].rows].forEach((row, k) => {
      const { best } = searched(model, k + 1, penalty);
      [model.words(best.ids), fixed(Math.exp(best.log_prob), 4), onPage(fixed(best.score, 4))].forEach((word, c) => {
        row.cells[c + 1].textContent = word;
      });
      row.classList.toggle("live-lit", k + 1 === width);
    });
  }

  say({ width, penalty }) {
    const { steps, at, best, ended, model } = this;
    const name = (h) => `“${model.words(h.ids)}”`;
    if (at === 0) return "Step 0: nothing is written yet. The beam holds one sentence, the empty one.";
    const { candidates, best: chosen, alive } = steps[at - 1];
    const from = at === 1 ? 1 : steps[at - 2].alive.length;
    const many = (n, one, more) => (n === 1 ? `1 ${one}` : `${n} ${more}`);
    const said = [
      `Step ${at}: ${many(candidates.length, "candidate", "candidates")} from ${many(from, "sentence", "sentences")}.`,
    ];
    const dropped = candidates.length - chosen.length;
    if (!dropped)
      said.push(candidates.length === 1 ? "It stays." : `There is room for ${width}: nothing is thrown away.`);
    else
      said.push(
        `The ${chosen.length === 1 ? "best stays" : `${chosen.length} best of them all stay`}; ${dropped} thrown away.`,
      );
    for (const c of chosen.filter(({ token }) => token === model.ends.eos))
      said.push(`${name(c)} has ended and is set aside.`);
    if (ended) {
      if (alive.length && at < model.ends.maxLength)
        said.push("No other can overtake it: a sum only falls. The search stops.");
      else if (alive.length) said.push(`After ${at} tokens the rest is cut off.`);
      said.push(
        `${name(best)} is found, with probability ${fixed(Math.exp(best.log_prob), 4)}` +
          `${penalty ? ` and score ${onPage(fixed(best.score, 4))} (α = ${shown(penalty)})` : ""}.`,
      );
      const first = greedy(model.step, model.state, model.ends);
      said.push(
        String(first.ids) === String(best.ids)
          ? "Greedy finds the same."
          : `Greedy finds ${name(first)}, with ${fixed(Math.exp(first.log_prob), 4)}.`,
      );
    }
    return said.join(" ");
  }
}

define("beam", Beam);
