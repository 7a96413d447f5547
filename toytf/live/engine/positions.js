// Positional encodings. Beside toytf/positions.py.
export const BASE = 10000;

// PE[pos, 2i] = sin(pos / 10000^(2i / d_model)), PE[pos, 2i + 1] = cos of the same angle
export function sinusoids(length, dModel, start = 0) {
  return table(length, dModel, (pos, column) => {
    const i = Math.floor(column / 2);
    const angle = (pos + start) / BASE ** ((2 * i) / dModel);
    return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

// The one fixed matrix that moves every position by k: PE[pos + k] = PE[pos] shift(k)
export function shift(k, dModel) {
  const angle = (pair) => k / BASE ** ((2 * pair) / dModel);
  return table(dModel, dModel, (row, column) => {
    const pair = Math.floor(row / 2);
    if (Math.floor(column / 2) !== pair) return 0;
    if (row === column) return Math.cos(angle(pair));
    return row > column ? Math.sin(angle(pair)) : -Math.sin(angle(pair));
  });
}

const table = (rows, columns, entry) =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (__, j) => entry(i, j)));
