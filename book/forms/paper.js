// What only the browser can measure of the book on paper; pdf.py calls these.
"use strict";

const BOXES = "pre, .table-wrapper, .text_html, .byhand-scroll, .byhand, div.math, span.math.long, figure, svg, table";

// What is too wide becomes smaller as a whole, the innermost first: what is around it may fit then.
globalThis.fitTheWidth = () => {
  const room = (box) => box.parentElement.getBoundingClientRect().width;
  const needs = (box) => Math.max(box.scrollWidth * (box.style.zoom || 1), box.getBoundingClientRect().width);
  for (let round = 0; round < 3; round += 1) {
    const all = [...document.querySelectorAll(`article :is(${BOXES})`)];
    const wide = all.filter((box) => room(box) && needs(box) > room(box) + 1.5);
    const inner = wide.filter((box) => !wide.some((other) => other !== box && box.contains(other)));
    const zooms = inner.map((box) => ((box.style.zoom || 1) * room(box) * 0.995) / needs(box));
    inner.forEach((box, i) => (box.style.zoom = zooms[i]));
  }
};

globalThis.missingPictures = () =>
  [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src);

// Writes behind each link the number of its page; returns what leads nowhere.
globalThis.setNumbers = (numbers) => {
  const links = [...document.querySelectorAll('a[href^="#"]')];
  const place = (link) => decodeURIComponent(link.getAttribute("href").slice(1));
  for (const at of document.querySelectorAll("a > .at")) at.textContent = numbers[place(at.parentElement)];
  return links.map(place).filter((name) => !(name in numbers));
};
