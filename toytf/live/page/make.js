// Making elements of the page.
let made = 0;

// set(node, { role: "button", click: reset }): a function listens, true is an attribute without a value, null is none
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === false || value === null || value === undefined) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}

function filled(node, attributes, children) {
  set(node, attributes).append(...children);
  return node;
}

// html("button", { type: "button", click: reset }, "Reset")
export const html = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const button = (words, click, attributes = {}) =>
  html("button", { type: "button", ...attributes, click }, words);
// A matrix's name as panels have it: the letter of W raised
export const named = (text) =>
  text.split(/(?<=\bW)([QKVO])(?![A-Za-z])/).map((part, k) => (k % 2 ? html("sup", {}, part) : part));
export const uniqueId = () => `live-${(made += 1)}`;

// Of a field in which no keyboard of a phone shall mend anything
export const TYPED = {
  type: "text",
  autocomplete: "off",
  autocapitalize: "off",
  autocorrect: "off",
  spellcheck: "false",
};

// ---------------------------------------------------------------- a grid of nodes, which is one stop of the tab key

export function stopAt(grid, node) {
  for (const other of grid.flat()) other.tabIndex = other === node ? 0 : -1;
}

// Goes where an arrow key, Home or End leads from a node. Whether it is one of these keys
export function walk(grid, node, key) {
  const i = grid.findIndex((row) => row.includes(node));
  const j = grid[i].indexOf(node);
  const ways = { ArrowRight: [i, j + 1], ArrowLeft: [i, j - 1], ArrowDown: [i + 1, j], ArrowUp: [i - 1, j] };
  const to = { ...ways, Home: [i, 0], End: [i, grid[i].length - 1] }[key];
  const next = to && grid[to[0]]?.[to[1]];
  if (next) {
    stopAt(grid, next);
    next.focus();
  }
  return Boolean(to);
}
