// A picture of lines and marks in a plane, as live/element.py draws it (chart): there it is described.
import { fixed, onPage } from "../engine/numbers.js";

const [LEFT, TOP, WIDE, HIGH] = [50, 8, 264, 180];
const SHAPES = { square: "M-4 -4h8v8h-8z", disc: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z" };
const short = (x) => fixed(x, 1);

export function chart(node, { alt, x, y, ticks, lines, marks = [], texts = [], below = [] }) {
  const right = (a) => (WIDE * (a - x[0])) / (x[1] - x[0]);
  const down = (b) => (HIGH * (y[1] - b)) / (y[1] - y[0]);
  const at = ([a, b]) => `${short(right(a))} ${short(down(b))}`;
  const text = (a, b, words, look = "", anchor = "middle") =>
    `<text class="${look}" x="${short(a)}" y="${short(b)}" text-anchor="${anchor}">${words}</text>`;
  const ends = [
    [LEFT, "start"],
    [LEFT + WIDE, "end"],
  ];
  const names = [
    ...ticks[0].map(([v, word]) => text(LEFT + right(v), TOP + HIGH + 15, word, "", v === x[1] ? "end" : "middle")),
    ...ticks[1].map(([v, word]) => text(LEFT - 6, TOP + down(v) + 4, word, "", "end")),
    ...below.map((word, k) =>
      below.length === 1 ? text(LEFT + WIDE / 2, 217, word) : text(ends[k][0], 217, word, "", ends[k][1]),
    ),
  ];
  const drawn = [
    ...ticks[1].map(([v]) => `<path class="grid" d="M0 ${short(down(v))}H${WIDE}"/>`),
    ...lines.map(([look, points]) => `<path class="${look}" d="M${points.map(at).join("L")}"/>`),
    ...marks.map(
      ([look, shape, point]) => `<path class="mark ${look}" transform="translate(${at(point)})" d="${SHAPES[shape]}"/>`,
    ),
    ...texts.map(([look, [a, b], words, by]) =>
      text(right(a), down(b) + by, words, look, look.includes("end") ? "end" : "middle"),
    ),
  ];
  const plane = `<svg x="${LEFT}" y="${TOP}" width="${WIDE}" height="${HIGH}">${drawn.join("")}</svg>`;
  node.innerHTML = names.join("") + plane;
  node.setAttribute("aria-label", alt);
}

export const power = (p) => (p ? `10<tspan dy="-4">${onPage(String(p))}</tspan>` : "1");
