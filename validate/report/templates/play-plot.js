// A small plot of a claim's bound along one parameter, as SVG elements.
const playPlot = (() => {
  const HEIGHT = 240, LEFT = 62, RIGHT = 22, TOP = 26, BOTTOM = 42;
  const LOG_FROM = 50; // the largest over the smallest value from which the y axis is logarithmic

  function svg(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // A number in at most `digits` significant digits, with an exponent from `large` on.
  function shown(value, digits = 6, large = 1e7) {
    if (!Number.isFinite(value)) return "no real value";
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-4 || size >= large)) {
      const [head, exponent] = value.toExponential(digits - 1).split("e");
      return `${Number(head)}e${Number(exponent)}`;
    }
    return String(Number(value.toPrecision(digits)));
  }

  // An axis from values to pixels, with ticks at round values, at least `apart` pixels from each other.
  function axis(least, most, start, end, logarithmic, apart) {
    const of = logarithmic ? Math.log10 : (value) => value;
    let [low, high] = [of(least), of(most)];
    if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) {
      const room = logarithmic ? 0.5 : Math.abs(low) / 2 || 1;
      [low, high] = [low - room, high + room];
    }
    const room = Math.max(2, Math.floor(Math.abs(end - start) / apart));
    const ticks = [];
    if (logarithmic && high - low > 1) {
      const every = Math.max(1, Math.ceil((high - low) / room));
      for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k += every) ticks.push(Number(`1e${k}`));
    } else {
      const [a, b] = logarithmic ? [10 ** low, 10 ** high] : [low, high];
      const unit = 10 ** Math.floor(Math.log10((b - a) / room));
      const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => (b - a) / s <= room) ?? 10 * unit;
      for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step; k++) ticks.push(Number((k * step).toPrecision(12)));
    }
    return { at: (value) => start + ((of(value) - low) / (high - low)) * (end - start), ticks };
  }

  // Line pieces through points that are there, as path data: [those within the hypotheses, those outside].
  function paths(points, at) {
    const data = ["", ""];
    const end = [null, null];
    points.slice(1).forEach((point, i) => {
      const before = points[i];
      if (!before.real || !point.real) return;
      const which = before.inside && point.inside ? 0 : 1;
      data[which] += (end[which] === before ? "" : `M${at(before)}`) + `L${at(point)}`;
      end[which] = point;
    });
    return data;
  }

  // Draw into an <svg>: points {x, y, inside}, the current one among them marked. Returns a description in words.
  function draw(picture, points, current, name, logarithmic) {
    const width = Math.max(250, picture.parentElement.clientWidth);
    const found = points.map((p) => ({ ...p, real: Number.isFinite(p.y) }));
    const real = found.filter((p) => p.real);
    picture.replaceChildren();
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    if (!real.length) {
      picture.append(svg("text", { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "no real value anywhere here"));
      return `The right side has no real value along ${name}.`;
    }
    const ys = real.map((p) => p.y);
    const [least, most] = [Math.min(...ys), Math.max(...ys)];
    const xs = found.map((p) => p.x).filter((x) => !logarithmic || x > 0);
    const x = axis(Math.min(...xs), Math.max(...xs), LEFT, width - RIGHT, logarithmic, 58);
    const y = axis(least, most, HEIGHT - BOTTOM, TOP, least > 0 && most / least > LOG_FROM, 34);
    const place = (p) => `${x.at(p.x).toFixed(1)} ${y.at(p.y).toFixed(1)}`;
    for (const tick of x.ticks) {
      picture.append(svg("path", { class: "grid", d: `M${x.at(tick)} ${TOP}V${HEIGHT - BOTTOM}` }));
      picture.append(svg("text", { x: x.at(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, shown(tick, 3, 1e5)));
    }
    for (const tick of y.ticks) {
      picture.append(svg("path", { class: "grid", d: `M${LEFT} ${y.at(tick)}H${width - RIGHT}` }));
      picture.append(svg("text", { x: LEFT - 6, y: y.at(tick) + 4, "text-anchor": "end" }, shown(tick, 3, 1e5)));
    }
    picture.append(svg("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle", class: "name" }, name));
    picture.append(svg("text", { x: 4, y: 14, class: "name" }, least > 0 && most / least > LOG_FROM ? "right side, logarithmic" : "right side"));
    const drawn = found.filter((p) => !logarithmic || p.x > 0);
    const [solid, dashed] = paths(drawn, place);
    if (dashed) picture.append(svg("path", { class: "curve outside", d: dashed }));
    if (solid) picture.append(svg("path", { class: "curve", d: solid }));
    const mark = drawn.find((p) => p.x === current && p.real);
    if (mark) picture.append(svg("circle", { class: "mark", cx: x.at(mark.x), cy: y.at(mark.y), r: 5 }));
    const [first, last] = [real[0], real[real.length - 1]];
    const outside = found.some((p) => p.real && !p.inside);
    return `The right side goes from ${shown(first.y, 3)} at ${name} = ${shown(first.x, 3)} to ${shown(last.y, 3)} at ` +
      `${name} = ${shown(last.x, 3)}${outside ? "; dashed where a hypothesis is violated" : ""}.`;
  }

  return { draw, shown };
})();
