// The translator learns in the page. Beside training.py, which wrote the end of the chapter's run; this begins before it.
import { fixed } from "./engine/numbers.js";
import { largestAt } from "./engine/generate.js";
import { learner } from "./engine/train.js";
import { button, html, set, uniqueId } from "./page/make.js";
import { choice, place, toggle } from "./page/settings.js";
import { Live, define } from "./page/element.js";
import { chart } from "./page/chart.js";
import { weightTable } from "./sentence.js";

const END = "(end)";
const [SPOKEN, RARELY] = [100, 50]; // steps from one sentence said aloud to the next, and between pictures that do not move
const IN_WORKER = "const take = toytf.learner((told) => postMessage(told)); onmessage = ({ data }) => take(data);";
const moves = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;
const thousands = (n) => String(n).replace(/(\d)(?=(\d{3})+$)/g, "$1,");
const mean = (row) => row.reduce((total, x) => total + x, 0) / row.length;

class Training extends Live {
  settings({ rates, rate, few, all, sentence, sentences }) {
    const pairs = Object.fromEntries([...few, all].map((n) => [n, thousands(n)]));
    return {
      rate: choice({ label: "largest learning rate", start: rate, options: rates }),
      pairs: choice({ label: "pairs to learn from", start: String(all), options: pairs }),
      dropout: toggle({ label: "drop a tenth (dropout)", start: false }),
      sentence: place({ label: "sentence", start: sentence, to: sentences.length }),
      head: choice({ label: "Attention of", start: "both", options: { 1: "head 1", 2: "head 2", both: "both heads" } }),
    };
  }

  // ---------------------------------------------------------------- what stands on the page

  take({ run: { losses, unseen, said, heads }, learn: { every } }) {
    const part = (name) => this.querySelector(`.train-${name}`);
    Object.assign(this, { picture: part("curve").querySelector("svg"), map: this.querySelector(".live-map") });
    this.sharp = part("sharp");
    const answers = said.map((words, s) => ({ words, heads: heads[s] }));
    const report = (loss, k) => ({ step: every * k, loss: losses[k - 1], unseen: loss });
    this.chapter = unseen.map(report);
    this.chapter[0].answers = answers;
    this.spanish = [...part("answers").children].map((line, s) => this.takeAnswer(line, s + 1));
    this.forget();
  }

  // A line becomes a button that chooses its sentence.
  takeAnswer(line, sentence) {
    const chosen = button("", () => this.change({ sentence }));
    chosen.append(...line.childNodes);
    line.append(chosen);
    return line;
  }

  build() {
    super.build();
    const id = uniqueId();
    this.go = button("Train", () => this.press(), { class: "train-go" });
    this.anew = button("Train anew", () => this.start());
    const input = ({ target }) => this.look(Number(target.value));
    this.back = html("input", { type: "range", id, min: 0, step: 1, input });
    this.backTo = html("label", { for: id });
    this.backBox = html("div", { class: "live-setting train-back" }, this.backTo, this.back);
    this.querySelector(".live-said").before(html("div", { class: "train-buttons" }, this.go, this.anew));
    this.querySelector(".train-key").after(this.backBox);
    this.querySelector(".train-head").replaceWith(this.controls.querySelector("[data-setting=head]"));
  }

  // ---------------------------------------------------------------- a run

  // Nothing is learned yet: the chapter's run stands there, at its beginning.
  forget() {
    this.tell?.({ going: false });
    Object.assign(this, { own: false, going: false, over: true, run: (this.run ?? 0) + 1 });
    [this.reports, this.at] = [this.chapter.slice(0, 1), 0];
  }

  start() {
    const { rate, pairs, dropout } = this.state;
    this.forget();
    this.knobs = this.knobsOf(this.state);
    Object.assign(this, { own: true, going: true, over: false, reports: [], at: 0 });
    this.tell ??= this.employ();
    const how = { most: Number(pairs), learningRate: Number(rate), dropout: dropout ? this.data.dropout : 0 };
    this.tell({ run: this.run, ...this.data.learn, ...how });
    this.display();
  }

  // A run that is not begun here is the chapter's
  get knobsShown() {
    return this.own ? this.knobs : this.knobsOf(this.begin());
  }

  knobsOf(state) {
    return ["rate", "pairs", "dropout"].map((name) => this.can[name].write(state[name])).join();
  }

  isChanged() {
    return this.knobsShown !== this.knobsOf(this.state);
  }

  press() {
    if (!this.going && (this.over || this.isChanged())) return this.start();
    this.going = !this.going;
    this.tell({ going: this.going });
    this.display();
    this.speak();
  }

  reset() {
    this.forget();
    super.reset();
  }

  // A worker learns, where one is to be had; else the page itself does, in slices.
  employ() {
    const hear = (told) => this.hear(told);
    const alone = learner(hear);
    let asked;
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([toytf.learning, IN_WORKER])));
      worker.addEventListener("message", ({ data }) => hear(data));
      worker.addEventListener("error", () => {
        this.tell = alone;
        alone({ ...asked, going: this.going });
      });
      return (message) => {
        if (message.run) asked = message;
        worker.postMessage(message);
      };
    } catch {
      return alone;
    }
  }

  hear({ run, steps, done }) {
    if (run !== this.run) return;
    const [last, latest] = [this.at, this.reports.length - 1];
    for (const { step, loss, unseen, answers } of steps) {
      if (!answers || step <= this.reports.at(-1)?.step) continue; // a worker may have told it before it failed
      const words = (ids) => ids.map((id) => this.data.words[id]);
      const own = answers.map(({ ids, heads }) => ({ words: words(ids), heads }));
      this.reports.push({ step, loss, unseen, answers: own });
    }
    if (done) Object.assign(this, { going: false, over: true });
    if (last === latest) this.at = this.reports.length - 1; // who looks back goes on looking there
    const { step } = this.reports.at(-1);
    if (moves() || done || step % RARELY === 0) this.display();
    if (done || (step % SPOKEN === 0 && latest < this.reports.length - 1)) this.speak();
  }

  speak() {
    this.spoken.textContent = this.said.textContent;
  }

  look(at) {
    this.at = at;
    this.display();
  }

  // ---------------------------------------------------------------- showing

  show({ sentence, head }) {
    const { step, answers } = this.reports[this.at] ?? { step: 0, answers: null };
    const changed = this.isChanged();
    this.go.textContent = this.going ? "Stop" : this.over || changed ? "Train" : "Go on";
    this.anew.disabled = !this.own;
    const latest = Math.max(0, this.reports.length - 1);
    set(this.back, { max: latest, "aria-valuetext": `step ${step}` });
    this.back.value = this.at;
    this.backTo.textContent = `look back: step ${step}`;
    this.backBox.hidden = !this.own || latest === 0;
    if (!answers) return;
    this.draw(step);
    this.spanish.forEach((line, s) => this.writeAnswer(line, s, answers[s].words, s === sentence - 1));
    this.writeMap(answers[sentence - 1], this.data.sentences[sentence - 1][0].split(" "), head);
  }

  writeAnswer(line, s, said, chosen) {
    const right = this.data.sentences[s][1].split(" ");
    const words = said.filter((word) => word !== END);
    const [english, spanish] = line.querySelectorAll("span[lang]");
    english.textContent = this.data.sentences[s][0] + (words.join(" ") === right.join(" ") ? " ✓" : "");
    const shown = words.slice(0, right.length + this.data.more);
    const marked = shown.map((word, i) => html(word === right[i] ? "b" : "span", {}, word));
    spanish.replaceChildren(...marked.flatMap((word, i) => (i ? [" ", word] : [word])));
    if (words.length > shown.length) spanish.append(" …");
    if (!words.length) spanish.append("(nothing)");
    set(line.firstChild, { "aria-pressed": String(chosen) });
  }

  writeMap({ words, heads }, english, head) {
    const both = words.map((_, t) => english.map((__, k) => mean(heads.map((weights) => weights[t][k]))));
    const weights = head === "both" ? both : heads[Number(head) - 1];
    weightTable(
      this.map,
      english,
      words.slice(0, english.length + this.data.more + 1).map((word, t) => [word, weights[t]]),
    );
    const [largest, even] = [mean(weights.map((row) => row[largestAt(row)])), 1 / english.length];
    const spread = `Spread evenly it would be ${fixed(even, 2)}.`;
    this.sharp.textContent = `The largest weight of a row, on average: ${fixed(largest, 2)}. ${spread}`;
  }

  // As _chart of training.py
  draw(step) {
    const { steps, cfg } = this.data.learn;
    const learned = this.reports.filter(({ loss }) => loss !== undefined).map((r) => [r.step, r.loss]);
    const unseen = this.reports.map((r) => [r.step, r.unseen]);
    const most = Math.max(5, ...[...learned, ...unseen].map(([, loss]) => loss));
    const tick = [1, 2, 5, 10, 20, 50, 100, 1000, 10000].find((t) => most <= 6 * t);
    const top = tick * Math.ceil(most / tick);
    const guess = Math.log(cfg.tgt_vocab);
    const marks = (end, by) => Array.from({ length: Math.floor(end / by) + 1 }, (_, k) => [k * by, String(k * by)]);
    const now = this.reports[this.at];
    const lines = [
      ["quiet dotted", [[0, guess], [steps, guess]]],
      ["blue", learned],
      ["red dashed", unseen],
      ["ink", [[step, 0], [step, top]]],
    ]; // prettier-ignore
    chart(this.picture, {
      alt:
        `The loss at step ${step}: ${now.step ? `${fixed(now.loss, 4)} on the pairs it learns from, ` : ""}` +
        `${fixed(now.unseen, 4)} on ${this.unseenWords()}. It began at ${fixed(unseen[0][1], 4)}.`,
      x: [0, steps],
      y: [0, top],
      ticks: [marks(steps, steps / 5), marks(top, tick)],
      lines: lines.filter(([, points]) => points.length),
      below: ["step"],
    });
  }

  unseenWords() {
    return `${this.data.learn.unseen.split(" ").length / 2} sentences never shown`;
  }

  // ---------------------------------------------------------------- what is said

  // Whether all numbers up to here are those of the chapter, to the digits that are shown
  isChapters() {
    const alike = (a, b) => a === b || fixed(a, 4) === fixed(b, 4);
    return this.reports.every((r, k) => alike(r.loss, this.chapter[k].loss) && alike(r.unseen, this.chapter[k].unseen));
  }

  say() {
    const now = this.reports[this.at];
    if (!now) return "The first numbers are on their way.";
    const { step, loss, unseen } = now;
    const losses = step
      ? `the loss of its last ${this.data.learn.batchSize} pairs is ${fixed(loss, 4)}, that of ${this.unseenWords()} ${fixed(unseen, 4)}`
      : `with random numbers the loss of ${this.unseenWords()} is ${fixed(unseen, 4)}`;
    const changed = this.isChanged() ? " The knobs ask for another run: press Train." : "";
    if (!this.own) return `Nothing is learned yet: ${losses}.${changed || " Press Train."}`;
    return `Step ${step} of ${this.data.learn.steps}: ${losses}.${this.whose()}${changed}`;
  }

  whose() {
    const [rate, pairs, dropout] = this.knobs.split(",");
    if (this.knobs !== this.knobsOf(this.begin()))
      return ` This run has ${thousands(pairs)} pairs, the rate ${rate}${dropout === "on" ? " and dropout" : ""}.`;
    return this.isChapters()
      ? " These are the numbers of the chapter."
      : " The settings are those of the chapter, the last digits those of your browser.";
  }
}

define("training", Training);
