// Makes one document for paper of the pages of the site. print_pdf.py calls the functions of
// `paperbook` in Chromium, in this order:
//   assemble(pages, book)  one article each, ids and links of its own, nothing to press
//   fit()                  what is wider than the paper becomes smaller
//   keep()                 what belongs together is one box
//   number(places)         the number of its page behind each link
globalThis.paperbook = (() => {
  "use strict";

  const TALL = 600; // pixels: what is higher may be cut where it has parts
  const SHORT = 700; // characters of sums that a panel shows; a longer list shows its first
  const GONE = [
    "details.hide",
    ".headerlink",
    ".copybtn",
    "script",
    "style",
    "button",
    "input",
    "template",
    "toytf-answer",
    ".live-controls",
    ".live-foot",
    ".live-said",
    ".live-complaint",
    ".byhand-live",
    ".byhand-all",
    ".print-page",
  ].join(",");
  // Attributes that name ids.
  const NAMES = ["for", "headers", "aria-labelledby", "aria-describedby", "aria-controls"];

  const make = (tag, name, ...inside) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...inside);
    return node;
  };

  // --- one page -------------------------------------------------------------------------------

  function readPage(page) {
    const parsed = new DOMParser().parseFromString(page.html, "text/html");
    const article = parsed.querySelector("article");
    article.querySelectorAll(GONE).forEach((node) => node.remove());
    // a cell of which all is hidden
    article.querySelectorAll(".cell").forEach((cell) => {
      if (!cell.firstElementChild) cell.remove();
    });
    return article;
  }

  // An id is the page's name and the old id, so that no two pages have the same.
  function rename(article, key) {
    const named = (id) => `${key}.${id}`;
    for (const node of article.querySelectorAll("*")) {
      if (node.id) node.id = named(node.id);
      for (const name of NAMES) {
        const value = node.getAttribute(name);
        if (value) node.setAttribute(name, value.split(/\s+/).map(named).join(" "));
      }
      for (const { name, value } of node.attributes) {
        if (value.includes("url(#")) node.setAttribute(name, value.replaceAll("url(#", `url(#${key}.`));
      }
      if (node.localName === "use") {
        const name = node.hasAttribute("href") ? "href" : "xlink:href";
        const to = node.getAttribute(name) ?? "";
        if (to.startsWith("#")) node.setAttribute(name, `#${named(to.slice(1))}`);
      }
    }
  }

  function keyOf(name) {
    return name.replace(/^.*\//, "");
  }

  // Links lead to the places in this document; what leads elsewhere in the site is words.
  function relink(article, page, keys, site) {
    for (const image of article.querySelectorAll("img")) {
      image.src = new URL(image.getAttribute("src"), `${site}${page.name}.html`).href;
    }
    for (const link of article.querySelectorAll("a[href]")) {
      const href = link.getAttribute("href");
      const to = new URL(href, `book:/${page.name}.html`);
      if (to.protocol !== "book:") continue;
      const key = keys.get(to.pathname.replace(/^\//, "").replace(/\.html$/, ""));
      if (key === undefined) {
        link.replaceWith(...link.childNodes);
        continue;
      }
      const id = decodeURIComponent(to.hash.slice(1)).split("?")[0];
      link.dataset.to = id ? `${key}.${id}` : key;
      link.dataset.page = key;
    }
  }

  function checkLinks() {
    const problems = [];
    for (const link of document.querySelectorAll("a[data-to]")) {
      let { to, page } = link.dataset;
      // an entry of a panel, `panel-3.0.2`, is where the panel is
      if (!document.getElementById(to)) to = to.replace(/(panel-\d+)[.\d]*$/, "$1");
      if (!document.getElementById(to)) {
        problems.push(`${link.closest("article")?.id}: no place ${to}`);
        to = page;
      }
      link.href = `#${to}`;
      link.dataset.to = to;
    }
    return problems;
  }

  // --- what opens on the site -------------------------------------------------------------------

  function openPanels(article) {
    for (const details of article.querySelectorAll("details.byhand-sums")) {
      const sums = [...details.querySelectorAll(":scope > p")];
      const box = make("div", "byhand-sums");
      let room = SHORT;
      const shown = sums.filter((sum, i) => {
        room -= sum.textContent.length;
        return i === 0 || room >= 0;
      });
      box.append(...shown);
      const left = sums.length - shown.length;
      if (left)
        box.append(
          make("p", "sums-left", `${left} more like ${shown.length > 1 ? "these" : "this"} open on the site.`),
        );
      details.replaceWith(box);
    }
    for (const details of article.querySelectorAll("details")) details.open = true;
  }

  // Solutions stand at the chapter's end, each with the way to it and back.
  function moveSolutions(article, key) {
    const solutions = [...article.querySelectorAll("details.solution")];
    if (!solutions.length) return;
    const section = make("section", "answers");
    section.id = `${key}.solutions`;
    section.append(make("h2", "", "Solutions"));
    for (const details of solutions) {
      const exercise =
        document.getElementById(details.id.replace(".sol-", ".ex-")) ??
        article.querySelector(`#${CSS.escape(details.id.replace(".sol-", ".ex-"))}`);
      const title = exercise?.querySelector(".admonition-title");
      const number = /[\d.]+\d/.exec(title?.textContent ?? "")?.[0] ?? "";
      const answer = make("div", "answer");
      answer.id = details.id;
      const back = make("a", "", `Exercise ${number}`);
      back.dataset.to = exercise?.id ?? key;
      back.dataset.page = key;
      back.dataset.numbered = "";
      answer.append(make("h3", "", back));
      details.querySelector("summary").remove();
      answer.append(...details.childNodes);
      section.append(answer);
      if (title) {
        const to = make("a", "to-answer", "Solution");
        to.dataset.to = answer.id;
        to.dataset.page = key;
        to.dataset.numbered = "";
        exercise.append(make("p", "to-answer", to));
      }
      details.remove();
    }
    article.append(section);
  }

  // --- the front ------------------------------------------------------------------------------

  function titlePage(book) {
    const page = make("section", "title-page");
    const logo = make("img");
    logo.src = book.logo;
    logo.alt = "";
    page.append(logo, make("p", "title", book.title), make("p", "author", book.author));
    page.append(make("p", "edition", ...book.edition.flatMap((line) => [line, make("br")])));
    return page;
  }

  function contents(parts) {
    const nav = make("nav", "contents");
    nav.id = "contents";
    nav.append(make("h1", "", "Contents"));
    const line = (name, heading) => {
      const link = make("a", "", make("span", "", ...heading));
      link.dataset.numbered = "";
      link.dataset.to = name;
      link.dataset.page = name;
      return make("p", "line", link);
    };
    for (const part of parts) {
      if (part.caption) nav.append(make("h2", "part", part.caption));
      for (const { key, article } of part.articles) {
        const box = make("div", "chapter");
        box.append(line(key, [article.querySelector("h1").textContent]));
        for (const h2 of article.querySelectorAll("h2")) {
          const id = h2.closest("[id]").id;
          const entry = line(id, [h2.textContent]);
          entry.classList.add("of-section");
          box.append(entry);
        }
        nav.append(box);
      }
    }
    return nav;
  }

  function assemble(parts, book) {
    const keys = new Map(parts.flatMap(({ pages }) => pages).map(({ name }) => [name, keyOf(name)]));
    if (new Set(keys.values()).size < keys.size) throw new Error("two pages have one name");
    const heads = [];
    const made = parts.map((part) => ({
      caption: part.caption,
      articles: part.pages.map((page) => {
        const key = keys.get(page.name);
        const article = readPage(page);
        rename(article, key);
        relink(article, page, keys, book.site);
        openPanels(article);
        moveSolutions(article, key);
        article.id = key;
        const title = article.querySelector("h1").textContent;
        heads.push(`article[id="${key}"] { page: c${heads.length}; }
          @page c${heads.length} { @top-left { content: ${JSON.stringify(title)}; } }`);
        return { key, article };
      }),
    }));
    document.body.append(titlePage(book), contents(made));
    for (const { articles } of made) document.body.append(...articles.map(({ article }) => article));
    document.head.append(make("style", "", heads.join("\n")));
    const problems = checkLinks();
    for (const link of document.querySelectorAll("a[data-to]")) {
      const here = link.closest("article")?.id;
      if (here !== link.dataset.page || "numbered" in link.dataset) {
        const at = make("span", "at", make("span", "", "000"));
        if (link.closest("article, .answer")) at.prepend("p.\u00a0");
        link.append(at);
      }
    }
    return problems;
  }

  // --- sizes ------------------------------------------------------------------------------------

  const BOXES =
    "pre, .table-wrapper, .text_html, .byhand-scroll, .byhand, div.math, span.math.long, figure, svg, table";

  // What is too wide becomes smaller as a whole. Widths are read first, then written.
  function fit() {
    const least = [];
    for (let round = 0; round < 3; round += 1) {
      const wide = [];
      for (const box of document.querySelectorAll(`article :is(${BOXES})`)) {
        const room = box.parentElement.getBoundingClientRect().width;
        const inside = box.scrollWidth * (Number(box.style.zoom) || 1);
        const needs = Math.max(inside || 0, box.getBoundingClientRect().width);
        if (room && needs > room + 1.5) wide.push([box, room / needs]);
      }
      // the innermost alone: what is around it may fit then
      const boxes = new Set(wide.map(([box]) => box));
      const inner = wide.filter(([box]) => ![...box.querySelectorAll("*")].some((node) => boxes.has(node)));
      for (const [box, ratio] of inner) {
        const zoom = (Number(box.style.zoom) || 1) * ratio * 0.995;
        box.style.zoom = zoom.toFixed(3);
      }
      if (!inner.length) break;
    }
    for (const box of document.querySelectorAll("[style*=zoom]")) {
      const what = `${box.localName} ${box.className}`.trim();
      least.push(`${box.closest("article").id}: ${what} to ${Math.round(100 * box.style.zoom)} %`);
    }
    return least;
  }

  // Chromium lets a heading stand alone before a table that begins on the next page. So both are one box.
  function keep() {
    for (const table of document.querySelectorAll("article .table-wrapper")) {
      const before = table.previousElementSibling;
      if (before && before.matches("h1, h2, h3, h4, p")) {
        const box = make("div", table.offsetHeight < TALL ? "keep" : "keep-head");
        before.before(box);
        box.append(before, table);
      }
    }
    for (const live of document.querySelectorAll("article .live")) {
      if (live.offsetHeight < 1.5 * TALL) live.classList.add("keep");
    }
  }

  function pictures() {
    return [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src);
  }

  // Level, words and place of each bookmark, in the contents' order. A part has no place of its own.
  function headings() {
    let base = 0; // what stands before the first part is as high as a part
    return [...document.querySelectorAll(".contents > h2, .contents .line a")].map((node) => {
      if (node.localName === "h2") {
        base = 1;
        return [0, node.textContent, ""];
      }
      const level = node.parentElement.classList.contains("of-section") ? base + 1 : base;
      return [level, node.firstElementChild.textContent, node.dataset.to];
    });
  }

  function targets() {
    return [...new Set([...document.querySelectorAll("a[data-to]")].map((link) => link.dataset.to))];
  }

  function number(places) {
    for (const link of document.querySelectorAll("a[data-to]")) {
      const at = link.querySelector(":scope > .at > span");
      if (at) at.textContent = places[link.dataset.to] ?? "?";
    }
  }

  return { assemble, fit, headings, keep, number, pictures, targets };
})();
