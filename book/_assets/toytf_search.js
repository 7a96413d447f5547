// The search page. Words lead to pages, headings and sentences. A number as it is printed, its beginning, or more of
// its digits than are printed, leads to every step that prints it. Works from the disk too.
(() => {
  "use strict";

  // As in book/_ext/toytf_numbers.py, with the sign and the power of ten: "−2.7 × 10^−6", "2.7e-06".
  const NUMBER =
    /(?<sign>(?<![\w)\]] ?)[-−])?(?<![\d."])(?<!xercise )(?<digits>\d+\.\d+|\d{1,3}(?:,\d{3})+|\d{4,})(?<e>(?<=\.\d+)e[-−+]?\d+)?(?![\d.]*\d)(?: × 10\^(?<power>[-−]?\d+))?/g;
  const MOST = 200;
  const TYPE = "Type it as it is printed, with a point: 0.2244, -1.5 or 2.3e-10.";

  const plain = (text) => text.replaceAll("−", "-");
  const looksLikeNumber = (text) => /^[-+−]?[\d.,]*\d[\d.,]*(e[-+−]?\d*)?$/i.test(text.trim());

  // { text: "0.2244", sign: "-", power: 0 } of what was typed, or the reason why not
  function parse(typed) {
    let text = plain(typed.trim().toLowerCase()).replace(/^\+/, "");
    if (/^-?[1-9]\d{0,2}(,\d{3})+$/.test(text)) text = text.replaceAll(",", "");
    if (/^-?\d*,\d+(e-?\d+)?$/.test(text)) return { advice: text.replace(",", ".") };
    const parts = /^(-?)(\d*\.\d+|\d{4,}|\d+(?=e))(?:e([-+]?\d+))?$/.exec(text);
    if (!parts) {
      const small = /^-?\d+$/.test(text);
      return {
        error: small ? "Small whole numbers stand everywhere, so they are not listed." : "This is not a number.",
      };
    }
    const digits = parts[2].startsWith(".") ? `0${parts[2]}` : parts[2];
    return { sign: parts[1], digits, power: Number(parts[3] ?? 0) };
  }

  // every place of the book: { sign, digits, power, raw, page, href, what, more }
  function placesOf(pages) {
    const places = [];
    pages.forEach(([address, title, ids, lines, panels], page) => {
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
    return places;
  }
  function read({ groups }) {
    const power = Number(plain(groups.power ?? groups.e?.slice(1) ?? "0"));
    const digits = groups.digits.replaceAll(",", "");
    return { sign: groups.sign ? "-" : "", digits, power, raw: plain(groups.digits + (groups.e ?? "")) };
  }

  // The places that print it; or with the other sign; or what it begins; or what it rounds to.
  function find({ sign, digits, power }, places) {
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
    const begins = signed.filter((place) => digits.includes(".") && place.digits.startsWith(digits));
    if (begins.length) return ["begins", begins];
    const rounded = signed.filter((place) => {
      const decimals = (place.digits.split(".")[1] ?? "").length;
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

  async function answerNumber(typed, out) {
    const asked = parse(typed);
    const pages = asked.error || asked.advice ? [] : await index("toytf_numbers");
    out.replaceChildren();
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
    const [how, found] = find(asked, placesOf(pages));
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

  // ---------------------------------------------------------------- words

  const EXCERPTS = 3; // of a page
  const MOST_READ = 8; // pages whose sentences are fetched
  // "multi-head" and "layer_norm" are two words, and one: "multihead", "layernorm"; asked for so, they are one
  const apart = (text) => text.toLowerCase().replace(/[-_.\u00a0]/g, " ");
  const both = (text) => `${apart(text)} ${text.toLowerCase().replace(/[-_]/g, "")}`;
  const whole = (term) => new RegExp(`(?<![\\p{L}\\p{N}])${term}(?![\\p{L}\\p{N}])`, "u");

  const tokens = (query) => query.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? [];

  // { exact, begins } for each word that is asked for; "masks" finds mask, "mask" finds masks and masking
  function terms(query) {
    return tokens(query).map((word) => {
      const stem = word.length > 3 ? word.replace(/(?<!s)s$/, "") : word;
      const joined = stem.replace(/[-_]/g, "");
      const ways = joined === stem ? stem : `(?:${apart(stem)}|${joined})`;
      return { exact: whole(`${ways}s?`), begins: new RegExp(`(?<![\\p{L}\\p{N}])${ways}`, "u") };
    });
  }

  const weigh = ({ exact, begins }, text) => (exact.test(text) ? 1 : begins.test(text) ? 0.3 : 0);

  // The worth of page p, which has each word so often. Its title weighs most, then its headings, of which those of the
  // earlier chapter explain the word, then its text.
  function judge([, title, weight, places], p, asked, counts) {
    const titled = asked.map((term) => weigh(term, both(title)));
    const share = titled.reduce((a, b) => a + b) / asked.length;
    const headings = places.filter(([id]) => !/^(ex|sol)-/.test(id)).map(([, heading]) => both(heading));
    const points = asked.map((term, t) => {
      const named = Math.max(0, ...headings.map((heading) => weigh(term, heading)));
      const worth = (term.words ? 3 : 1) * Math.max(4, 16 - 0.75 * p);
      return 40 * share * titled[t] + worth * named + Math.log2(1 + counts[t]);
    });
    return weight * points.reduce((a, b) => a + b);
  }

  // How often each word of the query stands on each page; what only begins with it counts less
  const countsOf = (asked, words, pages) =>
    asked.map((term) => {
      const counts = pages.map(() => 0);
      for (const [word, found] of Object.entries(words)) {
        const worth = weigh(term, word);
        for (let k = 0; worth && k < found.length; k += 2) counts[found[k]] += worth * found[k + 1];
      }
      return counts;
    });

  // The places of a page that say most of what is asked, each with its best sentence
  function excerpts([, , , places], said, asked, phrase) {
    const worth = (text) => [...asked, phrase].reduce((sum, term) => sum + weigh(term, both(text)), 0);
    const found = places.map(([id, heading], k) => {
      const values = said[k].map(worth);
      const best = Math.max(0, ...values);
      const sentence = said[k][best ? values.indexOf(best) : 0] ?? "";
      return { id, heading, sentence, worth: 2 * worth(heading) + best };
    });
    return found
      .filter((one) => one.worth)
      .sort((a, b) => b.worth - a.worth)
      .slice(0, EXCERPTS);
  }

  // How many letters must change, go, come or swap, counted up to 3
  function distance(a, b) {
    let [before, row] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= b.length; j += 1) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          next[j] = Math.min(next[j], before[j - 2] + 1);
      }
      [before, row] = [row, next];
    }
    return row[b.length];
  }

  // The query with each unknown word as the book spells it, or null
  function spelled(query, words) {
    const asked = tokens(apart(query));
    const meant = asked.map((word) => {
      if (words[word]) return word;
      const most = word.length > 7 ? 2 : 1;
      const near = Object.entries(words).filter(([one]) => Math.abs(one.length - word.length) <= most);
      const ranked = near.map(([one, found]) => [distance(word, one), -found.length, one]);
      const [far, , best] = ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1])[0] ?? [9];
      return far <= most ? best : word;
    });
    return meant.join(" ") === asked.join(" ") ? null : meant.join(" ");
  }

  function marked(parent, text, asked) {
    for (const part of text.split(/([\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*)/u)) {
      if (asked.some((term) => weigh(term, both(part)))) element("mark", parent, part);
      else parent.append(part);
    }
  }

  async function answerWords(query, out) {
    const [pages, words] = await index("toytf_words");
    const asked = terms(query);
    const phrase = { words: true, exact: whole(apart(tokens(query).join(" "))), begins: whole(tokens(query).join("")) };
    const all = asked.length > 1 ? [...asked, phrase] : asked;
    const counts = countsOf(all, words, pages);
    const found = pages
      .map((page, p) => ({ page, p, of: counts.map((one) => one[p]) }))
      .filter(({ of }) => asked.length && asked.every((_, t) => of[t]))
      .map(({ page, p, of }) => ({ page, points: judge(page, p, all, of) }))
      .sort((a, b) => b.points - a.points);
    const said = await Promise.all(found.slice(0, MOST_READ).map(({ page: [address] }) => index(`words/${address}`)));
    out.replaceChildren();
    const has = `${found.length} ${found.length === 1 ? "page has" : "pages have"} “${query}”`;
    const heading = element("h2", out, found.length ? has : `No page has “${query}”.`);
    const meant = !found.length && spelled(query, words);
    if (meant) {
      heading.append(" Did you mean ");
      element("a", heading, meant).href = `?q=${encodeURIComponent(meant)}`;
      heading.append("?");
    }
    const list = element("ul", out);
    list.className = "search";
    found.forEach(({ page }, p) => {
      const [address, title] = page;
      const item = element("li", list);
      element("a", item, title).href = address;
      for (const { id, heading: name, sentence } of said[p] ? excerpts(page, said[p], asked, phrase) : []) {
        const line = element("p", item);
        line.className = "context";
        if (name && name !== title) {
          element("a", line, name).href = `${address}#${id}`;
          line.append(sentence && ": ");
        }
        marked(line, sentence, asked);
      }
    });
  }

  // ---------------------------------------------------------------- start

  // An index is a script, since from the disk a browser fetches nothing, and packed.
  async function index(name) {
    if (typeof window[name] !== "object") {
      const script = document.createElement("script");
      script.src = `${document.documentElement.dataset.content_root}_static/${name}.js`;
      await new Promise((done, fail) => {
        script.addEventListener("load", done);
        script.addEventListener("error", () => fail(new Error(`${script.src} is missing`)));
        document.body.append(script);
      });
      const bytes = Uint8Array.from(atob(window[name]), (sign) => sign.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      window[name] = await new Response(stream).json();
    }
    return window[name];
  }

  async function search() {
    const query = new URLSearchParams(location.search).get("q")?.trim();
    if (!query) return;
    for (const field of document.querySelectorAll("input[name=q]")) field.value = query;
    const out = document.getElementById("search-results");
    element("p", out, "Searching …");
    try {
      await (looksLikeNumber(query) ? answerNumber : answerWords)(query, out);
    } catch (problem) {
      out.replaceChildren();
      element("h2", out, `The index could not be read: ${problem.message}`);
    }
  }

  search();
})();
