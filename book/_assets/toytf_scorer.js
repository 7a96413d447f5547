// What Sphinx's search puts first: pages whose title has the word, then headings, then text; among equals the
// earlier chapter.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  score: ([page, title, anchor, , score]) => {
    const stems = new Stemmer();
    const words = (text) => splitQuery(text.toLowerCase()).map((word) => stems.stemWord(word));
    const asked = words(new URLSearchParams(location.search).get("q") ?? "");
    const named = !anchor && asked.some((word) => words(title).includes(word));
    const chapter = Number(/^notebooks\/(\d+)/.exec(page)?.[1] ?? 90);
    return score + (named ? 20 : 0) - chapter / 100;
  },
};
