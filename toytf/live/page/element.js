// What every element shares: its data, its settings, the address, what is said aloud.
//
//   class Divisor extends toytf.Live {
//     settings(data)  -> { divisor: toytf.number({ ... }), ... }: what can be set, in the order of the page
//     take(data)      finds once the parts that Python wrote
//     prepare(state)  what can be done before the numbers of `data-later` are there
//     show(state)     computes everything from the settings and writes it into those parts
//     say(state)      -> one sentence: what is seen now
//     plays(data)     -> a list of what Play sets, one after the other: [{ divisor: 2 }, { divisor: 5 }], if it has Play
//   }
//   toytf.define("divisor", Divisor)
//
// Python wrote the element's static form, which stays where there is no script, in print, and where the output is not
// trusted. The script adds the controls and takes the static form over: its numbers follow from then on.
import { button, html } from "./make.js";

const onSite = () => "content_root" in document.documentElement.dataset; // elsewhere the address is not ours
// "a, b and c", in what is said
export const listed = (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1");
const STAGE = 1300; // milliseconds that each stage of Play stands
const LATER = 400; // milliseconds: who drags a slider hears one sentence, and writes one address

export class Live extends HTMLElement {
  connectedCallback() {
    if (this.state) return;
    const data = this.querySelector(":scope > script[type='application/json']");
    if (!data) {
      // the page is still being read
      document.addEventListener("DOMContentLoaded", () => this.connectedCallback(), { once: true });
      return;
    }
    this.data = JSON.parse(data.textContent);
    this.can = this.settings(this.data);
    this.state = this.begin();
    this.take(this.data);
    this.build();
    this.watchWidths();
    this.classList.add("live-on");
    // JupyterLab leaves keys alone that are pressed in a place with this mark
    this.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", ""));
    addEventListener("hashchange", () => this.follow());
    for (const touched of ["pointerdown", "focusin"]) this.addEventListener(touched, () => this.still && this.ready());
    this.display();
    this.follow();
  }

  // What a subclass may leave out
  settings() {
    return {};
  }
  take() {}
  prepare() {}
  tween() {} // from a state to that which is shown, in less than a stage
  say() {
    return "";
  }
  names() {
    return Object.keys(this.can).join(", ");
  } // what a link may set, in an error

  begin() {
    return Object.fromEntries(Object.entries(this.can).map(([name, setting]) => [name, setting.start]));
  }

  build() {
    const controls = Object.entries(this.can)
      .map(([name, setting]) => setting.control(name, (value) => this.change({ [name]: value })))
      .filter((control) => control);
    this.said = this.querySelector(".live-said") ?? this.appendChild(html("p", { class: "live-said" }));
    this.spoken = html("p", { class: "live-spoken", role: "status" });
    this.complaint = html("p", { class: "live-complaint", role: "alert" });
    this.link = html("a", { class: "live-link", href: `#${this.id}`, click: () => this.copy() }, "Link to this");
    const reset = button("Reset", () => this.reset(), { class: "live-reset" });
    const title = this.querySelector(".live-title").textContent;
    if (this.plays) {
      this.player = button("Play", () => (this.playing ? this.change({}) : this.play(this.plays(this.data))), {
        class: "live-play",
      });
      controls.push(this.player);
      // who looks closer than at the settings stops it too
      this.addEventListener("click", ({ target }) => target === this.player || this.halt());
      this.addEventListener("input", () => this.halt());
    }
    // sliders that follow each other share their columns
    const sliders = controls.filter((control) => control.matches(".live-number"));
    if (sliders.length > 1)
      controls.splice(controls.indexOf(sliders[0]), sliders.length, html("div", { class: "live-sliders" }, ...sliders));
    this.controls = html("div", { class: "live-controls", role: "group", "aria-label": title }, ...controls);
    this.querySelector(".live-static").before(this.controls);
    this.append(this.spoken, this.complaint, html("p", { class: "live-foot" }, reset, " ", this.link));
  }

  // Stage after stage, and the last one stands. Only that is said aloud and written to the address: who listens would
  // hear a sentence cut off by the next.
  play([stage, ...rest]) {
    const before = this.state;
    if (rest.length) {
      this.state = { ...before, ...stage };
      this.display();
      this.player.textContent = "Stop";
      this.playing = setTimeout(() => this.play(rest), STAGE);
    } else this.change(stage);
    this.classList.add("live-playing"); // the last stage moves as the others do
    // on a phone it may be beside the screen
    this.querySelector(".live-now")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (matchMedia("(prefers-reduced-motion: no-preference)").matches) this.tween(before);
  }

  halt() {
    this.classList.remove("live-playing");
    if (!this.playing) return;
    this.playing = clearTimeout(this.playing);
    this.player.textContent = "Play";
  }

  // Some settings change; everything follows.
  change(some) {
    this.halt();
    this.complaint.textContent = "";
    this.link.textContent = "Link to this";
    this.link.style.textDecoration = "";
    this.state = { ...this.state, ...some };
    this.display();
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.speak();
      if (onSite()) history.replaceState(history.state, "", this.address());
    }, LATER);
  }

  reset() {
    this.change(this.begin());
  }

  // The address bar has the link too, where the browser does not let it be copied.
  async copy() {
    let told = "Link copied";
    try {
      await navigator.clipboard.writeText(this.link.href);
    } catch {
      told = "The address bar has the link";
    }
    this.spoken.textContent = this.link.textContent = told;
    this.link.style.textDecoration = "none";
  }

  display() {
    for (const [name, setting] of Object.entries(this.can)) setting.display(this.state[name]);
    this.prepare(this.state);
    this.still = !this.there();
    if (!this.still) {
      this.show(this.state);
      this.said.textContent = this.say(this.state);
    } else if (!this.begins()) this.ready();
    this.link.href = this.address();
    requestAnimationFrame(() => this.markWide());
  }

  // What stands still shows the start, whatever is set
  speak() {
    if (!this.still) this.spoken.textContent = this.said.textContent;
  }

  // ---------------------------------------------------------------- large numbers, asked for when somebody touches it

  // A page of the book has them in a file of its own; a notebook's output brings them along.
  there() {
    const name = this.dataset.later?.match(/^live-(.+)\.js$/)[1];
    return !name || name in toytf;
  }

  // Whether they are there in the end, and all is shown
  async ready() {
    const src = `${document.documentElement.dataset.content_root ?? "./"}_static/${this.dataset.later}`;
    const script = (load, error) => document.head.append(html("script", { src, load, error }));
    try {
      if (!this.there()) await (this.loading ??= new Promise(script));
    } catch {
      this.loading = null; // the next touch tries again
      this.complaint.textContent = `The model could not be loaded: expected its numbers in ${src}.`;
      return false;
    }
    if (this.still) {
      this.display();
      if (!this.begins()) this.speak();
    }
    return true;
  }

  // Numbers have grown out of a panel: it scrolls, by keyboard too. Only what is near is measured, for the browser
  // lays out what is far away when it comes near.
  watchWidths() {
    this.near = new Set();
    const watch = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) this.near[isIntersecting ? "add" : "delete"](target);
        this.markWide();
      },
      { rootMargin: "600px" },
    );
    for (const box of this.querySelectorAll(".byhand-parts, .live-tree")) watch.observe(box);
  }

  markWide() {
    const boxes = [...this.near];
    const areWide = boxes.map((box) => box.scrollWidth > box.clientWidth + 1); // all, before the first is changed
    boxes.forEach((box, i) => {
      box.classList.toggle("live-wide", areWide[i]);
      if (areWide[i]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }

  // ---------------------------------------------------------------- the address: #divisor?divisor=1&row=World

  begins() {
    return this.address() === `#${this.id}?`;
  }

  address() {
    const set = new URLSearchParams();
    for (const [name, setting] of Object.entries(this.can)) {
      const text = setting.write(this.state[name]);
      if (text !== setting.write(setting.start)) set.set(name, text);
    }
    return `#${this.id}?${set}`;
  }

  follow() {
    const [id, asked] = location.hash.slice(1).split("?");
    if (id !== this.id || asked === undefined) return;
    const [found, errors] = [this.begin(), []];
    for (const [name, text] of new URLSearchParams(asked)) {
      const { value, error } = Object.hasOwn(this.can, name)
        ? this.can[name].read(text)
        : { error: `${name}: expected one of ${this.names()}` };
      if (error) errors.push(error);
      else found[name] = value;
    }
    this.halt();
    this.state = found;
    this.display();
    this.speak();
    if (errors.length) this.complaint.textContent = `The link says something else. ${errors.join(". ")}.`;
    this.closest("details:not([open])")?.setAttribute("open", "");
    this.scrollIntoView({ block: "start" });
  }
}

// A notebook may run the same script twice.
export function define(name, element) {
  if (!customElements.get(`toytf-${name}`)) customElements.define(`toytf-${name}`, element);
}
