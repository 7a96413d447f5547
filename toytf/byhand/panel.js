/* Panels of toytf.byhand: an entry under mouse, finger or focus lights what it is made of and shows its sum.
   Listeners stand at the document, so panels cost nothing until somebody touches one. Runs any number of times. */
(() => {
  const w = window, d = document
  if (w.toytfPanels) return w.toytfPanels()
  const all = (where, what) => [...where.querySelectorAll(what)]
  const entry = target => target.closest && target.closest(".byhand-result tbody td")
  const panelOf = td => td.closest(".byhand")
  const cells = table => [...table.tBodies[0].rows].map(row => all(row, "td"))
  const at = td => [td.parentNode.sectionRowIndex, all(td.parentNode, "td").indexOf(td)]
  let open = null, kept = false

  // The sums stand in the page once, in the panel's disclosure.
  function sum(td) {
    const panel = panelOf(td), [i, j] = at(td), lines = all(panel, ".byhand-sums p")
    const named = lines.find(p => p.dataset.at == `${i}.${j}` || p.dataset.at == i)
    if (named || !lines.length || lines[0].dataset.at) return named
    const grid = cells(td.closest("table"))
    return lines[lines.length == grid.length ? i : i * grid[0].length + j]
  }

  // "i*r": row i in the colour of rows; "*jc": column j in that of columns; "ij": the entry's own place
  function light(table, lights, shift, i, j) {
    cells(table).forEach((row, y) => row.forEach((td, x) => {
      for (const [a, b, colour] of lights.split(","))
        if ((a == "*" || y == (a == "i" ? i : j - shift)) && (b == "*" || x == (b == "j" ? j - shift : i))) {
          td.classList.remove("b-r", "b-c")
          td.classList.add("b-" + colour)
        }
    }))
  }

  function close() {
    if (!open) return
    all(d, ".b-r,.b-c,.b-h").forEach(td => td.classList.remove("b-r", "b-c", "b-h"))
    open.removeAttribute("aria-selected")
    const panel = panelOf(open)
    panel.classList.remove("b-on")
    panel.querySelector(".byhand-live").textContent = ""
    open = null
    kept = false
  }

  const FACTOR = "\\(−[^()]*\\)|\\[[^\\]]*\\]|[\\d.]+(?: × 10<sup>−?\\d+</sup>)?"
  const PAIR = RegExp(`(${FACTOR})·(${FACTOR})`, "g")

  function show(td, keep) {
    const line = sum(td)
    if (!line) return false
    if (td == open) return kept = kept || keep, true
    close()
    const panel = panelOf(td), [i, j] = at(td)
    open = td
    kept = keep
    td.classList.add("b-h")
    td.setAttribute("aria-selected", true)
    all(panel, "[data-l]").forEach(t => light(t, t.dataset.l, t.dataset.s || 0, i, j))
    let live = panel.querySelector(".byhand-live"), html = line.innerHTML.replace(/\n/g, " ")
    if (!live) {
      live = d.createElement("div")
      live.className = "byhand-live"
      live.setAttribute("aria-live", "polite")
      panel.insertBefore(live, panel.querySelector(".byhand-sums"))
    }
    if (panel.querySelector("[data-l='*jc'],[data-l='**c']"))
      html = html.replace(PAIR, "<span class=b-r>$1</span>·<span class=b-c>$2</span>")
    live.innerHTML = html
    panel.classList.add("b-on")
    return true
  }

  function walk(td, key) {
    const table = td.closest("table"), grid = cells(table)
    const turned = getComputedStyle(table).display == "flex"
    let [i, j] = at(td)
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[key]
    const found = (row, ...js) => js.map(x => row[x]).find(x => x && sum(x))
    if (key == "Home") return found(grid[i], ...grid[i].keys())
    if (key == "End") return found(grid[i], ...[...grid[i].keys()].reverse())
    if (turned) step.reverse()
    do {
      i += step[0]
      j += step[1]
      if (!grid[i] || !grid[i][j]) return
    } while (!sum(grid[i][j]))
    return grid[i][j]
  }

  function focus(td) {
    all(td.closest("table"), "[tabindex='0']").forEach(x => (x.tabIndex = -1))
    td.tabIndex = 0
    td.focus({ preventScroll: true })
    td.scrollIntoView({ block: "nearest", inline: "nearest" })
  }

  d.addEventListener("pointerover", e => {
    if (e.pointerType == "touch" || kept) return
    const td = entry(e.target)
    if (td) show(td)
    else if (open && open != d.activeElement && !(e.target.closest && e.target.closest(".byhand-live"))) close()
  })
  d.addEventListener("click", e => {
    const td = entry(e.target)
    if (!td) return
    if (td == open && kept) return close()
    if (show(td, true)) td.tabIndex = 0
  })
  d.addEventListener("focusin", e => {
    const td = entry(e.target)
    if (td) show(td, kept)
  })
  d.addEventListener("focusout", e => {
    if (entry(e.target) && !kept) close()
  })
  d.addEventListener("keydown", e => {
    if (e.key == "Escape") return close()
    const td = entry(e.target)
    if (!td || e.altKey || e.ctrlKey || e.metaKey) return
    if (e.key == "Enter" || e.key == " ") {
      e.preventDefault()
      return open == td && kept ? close() : show(td, true)
    }
    if (!/^(Arrow|Home$|End$)/.test(e.key)) return
    e.preventDefault()
    const next = walk(td, e.key)
    if (next) focus(next)
  })

  // #panel-3.0.2 opens that entry
  function follow() {
    const [, id, i, j] = /^#(.+?)\.(\d+)(?:\.(\d+))?$/.exec(location.hash) || []
    const table = id && d.getElementById(id) && d.getElementById(id).querySelector(".byhand-result")
    const td = table && (cells(table)[i] || [])[j || 0]
    if (!td) return
    for (let up = td; (up = up.parentElement); ) if (up.tagName == "DETAILS") up.open = true
    show(td, true) || td.classList.add("b-h")
    td.scrollIntoView({ block: "center" })
  }
  w.addEventListener("hashchange", follow)

  // What the sums make of a table: a grid with one tab stop. Left until the page has been shown.
  w.toytfPanels = () =>
    (w.requestIdleCallback || setTimeout)(() => {
      for (const panel of all(d, ".byhand")) {
        const table = panel.querySelector(".byhand-result:not([role])")
        const first = table && cells(table).flat().find(sum)
        if (!first) continue
        table.setAttribute("role", "grid")
        cells(table).flat().forEach(td => sum(td) && (td.tabIndex = td == first ? 0 : -1))
      }
    })
  const begin = () => {
    w.toytfPanels()
    follow()
  }
  d.readyState == "loading" ? d.addEventListener("DOMContentLoaded", begin) : begin()
})()
