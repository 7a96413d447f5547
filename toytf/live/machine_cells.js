// Tables of the machine: cells that can be changed, and as many rows and columns as there are words. Beside machine.py.
import { parsed, onPage, words } from "./engine/numbers.js";
import { button, html, set, stopAt, walk, TYPED } from "./page/make.js";
import { cellsOf, fitted } from "./page/tables.js";

const STEP = 0.1; // what the buttons below a cell add

// ---------------------------------------------------------------- tables

// A table gets as many rows and columns as there are words. Python wrote those of the start.
export function fit(table, rows, cols, width) {
  const body = table.tBodies[0];
  if (rows && rows.length < body.rows.length && table.querySelector(".b-h")) {
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })); // puts away what is open in it
  }
  if (rows) fitted(body, rows.length, () => likeNew(body.rows[0].cloneNode(true)));
  for (const row of [...(table.tHead?.rows ?? []), ...body.rows]) {
    const kind = row.parentNode === body ? "td" : "th";
    if (!cols) continue;
    const cells = row.querySelectorAll(kind);
    fitted(row, row.children.length - cells.length + width, () => likeNew(cells[0].cloneNode(true)));
    if (kind === "th") row.querySelectorAll("th").forEach((th, j) => write(th, cols[j]));
  }
  [...body.rows].forEach((row, i) => {
    const th = row.querySelector("th");
    if (rows && th) write(th, rows[i]);
  });
  const named = table.caption ?? table.closest(".byhand").querySelector(".byhand-title");
  const shape = named?.querySelector(".byhand-shape");
  if (shape) write(shape, `${body.rows.length} × ${width}`);
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A panel whose numbers have become longer, or more, asks for more room in its line. (byhand/panels.py: _Matrix)
export function widen({ node, decimals, sci }, rows, value) {
  const longest = Math.max(...words(value, decimals, sci).flat().map(lengthOf)) + 0.9;
  const least = node.querySelector(".byhand-result.live-weights-table") ? 3.2 : 0; // room for a finger
  const need =
    Math.max(...rows.map((row) => row.length)) * 0.78 + 0.5 + Math.max(longest, least) * value[0].length + 0.5;
  const has = Number(/\bs(\d+)/.exec(node.className)[1]);
  node.style.setProperty("--w", `${Math.ceil(Math.max(need, has))}ch`);
}

// Powers, and the spaces around their ×, are narrower than digits.
const lengthOf = (word) =>
  [...word].reduce((all, c) => all + (c === " " ? 0.5 : "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".includes(c) ? 0.83 : 1), 0);

function likeNew(node) {
  for (const td of [node, ...node.querySelectorAll("td")]) {
    td.removeAttribute("class");
    td.removeAttribute("aria-selected");
    if (td.hasAttribute("tabindex")) td.tabIndex = -1;
  }
  return node;
}

// ---------------------------------------------------------------- cells that can be changed

export const readCell = (text) => {
  const value = parsed(text);
  if (value === undefined) return { error: `expected a number, got “${text.trim() || "nothing"}”` };
  if (!Number.isFinite(value)) return { error: `expected a number up to 1.797e308, got ${onPage(text.trim())}` };
  return { value };
};

// A table of weights: one tab stop, arrow keys walk, Enter, a digit, a click or a tap opens a cell.
export class Weights {
  constructor(owner, panel, blocks) {
    Object.assign(this, { owner, panel, blocks, table: panel.operands[0] ?? panel.result });
    this.table.classList.add("live-weights-table");
    this.table.setAttribute("role", "grid");
    this.table.addEventListener("click", (event) => this.clicked(event));
    this.table.addEventListener("keydown", (event) => this.pressed(event));
    this.table.addEventListener("pointerover", (event) => event.stopPropagation()); // there is no sum to show
  }

  grid() {
    return cellsOf(this.table);
  }

  // The blocks' rows below each other, each with its cells' names; of embeddings those of the words that are read
  places(ids = this.owner.read.ids) {
    const { matrices, vocabularies } = this.owner.data;
    const width = this.grid()[0].length;
    return this.blocks.flatMap(({ name, says, words, shift }) => {
      const place = (start, label) => ({
        says: label,
        names: Array.from({ length: width }, (_, j) => `${start}.${shift + j}`),
      });
      if (!Array.isArray(matrices[name][0])) return [place(name, says)];
      const rows = ids[words] ?? [...matrices[name].keys()];
      return rows.map((row) =>
        place(`${name}.${row}`, words ? `${says} ${vocabularies[words][row]}` : `${says}, row ${row + 1}`),
      );
    });
  }

  allLabels() {
    const { target } = this.owner.data.vocabularies;
    const column = (name, j) => (name.startsWith("out.") ? target[j] : `column ${j + 1}`);
    return Object.fromEntries(
      this.places({}).flatMap(({ says, names }) => names.map((name, j) => [name, `${says}, ${column(name, j)}`])),
    );
  }

  paint() {
    const { owner } = this;
    const grid = this.grid();
    // a row that went away took its box along
    if (!this.table.querySelector("input")) this.panel.node.querySelector(".live-tools")?.remove();
    const names = this.places().map((place) => place.names);
    const values = names.map((row) => row.map((name) => owner.state[name]));
    const text = words(values, this.panel.decimals);
    grid.forEach((row, i) =>
      row.forEach((td, j) => {
        const name = names[i][j];
        td.dataset.cell = name;
        if (!td.hasAttribute("tabindex")) td.tabIndex = i || j ? -1 : 0;
        if (td.querySelector("input")) return;
        write(td, text[i][j]);
        const label = `${owner.labels[name]}: ${onPage(String(values[i][j]))}`;
        if (td.getAttribute("aria-label") !== label) td.setAttribute("aria-label", label);
        td.classList.toggle("live-changed", !Object.is(values[i][j], owner.can[name].start));
      }),
    );
    if (!grid.flat().some((td) => td.tabIndex === 0)) grid[0][0].tabIndex = 0;
  }

  clicked(event) {
    const td = event.target.closest("tbody td");
    if (!td) return;
    event.stopPropagation(); // a panel's own answer to a click is for results
    if (!td.querySelector("input")) this.open(td);
  }

  pressed(event) {
    const td = event.target.closest("tbody td");
    if (!td || event.altKey || event.ctrlKey || event.metaKey || event.target !== td) return;
    if (event.key === "Enter" || event.key === "F2") this.open(td);
    else if (/^[\d.,−-]$/.test(event.key)) this.open(td, event.key);
    else if (!this.walk(td, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  walk(td, key) {
    const grid = this.grid();
    const turned = getComputedStyle(this.table).display === "flex"; // on a phone: rows stand as columns
    return walk(turned ? grid[0].map((_, j) => grid.map((row) => row[j])) : grid, td, key);
  }

  // The cell becomes a box to type in, with buttons below its panel, or where there is room above its table.
  open(td, typed = null) {
    const { owner } = this;
    const name = td.dataset.cell;
    const width = td.getBoundingClientRect().width;
    const label = { "aria-label": owner.labels[name] };
    const input = html("input", { ...TYPED, ...label, inputmode: "decimal", class: "live-cell" });
    const complaint = html("p", { class: "live-complaint", role: "alert" });
    const tools = html("div", { class: "live-tools" });
    let done = false;
    const close = () => {
      done = true;
      input.remove();
      tools.remove();
      td.removeAttribute("style");
      this.paint();
    };
    const complain = (error) => {
      complaint.textContent = error ?? "";
      if (error) complaint.scrollIntoView({ block: "nearest" });
      set(input, { "aria-invalid": error && "true" });
    };
    // Whether what stands in the box is taken
    const take = () => {
      const { value, error } = owner.can[name].read(input.value);
      complain(error);
      if (!error && !Object.is(value, owner.state[name])) owner.change({ [name]: value });
      return !error;
    };
    const put = (change) => {
      const { value } = owner.can[name].read(input.value);
      if (value === undefined) return;
      input.value = onPage(String(change(value)));
      take();
    };
    const mousedown = (event) => event.preventDefault();
    const tool = (sign, says, change) =>
      button(sign, () => put(change), { tabindex: -1, "aria-label": says, mousedown });
    const by = (step) => (x) => Number((x + step).toPrecision(12));
    tools.append(
      tool("±", "other sign", (x) => -x || 0),
      tool(`−${STEP}`, `${STEP} less`, by(-STEP)),
      tool(`+${STEP}`, `${STEP} more`, by(STEP)),
      tool("put back", "as unchanged", () => owner.can[name].start),
      complaint,
    );
    input.value = typed ?? onPage(String(owner.state[name]));
    input.style.width = `${Math.max(width, 48)}px`;
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && take()) close();
      else if (event.key === "Escape") close();
      else if (event.key === "ArrowUp" || event.key === "ArrowDown") put(by(event.key === "ArrowUp" ? STEP : -STEP));
      else return;
      event.preventDefault();
      if (done) {
        stopAt(this.grid(), td);
        td.focus();
      }
    });
    input.addEventListener("input", () => complain());
    input.addEventListener("blur", ({ relatedTarget }) => {
      if (tools.contains(relatedTarget)) input.focus(); // a finger on a button below
      else if (!done && take()) close();
    });
    const box = getComputedStyle(td);
    Object.assign(td.style, { minWidth: box.width, height: box.height }); // it stays as wide meanwhile
    td.textContent = "";
    td.removeAttribute("aria-label");
    td.append(input);
    const [panel, table] = [this.panel.node, this.table.tHead ?? this.table].map((node) =>
      node.getBoundingClientRect(),
    );
    tools.style.setProperty("--up", `${panel.bottom - table.top}px`);
    this.panel.node.append(tools);
    tools.scrollIntoView({ block: "nearest" });
    input.focus();
    if (typed === null) input.select();
  }
}
