// What happens in stages. Beside stages.py, which wrote all of them: what comes later is hidden, what moves is moved.
import { choice } from "./page/settings.js";
import { Live, define } from "./page/element.js";

class Stages extends Live {
  settings({ stages, label = "stage" }) {
    const options = Object.fromEntries(stages.map((name, k) => [k + 1, name]));
    return { stage: choice({ label, start: "1", options }) };
  }

  plays({ stages }) {
    return stages.map((_, k) => ({ stage: String(k + 1) }));
  }

  show({ stage }) {
    for (const part of this.querySelectorAll("[data-stage]"))
      part.classList.toggle("live-later", part.dataset.stage > stage);
    for (const part of this.querySelectorAll("[data-each]")) {
      const value = part.dataset.each.split(" ")[stage - 1];
      part.classList.toggle("live-later", value === "nan"); // a bar that is not there
      if (part.matches(".live-bar")) part.style.setProperty("--share", value);
      else part.textContent = value;
    }
    for (const dot of this.querySelectorAll("[data-at]")) {
      const [x, y] = dot.dataset.at.split(" ")[stage - 1].split(",");
      dot.style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  say({ stage }) {
    return this.data.says[stage - 1];
  }
}

define("stages", Stages);
