// What Sphinx's search puts first: titles, then headings, then text; among equals the earlier page.
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
    const chapter = Number(/^notebooks\/(\d+)/.exec(page)?.[1] ?? 90);
    return score - chapter / 100;
  },
};
