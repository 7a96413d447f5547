// A copied formula is its TeX, between the signs that Markdown has for it.
(() => {
  "use strict";

  const tex = (math) => {
    const sign = math.getAttribute("display") === "block" ? "$$" : "$";
    return sign + math.querySelector("annotation").textContent + sign;
  };

  function copy(event) {
    const selection = getSelection();
    if (selection.isCollapsed || selection.rangeCount === 0) {
      return;
    }
    const range = selection.getRangeAt(0).cloneRange();
    const whole = (node) => (node.closest ? node : node.parentElement).closest("math");
    const first = whole(range.startContainer);
    const last = whole(range.endContainer);
    if (first) {
      range.setStartBefore(first);
    }
    if (last) {
      range.setEndAfter(last);
    }
    const part = range.cloneContents();
    if (!part.querySelector("math")) {
      return;
    }
    const rich = document.createElement("div");
    rich.append(part.cloneNode(true));
    // innerText knows where lines end; it does so only for what is on the page
    const plain = document.createElement("div");
    plain.append(part);
    plain.querySelectorAll("math").forEach((math) => {
      math.replaceWith(tex(math));
    });
    plain.style.cssText = "position: fixed; left: -100vw; width: 100vw; white-space: pre-wrap";
    document.body.append(plain);
    event.clipboardData.setData("text/plain", plain.innerText);
    event.clipboardData.setData("text/html", rich.innerHTML);
    plain.remove();
    event.preventDefault();
  }

  document.addEventListener("copy", copy);
})();
