// A sentence in the words of the translator: the field to type it, what is not among its words, and the words to tap.
// Python writes the field's static form and the groups of words (live/translator.py).
import { fixed } from "./engine/numbers.js";
import { button, html, set, uniqueId, walk, TYPED } from "./page/make.js";
import { listed } from "./page/element.js";
import { fillTable, fitted } from "./page/tables.js";

const LETTERS = 200; // of a sentence
const NEVER = "It never saw a sentence of this kind: expect mistakes.";
const UNFINISHED = "It learned whole sentences, and this is none yet: go on, or expect mistakes.";
const NOTHING = "Nothing to translate: type a word.";
export const END = "(end)";
const NAMES = { "<eos>": END, "<sos>": "(start)", "<pad>": "(padding)" };

export const named = (token) => NAMES[token] ?? token;
const someOf = (words) => {
  const quotes = words.map((word) => `“${word}”`);
  return listed(words.length > 3 ? [...quotes.slice(0, 2), `${words.length - 2} others`] : quotes);
};
export const quoted = (word) => (Object.values(NAMES).includes(word) ? word : `“${word}”`);

// ---------------------------------------------------------------- reading

// Words are what spaces and punctuation separate; capitals do not count.
const cut = (text) => text.toLowerCase().match(/[^\s.,;:!?¡¿"“”„()<>/\\|]+/g) ?? [];

// What is read of a text: its words, those that are not known, those that are too many
export function reading(text, { groups, most }) {
  const known = groups.flatMap(({ words }) => words);
  const tokens = cut(text).map((word) => ({ word, known: known.includes(word) }));
  let read = 0;
  for (const token of tokens) token.place = token.known && read < most ? read++ : -1;
  return {
    tokens,
    words: tokens.filter(({ place }) => place >= 0).map(({ word }) => word),
    unknown: tokens.filter((token) => !token.known),
    late: tokens.filter((token) => token.known && token.place < 0),
  };
}

// Whether the last word is one that somebody has begun to type
export function begun(text, { groups }) {
  const last = cut(text).at(-1);
  const known = groups.flatMap(({ words }) => words);
  return Boolean(last) && /\S$/.test(text) && !known.includes(last) && known.some((word) => word.startsWith(last));
}

// How many letters must be changed, left out or put in (Levenshtein). The first is seldom mistaken, so another one in
// its place counts twice: "eats" is not meant as "cats".
function letters(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : i + j === 2 ? 2 : 1)));
    }
    row = next;
  }
  return row[b.length];
}

// The known words that are nearest by spelling: one letter in three may differ, and where as many do the same last one
// comes first. Of a longer word half is enough.
export function nearest(word, known) {
  const begun = known.filter((other) => word.length > 2 && other.startsWith(word));
  const near = known
    .map((other) => [letters(word, other) + (word.at(-1) === other.at(-1) ? 0 : 0.5), other])
    .filter(([distance, other]) => !begun.includes(other) && distance < 1 + Math.floor(word.length / 3))
    .sort(([a], [b]) => a - b)
    .map(([, other]) => other);
  return [...begun, ...near].slice(0, 4);
}

// ---------------------------------------------------------------- the sentences that it learned

// A kind of sentence names for each place the words that may stand there.
const begins = ({ places }, kind, words) => words.every((word, i) => places[kind[i]]?.includes(word));
export const fits = (about, words) =>
  about.kinds.some((kind) => kind.length === words.length && begins(about, kind, words));
export const mayBegin = (about, words) =>
  about.kinds.some((kind) => kind.length >= words.length && begins(about, kind, words));

// The words that may follow, in all kinds that begin so
export function mayFollow(about, words) {
  const longer = about.kinds.filter((kind) => kind.length > words.length && begins(about, kind, words));
  return new Set(longer.flatMap((kind) => about.places[kind[words.length]]));
}

// The words for a place, in the shortest kind that begins so, whatever stands for the words that are not known; where
// none does, those that may stand between its neighbours, or follow the word before. At the end a determiner brings its noun along.
function wordsFor({ kinds, places }, tokens, at) {
  const open = ({ word, known }, place) => !known || places[place].includes(word);
  const some = kinds.filter((kind) => kind.length >= tokens.length && tokens.every((t, i) => open(t, kind[i])));
  const [kind] = some.sort((a, b) => a.length - b.length);
  const is = (place, token) => places[place]?.includes(token?.word);
  const beside = kinds.flatMap((one) => one.map((place, i) => [place, one[i - 1], one[i + 1]]));
  const follows = beside.filter(([, before]) => is(before, tokens[at - 1]));
  const [place] = follows.find(([, , after]) => is(after, tokens[at + 1])) ?? follows[0] ?? [];
  const words = places[kind ? kind[at] : place] ?? [];
  const noun = kind && at === tokens.length - 1 && at === kind.length - 2 ? places[kind.at(-1)] : [];
  return [words, noun.length ? noun.map((word) => `${words[0]} ${word}`) : words];
}

// The shortest sentence that it learned and that goes on from these words, if there is one
function wholeFrom({ kinds, places }, words) {
  const longer = kinds.filter((kind) => kind.length > words.length && begins({ places }, kind, words));
  const [kind] = longer.sort((a, b) => a.length - b.length);
  return kind?.map((place, i) => words[i] ?? places[place][0]).join(" ");
}

// ---------------------------------------------------------------- the field

// A setting: its value is the text as it was typed. `hint` stands below while there is nothing else to say, `nothing`
// while there is no word; with `offers`, words to put in the place of the one where the caret is; with `list`, all words
// to tap. Without kinds any sentence will do.
export function sentence({ label, start, hint = "", nothing = NOTHING, examples = [], offers = false, ...about }) {
  const all = [...examples.filter((example) => example !== start), start];
  const known = about.groups.flatMap(({ words }) => words);
  let [input, note, changed, tried, typed] = [null, null, null, -1, ""];
  const tidy = (text) => text.trim().replace(/\s+/g, " ");
  const never = hint.replace(/^[^.]*\.?/, NEVER); // what the hint asks to do still holds

  function another() {
    tried = (tried + 1) % all.length;
    if (all[tried] === tidy(input.value)) tried = (tried + 1) % all.length;
    input.value = all[tried];
    changed(input.value);
  }

  function replaceWord(at, word) {
    const words = cut(input.value);
    const last = at === words.length - 1;
    words[at] = word;
    input.value = words.join(" ") + (last && !offers ? " " : ""); // one goes on typing
    input.focus();
    const end = last ? input.value.length : words.slice(0, at + 1).join(" ").length;
    input.setSelectionRange(end, end);
    changed((typed = input.value));
  }

  // For a word that is not known those that are spelled nearly so and fit; else some that fit, if any is read beside it
  function suggested(tokens, word, n) {
    const at = tokens.findIndex((token) => token.word === word);
    const [near, [fit, whole]] = [nearest(word, known), wordsFor(about, tokens, at)];
    const both = near.filter((other) => fit.includes(other));
    const begins = !examples.length || tokens.some((token) => token.known); // else a whole example is said
    const other = fit.length && begins ? [...whole.slice(0, 3), ...near] : near;
    const words = (both.length ? both : other).slice(0, n > 1 ? 2 : 4);
    const lead = words.every((one) => near.includes(one)) ? "Did you mean:" : "Try:";
    return words.length ? [{ lead: n > 1 ? `In place of “${word}”:` : lead, words, at }] : [];
  }

  // What there is to say, and the words to tap for it, each with its question
  function remark(text) {
    const { tokens, words, unknown, late } = reading(text, about);
    if (!tokens.length) return { said: nothing, asks: [] };
    if (begun(text, about)) {
      const { word } = tokens.at(-1);
      const some = known.filter((other) => other.startsWith(word)).slice(0, 4);
      return { said: "", asks: [{ lead: `${word}…`, words: some, at: tokens.length - 1 }] };
    }
    const [said, asks] = [[], []];
    if (unknown.length) {
      const odd = [...new Set(unknown.map(({ word }) => word))];
      const is = odd.length > 1 ? "are" : "is";
      const doubt = words.length && about.kinds.length && !fits(about, words) ? ": expect mistakes" : "";
      said.push(`${someOf(odd)} ${is} not among its ${known.length} words and ${is} left out${doubt}.`);
      for (const word of odd) asks.push(...suggested(tokens, word, odd.length));
      const whole = (words.length && wholeFrom(about, words)) || examples[0];
      if (whole && (!words.length || (doubt && !asks.length))) said.push(`Try “${whole}”.`);
    }
    const learned = `It learned from sentences of up to ${about.learned} words`;
    if (late.length) {
      said.push(`It reads ${about.most} words here; “${late[0].word}” and what follows is left out. ${learned}.`);
    } else if (words.length > about.learned) said.push(`${learned}; this one has ${words.length}. Expect mistakes.`);
    else if (words.length && about.kinds.length && !unknown.length && !fits(about, words))
      said.push(mayBegin(about, words) ? `${UNFINISHED} Try “${wholeFrom(about, words)}”.` : never);
    return { said: said.length || asks.length ? said.join(" ") : hint, asks };
  }

  // Words of the kind of the one where the caret is
  function offered(text) {
    const at = Math.max(0, cut(text.slice(0, input.selectionStart)).length - 1);
    const word = cut(text)[at];
    const others = about.groups.find(({ words }) => words.includes(word))?.words.filter((other) => other !== word);
    return others ? [{ lead: `In place of “${word}”:`, words: others, at, look: "live-offers" }] : [];
  }

  // `moved`: the caret was put somewhere, and nobody types
  function display(text, moved = false) {
    if (tidy(input.value) !== tidy(text)) input.value = text;
    const { said, asks } = remark(text);
    if (moved) asks.push(...offered(text));
    const key = JSON.stringify([said, asks]);
    if (note.dataset.key === key) return; // or it would be read aloud again
    note.dataset.key = key;
    note.classList.toggle("live-remark", said !== hint);
    const pointerdown = (event) => event.preventDefault(); // the field keeps the caret
    note.replaceChildren(
      ...(said ? [`${said} `] : []),
      ...asks.map(({ lead, words, at, look = "" }) =>
        html(
          "span",
          { class: `live-ask ${look}` },
          lead,
          ...words.map((word) => chip(word, () => replaceWord(at, word), { pointerdown })),
        ),
      ),
    );
  }

  return {
    start,
    display,
    write: tidy,
    read: (text) =>
      text.length <= LETTERS
        ? { value: tidy(text) }
        : { error: `${label}: expected at most ${LETTERS} letters, got ${text.length}` },
    control(name, change) {
      const id = uniqueId();
      const again = () => display(input.value, true);
      const keyup = ({ key }) => /^(Arrow|Home|End)/.test(key) && again();
      changed = change;
      input = html("input", {
        ...TYPED,
        "aria-label": label,
        "aria-describedby": id,
        maxlength: LETTERS,
        lang: "en",
        enterkeyhint: "done",
        input: () => change((typed = input.value)),
        ...(offers ? { focus: again, keyup, click: again } : {}),
        keydown: (event) => event.key === "Enter" && input.blur(),
      });
      note = html("p", { class: "live-note", id, "aria-live": "polite" });
      const words = ["Another", html("span", {}, " sentence")];
      const next = { type: "button", class: "live-another", click: another, "aria-label": "Another sentence" };
      const field = html(
        "div",
        { class: "live-field" },
        input,
        ...(examples.length ? [html("button", next, ...words)] : []),
      );
      const box = html(
        "details",
        { class: "live-known" },
        html("summary", {}, `All ${known.length} words that it knows`),
      );
      // in place of a sentence of ours a word begins the reader's own
      const ours = () => all.includes(tidy(input.value)) && tidy(input.value) !== tidy(typed);
      const add = (word) => change((typed = ours() ? word : tidy(`${input.value} ${word}`)));
      box.append(palette(about, () => true, { label: "Tap a word to add it", choose: add }));
      return html("div", { class: "live-sentence", "data-setting": name }, field, ...(about.list ? [box] : []), note);
    },
  };
}

// ---------------------------------------------------------------- words to tap

const chip = (word, click, attributes) => button(word, click, { class: "live-chip", ...attributes });

// Words in their groups, those that `wanted(word, kind)` admits; dashed, if they are `odd(word)`. `choose(word)` is called
// with the one that is tapped.
export function palette({ groups }, wanted, { label, now = null, choose, odd = () => false, more = [] }) {
  const some = groups.map(({ kind, words, ...group }) => ({ ...group, words: words.filter((w) => wanted(w, kind)) }));
  const look = (word) => `live-chip${odd(word) ? " live-odd" : ""}`;
  const chips = (words) =>
    words.map((word) => chip(word, () => choose(word), { class: look(word), "aria-pressed": `${word === now}` }));
  const rows = some
    .filter(({ words }) => words.length)
    .map((group) =>
      html(
        "div",
        { class: "live-group" },
        html("span", { class: "live-group-name" }, group.label),
        html("span", { class: "live-chips" }, ...chips(group.words)),
      ),
    );
  return html(
    "div",
    { class: "live-palette", role: "group", "aria-label": label },
    html("div", { class: "live-palette-name" }, label),
    ...rows,
    html("div", { class: "live-chips" }, ...more),
  );
}

export const kindOf = ({ groups }, word) => groups.find(({ words }) => words.includes(word))?.kind ?? "";

// ---------------------------------------------------------------- a line of words, one of which has the focus

// Arrow keys, Home and End go from word to word, Enter and the space bar choose. `pick(i)` is told which;
// with `follow` the focus alone is enough.
export function wordKeys(box, pick, { follow = false } = {}) {
  const at = (node) => [...box.children].findIndex((word) => word.contains(node));
  box.addEventListener("click", ({ target }) => at(target) >= 0 && pick(at(target)));
  box.addEventListener("keydown", (event) => {
    if (at(event.target) < 0) return;
    const key = { ArrowDown: "ArrowRight", ArrowUp: "ArrowLeft" }[event.key] ?? event.key;
    if (key === "Enter" || key === " ") pick(at(event.target));
    else if (!walk([[...box.children]], event.target, key)) return;
    else if (follow) pick(at(document.activeElement));
    event.preventDefault();
  });
}

// Writes the words of a line, as word_line of translator.py does: each with its look, and what is small beside it. With a
// role, "radio" or "button", one can choose among them; those that are `on` are chosen.
export function writeWords(box, role, items) {
  const nodes = fitted(box, items.length, () => html("span", {}, html("i"), html("b")));
  const held = nodes.findIndex((node) => node.tabIndex === 0);
  const focus = role === "radio" ? items.findIndex(({ on }) => on) : Math.max(0, held);
  nodes.forEach((node, i) => {
    const { word, look, small = "", share = 0, on = false, label = null, off = false } = items[i];
    node.className = look;
    node.firstChild.textContent = small;
    node.lastChild.textContent = word;
    node.style.setProperty("--share", share.toFixed(4));
    if (!role) return;
    const chosen = { [role === "radio" ? "aria-checked" : "aria-pressed"]: String(on) };
    set(node, { role, ...chosen, "aria-label": label, "aria-disabled": off ? "true" : null });
    node.tabIndex = i === focus ? 0 : -1;
  });
}

// ---------------------------------------------------------------- weights as a table

// A row of shares for each name, over the words of a sentence
export function weightTable(table, words, rows) {
  const head = words.map((word) => html("th", { scope: "col" }, html("span", {}, word)));
  table.tHead.rows[0].replaceChildren(html("td"), ...head);
  const cell = (share) => html("td", { style: `--share:${share.toFixed(4)}` }, fixed(share, 2));
  fillTable(
    table,
    rows.map(([name, shares]) => [name, ...shares.map(cell)]),
  );
}
