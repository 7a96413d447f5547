// A beam search stepped through. Beside beam.py.
import { fixed, shown, onPage } from "./engine/numbers.js";
import { beamSteps, greedy } from "./engine/generate.js";
import { button, html } from "./page/make.js";
import { number, choice, place } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { fillTable } from "./page/tables.js";

const BECAME = { kept: "✓ kept", dropped: "✗ thrown away", ended: "■ ended, set aside" };
const CUT = "✓ kept, and cut off";
const LEGEND =
  "✓ kept, ✗ thrown away, ■ ended, ★ the best in the end; dashed: not looked at. " +
  "On a line: the word’s probability. In a box: that of all words up to it.";

// A tree of words as a model: a step gives the logarithms of what may follow each sentence.
function treeModel({ tokens, after, max_length: maxLength }) {
  const following = new Map(after.map(([words, next, probs]) => [words.join(" "), [next, probs]]));
  const step = (state, last) => {
    const ids = state.ids.map((before, row) => [...before, last[row]]);
    const logits = ids.map((all) => {
      const before = all.slice(1).map((id) => tokens[id]);
      const [next, probs] = following.get(before.join(" ")) ?? [[tokens[1]], [1]];
      return tokens.map((word) => Math.log(probs[next.indexOf(word)] ?? 0));
    });
    return [logits, { ids }];
  };
  const words = (ids) => ids.map((id) => tokens[id]).join(" ");
  return { step, words, state: { ids: [[]] }, ends: { sos: 0, eos: 1, maxLength } };
}

// All steps of a search and the sentence it finds. What cannot be (probability 0) is no candidate.
function searched({ step, state, ends }, width, lengthPenalty) {
  const search = beamSteps(step, state, { ...ends, width, lengthPenalty });
  const [steps, can] = [[], (all) => all.filter(({ logProb, log_prob: done }) => (logProb ?? done) > -Infinity)];
  for (let next = search.next(); ; next = search.next()) {
    if (next.done) return { steps, best: next.value };
    const { candidates, best, alive, done } = next.value;
    if (can(candidates).length)
      steps.push({ candidates: can(candidates), best: can(best), alive: can(alive), done: can(done) });
  }
}

// Back and on: two buttons, and the arrow keys on them
function stepSetting({ max_length: most }) {
  let [back, on, says, at, last] = [null, null, null, 0, 0];
  return {
    ...place({ label: "step", start: 1, from: 0, to: most }),
    control(name, change) {
      const go = (by) => () => at + by >= 0 && at + by <= last && change(at + by);
      const keydown = (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        (by < 0 ? back : on).focus();
        go(by)();
      };
      back = button("◀ back", go(-1));
      on = button("on ▶", go(1));
      says = html("span", { class: "live-at" });
      const group = { class: "live-setting live-stepper", role: "group", "aria-label": "step", "data-setting": name };
      return html("div", { ...group, keydown }, back, says, on);
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
    const widths = Array.from({ length: data.widest }, (_, k) => String(k + 1));
    return {
      width: choice({ label: "width", start: "2", options: widths }),
      penalty: number({ label: "penalty α", start: 0, from: 0, to: data.steepest, step: 0.1 }),
      step: stepSetting(data),
    };
  }

  // All steps of the search, with the width and penalty that are set
  plays() {
    return Array.from({ length: this.steps.length + 1 }, (_, step) => ({ step }));
  }

  take(data) {
    this.model = treeModel(data);
    this.found = this.querySelector(".live-found");
    const table = (...heads) => {
      const head = html("tr", {}, ...heads.map((name) => html("th", { scope: "col" }, name)));
      const parts = [html("caption"), html("thead", {}, head), html("tbody")];
      return html("table", { class: "live-table live-list" }, ...parts);
    };
    this.candidates = table("sentence", "probability", "log-prob.", "fate");
    this.aside = table("sentence", "tokens n", "log-prob.", "score");
    this.aside.caption.textContent = "Set aside";
    this.found.before(html("p", { class: "live-legend" }, LEGEND), this.candidates, this.aside);
  }

  show({ width, penalty, step }) {
    const { model } = this;
    const { steps, best } = searched(model, Number(width), penalty);
    const at = Math.min(step, steps.length);
    this.can.step.place(at, steps.length);
    const became = new Map(); // of each sentence looked at so far
    for (const { candidates, best: chosen } of steps.slice(0, at)) {
      for (const c of candidates) {
        const fate = !chosen.includes(c) ? "dropped" : c.token === model.ends.eos ? "ended" : "kept";
        became.set(model.words(c.ids), fate);
      }
    }
    const [ended, now, last] = [at === steps.length, steps[at - 1], at === model.ends.maxLength];
    this.mark(became, at, ended ? model.words(best.ids) : null);
    const line = (c) => {
      const words = model.words(c.ids);
      const fate = last && became.get(words) === "kept" ? CUT : BECAME[became.get(words)];
      return [words, fixed(Math.exp(c.logProb), 4), fixed(c.logProb, 4), fate];
    };
    fillTable(this.candidates, (now?.candidates ?? []).map(line));
    this.candidates.caption.textContent = `Step ${at}: the candidates, best first`;
    this.candidates.hidden = !now;
    const byScore = [...(now?.done ?? [])].sort((a, b) => b.score - a.score);
    this.aside.hidden = !byScore.length;
    const score = (h) => [model.words(h.ids), h.ids.length, fixed(h.log_prob, 4), fixed(h.score, 4)];
    fillTable(this.aside, byScore.map(score));
    this.found.hidden = !ended; // or it would tell how it ends
    const finds = Array.from({ length: this.data.widest }, (_, k) => searched(model, k + 1, penalty).best);
    const cells = (h) => [model.words(h.ids), fixed(Math.exp(h.log_prob), 4), fixed(h.score, 4)];
    fillTable(
      this.found,
      finds.map((h, k) => [k ? String(k + 1) : "1 = greedy", ...cells(h)]),
    );
    this.found.tBodies[0].rows[width - 1].classList.add("live-lit");
    Object.assign(this, { steps, at, best, ended });
  }

  // Each word of the tree: what became of it
  mark(became, at, winner) {
    for (const li of this.querySelectorAll("[data-words]")) {
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
        width === "1"
          ? "With width 1 this is greedy."
          : String(first.ids) === String(best.ids)
            ? "Greedy finds the same."
            : `Greedy finds ${name(first)}, with ${fixed(Math.exp(first.log_prob), 4)}.`,
      );
    }
    return said.join(" ");
  }
}

define("beam", Beam);
