// What a reader can set: numbers, choices, switches. Each knows its control, how a value is read from text
// (the address, what somebody typed) and written there.
//
//   read(text)  -> { value } or { error }, in words
//   write(value) -> text
//   control(name, change) -> what stands on the page; change(value) is called by it
//   display(value) -> sets the control
import { parsed, onPage, trimmed } from "../engine/numbers.js";
import { html, set, uniqueId, TYPED } from "./make.js";

// A number from a slider, and typed beside it. `scale: "log"` moves the slider by factors; `whole` refuses 2.5.
export function number({ label, start, from, to, step, scale = "linear", whole = false }) {
  const bend = scale === "log" ? Math.log : (x) => x;
  const short = (x) => String(Number(x.toPrecision(12)));
  // the value keeps its digits; the box has four decimals, or four digits of what is small
  const seen = (x) => onPage(Math.abs(x) < 0.1 ? short(Number(x.toPrecision(4))) : trimmed(x, 4));
  const range = `a ${whole ? "whole " : ""}number from ${onPage(short(from))} to ${onPage(short(to))}`;
  let slider;
  let typed;
  let complaint;

  function read(text) {
    const value = parsed(text);
    if (value === undefined) return { error: `${label}: expected ${range}, got “${text.trim() || "nothing"}”` };
    if (!(value >= from && value <= to) || (whole && !Number.isInteger(value)))
      return { error: `${label}: expected ${range}, got ${onPage(short(value))}` };
    return { value };
  }

  // The places of the slider are whole numbers; a linear one stops at each step.
  const places = scale === "log" ? 200 : Math.round((to - from) / step);
  const place = (value) => Math.round(((bend(value) - bend(from)) / (bend(to) - bend(from))) * places);
  function at(position) {
    if (scale !== "log") return Number((from + position * step).toPrecision(12));
    return Number(Math.exp(bend(from) + ((bend(to) - bend(from)) * position) / places).toPrecision(3));
  }

  function complain(error) {
    complaint.textContent = error ?? "";
    set(typed, { "aria-invalid": error && "true" });
  }

  return {
    start,
    read,
    write: short,
    control(name, change) {
      const [id, says] = [uniqueId(), uniqueId()];
      const input = () => {
        complain();
        change(at(Number(slider.value)));
      };
      slider = html("input", { type: "range", id, min: 0, max: places, step: 1, input });
      typed = html("input", {
        ...TYPED,
        inputmode: "decimal",
        class: "live-typed",
        size: 9,
        "aria-label": `${label}, typed`,
        "aria-describedby": says,
        change: () => {
          const { value, error } = read(typed.value);
          complain(error);
          if (!error) change(value);
        },
      });
      complaint = html("p", { class: "live-complaint", role: "alert", id: says });
      const parts = [html("label", { for: id }, label), slider, typed, complaint];
      return html("div", { class: "live-setting live-number", "data-setting": name }, ...parts);
    },
    display(value) {
      slider.value = place(value);
      slider.setAttribute("aria-valuetext", seen(value));
      if (document.activeElement !== typed || read(typed.value).value !== value) typed.value = seen(value);
      complain();
    },
  };
}

// One of a few: `options` maps what stands in the address to what stands on the page, or is a list of words for both.
export function choice({ label, start, options: some }) {
  const options = Array.isArray(some) ? Object.fromEntries(some.map((word) => [word, word])) : some;
  let inputs;
  return {
    start,
    read: (text) =>
      Object.hasOwn(options, text)
        ? { value: text }
        : { error: `${label}: expected one of ${Object.keys(options).join(", ")}, got “${text}”` },
    write: String,
    control(name, change) {
      const group = uniqueId();
      inputs = Object.entries(options).map(([value, words]) => {
        const input = html("input", { type: "radio", name: group, value, change: () => change(value) });
        return [input, html("label", {}, input, html("span", {}, words))];
      });
      return html(
        "fieldset",
        { class: "live-setting live-choice", "data-setting": name },
        html("legend", {}, label),
        html("div", { class: "live-options" }, ...inputs.map(([, box]) => box)),
      );
    },
    display(value) {
      for (const [input] of inputs) input.checked = input.value === value;
    },
    // Options get names; those without one are put away
    name(words) {
      inputs.forEach(([input, box], i) => {
        box.hidden = i >= words.length;
        input.nextSibling.textContent = words[i];
      });
    },
  };
}

// On or off, or two other words for that; an element's style may show which
export function toggle({ label, start, words = ["on", "off"] }) {
  let [input, now] = [];
  return {
    start,
    read: (text) =>
      words.includes(text)
        ? { value: text === words[0] }
        : { error: `${label}: expected ${words.join(" or ")}, got “${text}”` },
    write: (value) => words[value ? 0 : 1],
    control(name, change) {
      input = html("input", { type: "checkbox", role: "switch", change: () => change(input.checked) });
      now = html("i", { "aria-hidden": "true" });
      const parts = [input, html("span", {}, label), now];
      return html("label", { class: "live-setting live-switch", "data-setting": name }, ...parts);
    },
    display(value) {
      input.checked = value;
      now.textContent = words[value ? 0 : 1];
    },
  };
}

// Something with a control of its own, such as a cell of a table or a place in a picture: only the address needs this.
export const own = ({ start, read, write }) => ({ start, read, write, control: () => null, display() {} });

// The same for a place that is counted: a word, a step
export const place = ({ label, start, from = 1, to }) =>
  own({
    start,
    write: String,
    read: (text) =>
      /^\d+$/.test(text) && Number(text) >= from && Number(text) <= to
        ? { value: Number(text) }
        : { error: `${label}: expected a whole number from ${from} to ${to}, got “${text}”` },
  });
