// Panels and bars that Python wrote: their numbers follow.
import { words, fixed, onPage, small } from "../engine/numbers.js";
import { html } from "./make.js";

// As many children as there are things; `make` makes those that are missing
export function fitted(parent, n, make) {
  while (parent.children.length > n) parent.lastElementChild.remove();
  while (parent.children.length < n) parent.append(make());
  return [...parent.children];
}

export const cellsOf = (table) => [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);

// A panel of toytf.byhand (byhand/panels.py): operands, result, and the sum of each entry.
export class Panel {
  constructor(node, { decimals = 4, sci = false, least = 0 } = {}) {
    const tables = [...node.querySelectorAll("table.byhand-matrix")];
    this.node = node;
    Object.assign(this, { decimals, sci, least });
    this.result = tables.find((table) => table.matches(".byhand-result"));
    this.operands = tables.filter((table) => table !== this.result);
    this.rows = [...this.result.tBodies[0].rows].map((row) => row.querySelector("th")?.textContent ?? "");
    this.cols = [...(this.result.tHead?.querySelectorAll("th") ?? [])].map((th) => th.textContent);
    this.signs = [...node.querySelectorAll(".b-sign")];
    this.allSums = node.querySelector(".byhand-sums");
    this.allSums?.addEventListener("toggle", () => this.allSums.open && this.writeSums());
    // Paper shows them all, and is made before a disclosure that opens for it says so.
    addEventListener("beforeprint", () => this.writeSums());
    node.toytfSum = (i, j) => this.sum?.(i, j); // panel.js asks this
  }

  // "Hello, 2", as byhand names an entry
  where(i, j) {
    const column = this.cols.length ? this.cols[j].replaceAll("\u00a0", " ") : this.columns > 1 ? String(j + 1) : "";
    return [this.rows[i] || String(i + 1), column].filter(Boolean).join(", ");
  }

  // New numbers: matrices in the order in which the page has the operands, the result, and a function that gives the
  // sum of entry (i, j) as HTML. `sign` is what stands before the result: "/ 2 =". `start`, if given, is what the
  // result was at first: what differs is marked.
  set({ operands = [], result, sum, sign = null, start = null }) {
    this.columns = result[0].length;
    operands.forEach((matrix, k) => matrix && writeMatrix(this.operands[k], matrix, this));
    writeMatrix(this.result, result, this, start);
    this.sum = sum && ((i, j) => ended(sum(this.where(i, j), i, j), cellsOf(this.result)[i][j].textContent));
    this.size = [result.length, result[0].length];
    if (sign !== null) {
      const rounded = this.sums().some((line) => line.includes("≈")); // as byhand/panels.py
      const last = this.signs.at(-1);
      last.textContent = rounded ? sign.replace("=", "≈") : sign;
      last.parentNode.style.setProperty("--sign", `${sign.length + 1}ch`);
    }
    if (this.allSums?.open) this.writeSums();
    this.node.dispatchEvent(new CustomEvent("toytf-changed", { bubbles: true }));
  }

  sums() {
    const [rows, columns] = this.size;
    return Array.from({ length: rows * columns }, (_, k) => this.sum(Math.floor(k / columns), k % columns));
  }

  writeSums() {
    if (!this.allSums || !this.sum) return;
    const lines = this.sums();
    [...this.allSums.querySelectorAll("p")].forEach((line) => line.remove());
    // a row as one sum has it for each of its entries
    for (const line of new Set(lines)) this.allSums.appendChild(html("p")).innerHTML = line;
  }
}

// A sum ends with its number as the table has it, 0.0900 and not 0.09: as byhand/panels.py
function ended(line, word) {
  const end = line.split(" ").at(-1);
  return word.startsWith(end) && /^\.?0*$/.test(word.slice(end.length)) ? line.slice(0, -end.length) + word : line;
}

export function writeMatrix(table, matrix, { decimals = 4, sci = false, least = 0 } = {}, start = null) {
  const text = words(matrix, decimals, sci, least);
  cellsOf(table).forEach((row, i) =>
    row.forEach((td, j) => {
      // who types there goes on
      if (td.textContent !== text[i][j] && !td.querySelector("input")) td.textContent = text[i][j];
      td.classList.toggle("live-nan", Number.isNaN(matrix[i][j]));
      const changed = start !== null && !Object.is(start[i][j], matrix[i][j]);
      td.classList.toggle("live-changed", changed);
    }),
  );
}

// Bars from 0 to 1 beside their numbers: a table, which Python wrote (live/element.py)
export class Bars {
  constructor(table, { sci = false } = {}) {
    Object.assign(this, { table, sci });
  }

  // All values or those of some places, in that order; `names` has new names for all places, `lit` is one of them
  set(values, { at = [...values.keys()], names = null, lit = null } = {}) {
    const body = this.table.tBodies[0];
    const rows = fitted(body, at.length, () => body.rows[0].cloneNode(true));
    at.forEach((place, i) => {
      const value = values[place];
      const [name, bar, number] = rows[i].cells;
      if (names) name.textContent = names[place];
      bar.style.setProperty("--share", Number.isFinite(value) ? value : 0);
      rows[i].classList.toggle("live-lit", place === lit);
      number.textContent = (this.sci && small(value, 4)) || onPage(fixed(value, 4));
      number.classList.toggle("live-nan", Number.isNaN(value));
    });
  }
}

// Writes the lines of a table: what stands to the left, then cells
export const fillTable = (table, lines) =>
  table.tBodies[0].replaceChildren(
    ...lines.map(([name, ...cells]) => {
      const boxes = cells.map((cell) => (cell instanceof Node ? cell : html("td", {}, onPage(String(cell)))));
      return html("tr", {}, html("th", { scope: "row" }, name), ...boxes);
    }),
  );
