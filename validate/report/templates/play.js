// The panel in which a reader moves a claim's parameters: controls, the recomputed bound, terms, hypotheses and a plot.
// Panels are built when their <details> is first opened; all that they show comes from the JSON inside it.
const fedproofPlay = (() => {
  const QUIET = 500; // milliseconds without a change after which a screen reader is told
  const NUMBER = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?:\/\s*(\d+\.?\d*|\.\d+)\s*)?$/;
  // What has no value does not hold.
  const WORDS = new Map([[true, "✓ holds"], [false, "✗ violated"], [null, "✗ no real value"]]);
  const CLASSES = new Map([[true, "holds"], [false, "violated"], [null, "violated"]]);
  const RELATIONS = { "<=": "at most", "<": "below", "=": "equal to", ">=": "at least", ">": "above" };
  const { shown } = playPlot;

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  const text = (value) => (Array.isArray(value) ? value.join(", ") : String(value));
  const display = (value) => (Array.isArray(value) ? value.map((v) => shown(v)).join(", ") : shown(value));
  class InputError extends Error {}

  function parseNumber(given, parameter, where) {
    const match = NUMBER.exec(given);
    const value = match ? Number(match[1]) / Number(match[2] ?? 1) : NaN;
    if (!Number.isFinite(value)) {
      const example = parameter.vector ? "numbers with commas between them, such as 0.5, 0.3, 1/5" : "a number, such as 0.1, 1e-3 or 1/8";
      throw new InputError(`${where}“${given.trim()}” is not a number: write ${example}.`);
    }
    const { lower, upper } = parameter;
    const inside = (lower === undefined || (parameter.lower_open ? value > lower : value >= lower)) &&
      (upper === undefined || (parameter.upper_open ? value < upper : value <= upper)) &&
      (!parameter.integer || Number.isInteger(value));
    if (!inside) throw new InputError(`${where}${given.trim()} is outside ${parameter.domain}.`);
    return value;
  }

  // The value that a text gives to a parameter; an InputError says what is wrong with it.
  function parse(given, parameter) {
    if (!parameter.vector) return parseNumber(given, parameter, "");
    return given.split(",").map((entry, i) => parseNumber(entry, parameter, `Entry ${i + 1}: `));
  }

  // The values that a parameter's slider stops at, increasing.
  function stops(parameter) {
    const { from, to, steps } = parameter;
    const logarithmic = parameter.scale === "log";
    const found = parameter.zero ? [0] : [];
    for (let i = 0; i <= steps; i++) {
      const value = logarithmic ? from * (to / from) ** (i / steps) : from + ((to - from) * i) / steps;
      const rounded = Number(value.toPrecision(logarithmic ? 2 : 6));
      const stop = i === 0 ? from : i === steps ? to : parameter.integer ? Math.round(rounded) : rounded;
      if (!found.length || stop > found[found.length - 1]) found.push(stop);
    }
    return found;
  }

  function nearest(values, value) {
    let best = 0;
    values.forEach((v, i) => { if (Math.abs(v - value) < Math.abs(values[best] - value)) best = i; });
    return best;
  }

  const quoted = (word) => (/^[\w.,/=+*-]+$/.test(word) ? word : `'${word}'`);

  function build(details) {
    const data = JSON.parse(details.querySelector('script[type="application/json"]').textContent);
    const id = (name) => `play-${data.id.replace(/[^\w-]/g, "-")}-${name}`;
    const starts = data.parameters.map((p) => p.start);
    const began = playProgram.settled(data, starts, data.parameters.map((p) => Boolean(p.tie)));
    const tiedAtStart = data.parameters.map((p, i) => Boolean(p.tie) && Math.abs(began[i] - starts[i]) <= 1e-9 * Math.abs(starts[i]));
    const scalars = data.parameters.map((p, i) => [p, i]).filter(([p]) => !p.vector);
    let along = (scalars.find(([, i]) => !tiedAtStart[i]) ?? [null, -1])[1]; // index of what the plot goes along
    let timer = 0;

    const rows = data.parameters.map((parameter, i) => row(parameter, i));
    const bound = make("output", { class: "play-value" });
    const notice = make("p", { class: "play-notice" });
    const bar = make("div", { class: "play-bar" }, make("p", {}, "Right side ", bound), notice);
    const terms = data.terms.map(() => make("td", { class: "num" }));
    const answers = data.hypotheses.map(() => make("b"));
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    picture.setAttribute("role", "img");
    const legend = make("p", { class: "play-legend" });
    const command = make("code");
    const copied = make("span", { class: "play-copied", role: "status" });
    const live = make("p", { class: "play-live", role: "status", "aria-live": "polite" });

    function row(parameter, i) {
      const values = parameter.vector ? null : stops(parameter);
      const message = make("p", { class: "play-error", id: id(`${parameter.name}-error`), hidden: true });
      const field = make("input", {
        type: "text", id: id(parameter.name), autocomplete: "off", spellcheck: "false",
        inputmode: parameter.vector || (parameter.lower ?? -1) < 0 ? "text" : "decimal",
        "aria-describedby": `${message.id} ${id(`${parameter.name}-domain`)}`, oninput: () => changed(i, false),
      });
      const slider = values && make("input", {
        type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": `${parameter.name}, slider`, oninput: () => changed(i, true),
      });
      const tie = parameter.tie && make("input", { type: "checkbox", oninput: () => update(true) });
      const element = make("div", { class: parameter.vector ? "play-row vector" : "play-row" },
        make("p", {}, make("label", { for: field.id }, make("code", {}, parameter.name), ` ${parameter.meaning} `),
          make("small", { id: id(`${parameter.name}-domain`) }, parameter.vector ? `entries in ${parameter.domain}` : parameter.domain)),
        ...(slider ? [slider] : []), field,
        ...(tie ? [make("label", { class: "play-tie" }, tie, " keep at ", make("code", {}, parameter.tie.formula), ` (${data.hypotheses[parameter.tie.hypothesis].name})`)] : []),
        message);
      return { parameter, values, field, slider, tie, message, element };
    }

    function changed(i, bySlider) {
      const { values, field, slider } = rows[i];
      if (bySlider) field.value = text(values[Number(slider.value)]);
      update(true);
    }

    // The texts as numbers; null where one of them is wrong, which its row then says.
    function read() {
      let fine = true;
      const found = rows.map(({ parameter, field, tie, message }) => {
        let problem = "";
        let value = parameter.start;
        if (!tie?.checked) {
          try {
            value = parse(field.value, parameter);
          } catch (error) {
            if (!(error instanceof InputError)) throw error;
            problem = error.message;
          }
        }
        field.setAttribute("aria-invalid", String(Boolean(problem)));
        message.textContent = problem;
        message.hidden = !problem;
        fine &&= !problem;
        return value;
      });
      return fine ? found : null;
    }

    const tiedNow = () => rows.map(({ tie }) => Boolean(tie?.checked));

    function update(tell) {
      let problem = "";
      let inputs = read();
      let result = null;
      if (inputs === null) {
        problem = "Correct the marked parameter first.";
      } else {
        try {
          inputs = playProgram.settled(data, inputs, tiedNow());
          result = playProgram.evaluate(data, inputs);
        } catch (error) {
          if (!(error instanceof playProgram.LengthError)) throw error;
          const sizes = rows.map(({ parameter }, i) => [parameter, inputs[i]]).filter(([p]) => p.vector);
          problem = `Vectors that are used together need the same number of entries: ${sizes.map(([p, v]) => `${p.name} has ${v.length}`).join(", ")}.`;
        }
      }
      rows.forEach((r, i) => showRow(r, inputs?.[i]));
      const violated = result ? data.hypotheses.filter((_, i) => result.hypotheses[i] === false).map((h) => h.name) : [];
      const open = result ? data.hypotheses.filter((_, i) => result.hypotheses[i] === null).map((h) => h.name) : [];
      bound.textContent = result ? shown(result.bound) : "–";
      bound.dataset.value = result ? String(result.bound) : "";
      terms.forEach((cell, i) => { cell.textContent = result ? display(result.terms[i]) : "–"; });
      answers.forEach((answer, i) => {
        const holds = result ? result.hypotheses[i] : undefined;
        answer.textContent = result ? WORDS.get(holds) : "–";
        answer.parentElement.className = result ? CLASSES.get(holds) : "open";
      });
      notice.textContent = problem ||
        (violated.length ? `Violated: ${violated.join("; ")}. The claim promises nothing here.`
          : open.length ? `No real value, so that it does not hold: ${open.join("; ")}.` : "");
      notice.hidden = !notice.textContent;
      bar.classList.toggle("outside", !notice.hidden);
      picture.parentElement?.classList.toggle("stale", !result);
      if (result) {
        command.replaceChildren(...commandWords().flatMap((word) => [make("span", {}, word), " "]));
        plot(inputs);
      }
      clearTimeout(timer);
      if (tell) timer = setTimeout(() => { live.textContent = `Right side: ${bound.textContent}. ${notice.textContent}`; }, QUIET);
    }

    function showRow({ parameter, values, field, slider, tie }, value) {
      const fixed = Boolean(tie?.checked);
      field.disabled = fixed;
      if (fixed && value !== undefined) field.value = text(value);
      if (!slider) return;
      slider.disabled = fixed;
      if (value === undefined) return;
      slider.value = nearest(values, value);
      slider.setAttribute("aria-valuetext", `${parameter.name} = ${shown(value)}`);
    }

    function commandWords() {
      const set = rows.map(({ parameter, field, tie }) => {
        const value = tie?.checked ? parameter.tie.formula : field.value;
        return `--set ${quoted(`${parameter.name}=${value.replace(/\s+/g, "")}`)}`;
      });
      return [`fedproof bound ${data.target}`, ...set]; // quoted already, where it needs it
    }

    function plot(inputs) {
      if (along < 0) return;
      const { parameter, values } = rows[along];
      const tied = tiedNow().map((t, i) => t && i !== along);
      const current = inputs[along];
      const at = [...new Set([...values, current])].sort((a, b) => a - b);
      const points = at.map((x) => {
        const result = playProgram.evaluate(data, playProgram.settled(data, inputs.map((v, i) => (i === along ? x : v)), tied));
        return { x, y: result.bound, inside: result.hypotheses.every((h) => h === true) };
      });
      const said = playPlot.draw(picture, points, current, parameter.name, parameter.scale === "log");
      picture.setAttribute("aria-label", said);
      const outside = points.some((p) => Number.isFinite(p.y) && !p.inside);
      legend.textContent = `● now${outside ? "; dashed where a hypothesis is violated" : "; the hypotheses hold all along"}`;
      if (!data.hypotheses.length) legend.textContent = "● now";
    }

    function reset(tell) {
      rows.forEach(({ field, tie }, i) => {
        field.value = text(starts[i]);
        if (tie) tie.checked = tiedAtStart[i];
      });
      update(tell);
    }

    async function copy() {
      try {
        await navigator.clipboard.writeText(command.textContent.trim());
        copied.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(command);
        copied.textContent = "selected; copy it with the keyboard";
      }
      setTimeout(() => { copied.textContent = ""; }, 4000);
    }

    const select = make("select", { id: id("along"), oninput: (event) => { along = Number(event.target.value); update(false); } },
      ...scalars.map(([p, i]) => make("option", { value: i, selected: i === along }, p.name)));
    const hypotheses = data.hypotheses.map((h, i) => {
      const said = make("span", {}, ...(h.name === h.relation ? [] : [`${h.name} `]), make("code", {}, h.relation));
      if (h.where) said.append(make("small", {}, ` fixed elsewhere in the paper: ${h.where}`));
      return make("li", { title: h.statement }, answers[i], said);
    });
    const panel = make("div", { class: "play-panel" }, bar,
      make("div", { class: "play-controls", role: "group", "aria-label": "Parameters" }, ...rows.map((r) => r.element),
        make("p", {}, make("button", { type: "button", onclick: () => reset(true) }, "Reset"))),
      make("div", { class: "play-results" },
        make("p", { class: "play-claim" }, `The left side is claimed to be ${RELATIONS[data.relation]} this.`),
        ...(data.terms.length ? [make("table", { class: "play-terms" }, make("caption", {}, "Terms"),
          make("tbody", {}, ...data.terms.map((term, i) => make("tr", {}, make("th", { scope: "row" }, make("code", {}, term.name)), terms[i]))))] : []),
        ...(hypotheses.length ? [make("ul", { class: "play-hypotheses", "aria-label": "Hypotheses" }, ...hypotheses)] : []),
        ...(scalars.length ? [make("p", { class: "play-along" }, make("label", { for: select.id }, "The right side along "), select),
          make("div", { class: "play-plot" }, picture), legend] : [])),
      make("div", { class: "play-command" }, make("small", {}, "The same on the command line"), command, make("button", { type: "button", onclick: copy }, "Copy"), " ", copied), live);
    details.append(panel);
    reset(false);
    new ResizeObserver(() => update(false)).observe(picture.parentElement ?? panel);
  }

  function open(details) {
    if (!details.open || details.dataset.built) return;
    details.dataset.built = "yes";
    build(details);
  }

  document.addEventListener("toggle", (event) => {
    if (event.target instanceof Element && event.target.matches("details.play")) open(event.target);
  }, true);
  document.querySelectorAll("details.play[open]").forEach(open);
  return { parse, stops };
})();
