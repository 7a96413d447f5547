// The search page: words are Sphinx's, numbers are ours. A number as it is printed, its beginning, or more of
// its digits than are printed, leads to every step that prints it. Works from the disk too.
(() => {
  "use strict";

  // Summaries are fetched; from the disk browsers refuse that, and say so in the console.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  // As in book/_ext/toytf_numbers.py, with the sign and the power of ten: "−2.7 × 10^−6", "2.7e-06".
  const NUMBER =
    /(?<sign>(?<![\w)\]] ?)[-−])?(?<![\d."])(?<!xercise )(?<digits>\d+\.\d+)(?<e>e[-−+]?\d+)?(?![\d.]*\d)(?: × 10\^(?<power>[-−]?\d+))?/g;
  const MOST = 200;
  const TYPE = "Type it as it is printed, with a point: 0.2244, -1.5 or 2.3e-10.";

  const plain = (text) => text.replaceAll("−", "-");
  const looksLikeNumber = (text) => /^[-+−]?[\d.,]*\d[\d.,]*(e[-+−]?\d*)?$/i.test(text.trim());

  // { text: "0.2244", sign: "-", power: 0 } of what was typed, or the reason why not
  function parse(typed) {
    const text = plain(typed.trim().toLowerCase()).replace(/^\+/, "");
    if (/^-?\d*,\d+(e-?\d+)?$/.test(text)) return { advice: text.replace(",", ".") };
    const parts = /^(-?)(\d*\.\d+|\d+(?=e))(?:e([-+]?\d+))?$/.exec(text);
    if (!parts) {
      const whole = /^-?\d+$/.test(text);
      return { error: whole ? "Whole numbers stand everywhere, so they are not listed." : "This is not a number." };
    }
    const digits = parts[2].startsWith(".") ? `0${parts[2]}` : parts[2];
    return { sign: parts[1], digits, power: Number(parts[3] ?? 0) };
  }

  // every place of the book: { sign, digits, power, raw, page, href, what, more }
  let places = null;
  function readIndex() {
    places = [];
    window.toytfNumbers.forEach(([address, title, ids, lines, panels], page) => {
      const seen = new Map();
      for (const [panel, name, rows, cols, cells, more] of panels) {
        const add = (text, i, j, inSum) => {
          const labels = [rows[i], cols[j]].filter(Boolean).join(", ");
          for (const match of text.matchAll(NUMBER)) {
            places.push({
              ...read(match),
              page,
              title,
              href: `${address}#panel-${panel}.${i}.${j}`,
              what: `${name} [${labels || `${i + 1}, ${j + 1}`}]${inSum ? ", in its sum" : ""}`,
              panel: true,
              inSum,
            });
          }
        };
        cells.forEach((row, i) => row.forEach((cell, j) => add(cell, i, j, false)));
        more.forEach(([i, j, text]) => add(text, i, j, true));
      }
      for (const [place, text, figure] of lines) {
        for (const match of text.matchAll(NUMBER)) {
          const number = read(match);
          const key = `${place} ${number.raw}`;
          seen.set(key, (seen.get(key) ?? 0) + 1);
          const asked = new URLSearchParams({ number: number.raw, in: ids[place][0], nth: seen.get(key) });
          places.push({
            ...number,
            page,
            title,
            href: `${address}#${asked}`,
            text,
            figure,
            heading: ids[place][1],
            start: match.index,
            length: match[0].length,
          });
        }
      }
    });
  }
  function read({ groups }) {
    const power = Number(plain(groups.power ?? groups.e?.slice(1) ?? "0"));
    return { sign: groups.sign ? "-" : "", digits: groups.digits, power, raw: plain(groups.digits + (groups.e ?? "")) };
  }

  // The places that print it; or with the other sign; or what it begins; or what it rounds to.
  function find({ sign, digits, power }) {
    const sized = places.filter((place) => place.power === power);
    const signed = sized.filter((place) => !sign || place.sign === sign);
    for (const [how, among] of [
      ["", signed],
      ["unsigned", sized],
    ]) {
      const exact = among.filter((place) => place.digits === digits);
      // a page that says it openly need not be read for its sums
      const open = new Set(exact.filter((place) => !place.inSum).map((place) => place.page));
      const shown = exact.filter((place) => !place.inSum || !open.has(place.page));
      if (shown.length) return [how, shown];
    }
    const begins = signed.filter((place) => place.digits.startsWith(digits));
    if (begins.length) return ["begins", begins];
    const rounded = signed.filter((place) => {
      const decimals = place.digits.split(".")[1].length;
      return (
        decimals >= 2 &&
        decimals < (digits.split(".")[1] ?? "").length &&
        Number(digits).toFixed(decimals) === place.digits &&
        Number(place.digits) !== 0
      );
    });
    return ["rounds", rounded];
  }

  function element(tag, parent, text) {
    const made = parent.appendChild(document.createElement(tag));
    if (text) made.textContent = text;
    return made;
  }
  // 10^−6 with a raised exponent, the number itself marked
  function words(parent, text) {
    for (const part of text.split(/(\^[-−]?\d+)/)) {
      if (/^\^[-−]?\d/.test(part)) element("sup", parent, part.slice(1));
      else parent.append(part);
    }
  }

  function show(found, out) {
    let page = null;
    let list = null;
    let last = null;
    for (const place of found.slice(0, MOST)) {
      if (place.page !== page) {
        page = place.page;
        element("h3", out, place.title);
        list = element("ul", out);
      }
      // one line of a page that prints it twice is listed once
      if (last && last.page === place.page && !place.panel && last.text === place.text) continue;
      last = place;
      const item = element("li", list);
      item.className = "number-found";
      const link = element("a", item);
      link.href = place.href;
      if (place.panel) {
        element("b", link, place.what);
        words(
          link,
          ` = ${place.sign.replace("-", "−")}${place.digits}` +
            (place.power ? ` × 10^${String(place.power).replace("-", "−")}` : ""),
        );
      } else {
        if (place.figure !== undefined) link.append(`Figure: ${place.figure} … `);
        const all = place.text;
        const from = place.figure === undefined ? 0 : place.start;
        words(link, all.slice(from, place.start));
        words(element("mark", link), all.slice(place.start, place.start + place.length));
        if (place.figure === undefined) words(link, all.slice(place.start + place.length));
        if (place.heading) element("span", item, place.heading).className = "context";
      }
    }
    if (found.length > MOST) element("p", out, `and ${found.length - MOST} more places; type another digit.`);
  }

  function answer(typed) {
    const out = document.getElementById("search-results");
    out.replaceChildren();
    const asked = parse(typed);
    if (asked.error) {
      element("h2", out, asked.error);
      element("p", out, TYPE);
      return;
    }
    if (asked.advice) {
      const link = element("a", element("h2", out, "Decimals have a point here: "), asked.advice);
      link.href = `?q=${encodeURIComponent(asked.advice)}`;
      element("p", out, TYPE);
      return;
    }
    if (!places) readIndex();
    const [how, found] = find(asked);
    const name = typed.trim();
    const count = `${found.length} ${found.length === 1 ? "place" : "places"}`;
    const told = {
      "": `${name} stands in ${count}`,
      begins: `No page prints ${name} alone; ${count} with a number that begins so`,
      unsigned: `No page prints ${name}; without the sign it stands in ${count}`,
      rounds: `No page prints ${name}; rounded it stands in ${count}`,
    };
    element("h2", out, found.length ? told[how] : `No page prints ${name}.`);
    if (!found.length) element("p", out, TYPE);
    show(found, out);
  }

  // Beside the pages, each heading that has the word in it.
  const findPages = Search.performTermsSearch;
  Search.performTermsSearch = (wanted, unwanted) => {
    const { alltitles, docnames, filenames, titles } = Search._index;
    const stems = new Stemmer();
    const found = findPages(wanted, unwanted);
    for (const [heading, at] of Object.entries(alltitles)) {
      const has = new Set(splitQuery(heading.toLowerCase()).map((word) => stems.stemWord(word)));
      if (!wanted.size || ![...wanted].every((word) => has.has(word))) continue;
      for (const [page, id] of at) {
        if (id !== null && titles[page] !== heading) {
          found.push([docnames[page], `${titles[page]} > ${heading}`, `#${id}`, null, 20, filenames[page]]);
        }
      }
    }
    return found;
  };

  // A page's own title is no heading of it: "11. Masks > Masks".
  const findAll = Search._performSearch;
  Search._performSearch = (...asked) =>
    findAll(...asked).filter(([, title]) => {
      const [page, heading] = title.split(" > ");
      return heading === undefined || page.replace(/^\d+\. /, "") !== heading;
    });

  // Sphinx reads the address and calls this.
  const findWords = Search.performSearch;
  Search.performSearch = (query) => {
    if (!looksLikeNumber(query)) {
      findWords(query);
      return;
    }
    if (window.toytfNumbers || parse(query).error || parse(query).advice) {
      answer(query);
      return;
    }
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root}_static/toytf_numbers.js`;
    script.addEventListener("load", () => answer(query));
    document.body.append(script);
  };
})();
