// ---- Timeline

function showTimeline(timeline) {
  const {channels, steps, activity, duration_s: length} = timeline;
  const phases = Object.keys(activity).filter((phase) => activity[phase].length);
  if (!(length > 0) || (!channels.length && !phases.length)) {
    $("timeline").hidden = true;
    return;
  }
  const hidden = new Set();
  $("channels").append(...channels.map(({device}) => toggle(device, deviceColour(device), (on) => {
    on ? hidden.delete(device) : hidden.add(device);
    draw();
  })));
  legend($("activity-legend"), phases.map((phase) => [phase, phaseColour(phase)]));
  if (phases.length) $("activity-legend").prepend(span("", "Strip: time spent in operations"));

  const buckets = Math.max(...channels.map(({mean_w}) => mean_w.length), ...phases.map((phase) => activity[phase].length));
  const left = 46, right = 10, top = 22, high = 210, gap = 8, strip = phases.length ? 24 : 0, below = 24;
  const bottom = top + high, end = bottom + gap + strip;
  let width = 0, cursor = null, at = null;
  const xOf = (seconds) => left + (width - left - right) * seconds / length;
  const f = (value) => value.toFixed(1);
  const decimals = Math.max(0, Math.ceil(-Math.log10(length / buckets)));

  // Stretches of known values, each as [x, y] points that reach to the edges of its first and last bucket.
  function* stretches(values, yOf) {
    const bucket = length / values.length;
    for (let i = 0; i < values.length; ++i) {
      if (!isKnown(values[i])) continue;
      const points = [[xOf(i * bucket), yOf(values[i])]];
      for (; i < values.length && isKnown(values[i]); ++i) points.push([xOf((i + 0.5) * bucket), yOf(values[i])]);
      points.push([xOf(i * bucket), points.at(-1)[1]]);
      yield points;
    }
  }
  const line = (points) => "M" + points.map(([x, y]) => `${f(x)} ${f(y)}`).join("L");

  function draw() {
    width = $("plot").clientWidth;
    if (width < 120) return;
    const shown = channels.filter(({device}) => !hidden.has(device));
    let most = 0;
    for (const channel of shown) {
      for (const values of [channel.mean_w, channel.max_w]) for (const value of values) if (value > most) most = value;
    }
    const watts = ticks(most || 1, 4);
    const ceiling = Math.ceil((most || 1) / watts.step - 1e-9) * watts.step;
    if (watts.at.at(-1) < ceiling * 0.999) watts.at.push(ceiling);
    const yOf = (value) => bottom - high * value / ceiling;
    const picture = svg("svg", {viewBox: `0 0 ${width} ${end + below}`, height: end + below, "aria-hidden": "true"});
    const text = (x, y, anchor, words) => picture.append(svg("text", {x: f(x), y: f(y), "text-anchor": anchor}, words));

    for (const value of watts.at) {
      picture.append(svg("line", {class: "grid", x1: left, x2: width - right, y1: f(yOf(value)), y2: f(yOf(value))}));
      text(left - 7, yOf(value) + 4, "end", value.toFixed(watts.decimals) + (value === watts.at.at(-1) ? " W" : ""));
    }
    const times = ticks(length, Math.max(3, Math.min(10, width / 110)));
    for (const time of times.at) {
      picture.append(svg("line", {class: "grid", x1: f(xOf(time)), x2: f(xOf(time)), y1: end, y2: end + 4}));
      text(xOf(time), end + 18, "middle", `${time.toFixed(times.decimals)} s`);
    }

    // To mark only some of the steps would show steps that are longer than they are.
    const areMarked = steps.length * 10 < width;
    if (!areMarked) text(left, top - 9, "start", `${integer(steps.length)} steps, too many to mark`);
    for (const step of areMarked ? steps : []) {
      // A step may reach beyond its operations, and so beyond the plot.
      const x0 = xOf(Math.max(0, step.start_s)), x1 = xOf(Math.min(length, step.end_s));
      for (const x of [x0, x1]) picture.append(svg("line", {class: "step", x1: f(x), x2: f(x), y1: top - 6, y2: end}));
      const number = /\d+$/.exec(step.name);
      const label = [step.name, number && `#${number}`, number && String(number)]
        .find((words) => words && words.length * 6.6 + 6 < x1 - x0);
      if (label) text((x0 + x1) / 2, top - 9, "middle", label);
    }

    for (const {device, mean_w, min_w, max_w} of shown) {
      const colour = deviceColour(device);
      const tops = [...stretches(max_w, yOf)], lows = [...stretches(min_w, yOf)];
      const band = tops.map((points, i) => lows[i] ? `${line(points.concat(lows[i].slice().reverse()))}Z` : "").join("");
      picture.append(svg("path", {d: band, fill: colour, opacity: 0.2}));
      picture.append(svg("path", {d: [...stretches(mean_w, yOf)].map(line).join(""), fill: "none", stroke: colour,
        "stroke-width": 1.6, "stroke-linejoin": "round", "stroke-linecap": "round"}));
    }
    if (!shown.some((channel) => channel.mean_w.some(isKnown))) {
      text((left + width) / 2, top + high / 2, "middle", "no power is shown or known");
    }

    if (strip) {
      const across = width - left - right;
      picture.append(svg("rect", {x: left, y: end - strip, width: across, height: strip, fill: "var(--track)"}));
      const base = new Array(buckets).fill(0);
      const whole = base.map((_, i) => Math.max(1, sum(phases.map((phase) => activity[phase][i]))));
      for (const phase of phases) {
        let path = "";
        activity[phase].forEach((share, i) => {
          if (!(share > 0)) return;
          const tall = strip * share / whole[i], y = end - base[i] - tall;
          base[i] += tall;
          const x = left + across * i / buckets;
          path += `M${f(x)} ${f(y)}H${f(x + across / buckets + 0.1)}v${f(tall)}H${f(x)}z`;
        });
        picture.append(svg("path", {d: path, fill: phaseColour(phase)}));
      }
    }
    cursor = svg("line", {class: "cursor", y1: top - 6, y2: end, visibility: "hidden"});
    picture.append(cursor);
    $("plot").replaceChildren(picture);
    if (at !== null) read(at);
  }

  function read(bucket) {
    at = Math.max(0, Math.min(buckets - 1, bucket));
    const time = (at + 0.5) * length / buckets;
    cursor.setAttribute("x1", f(xOf(time)));
    cursor.setAttribute("x2", f(xOf(time)));
    cursor.setAttribute("visibility", "visible");
    const step = steps.find(({start_s, end_s}) => start_s <= time && time < end_s);
    const entries = [el("b", {}, `${time.toFixed(decimals)} s`)];
    if (step) entries.push(span("name", step.name));
    for (const {device, mean_w, min_w, max_w} of channels) {
      if (hidden.has(device)) continue;
      entries.push(span("", swatch(deviceColour(device)), `${device} `,
        isKnown(mean_w[at]) ? el("b", {}, si(mean_w[at], "W")) : unknown("power is unknown here"),
        isKnown(mean_w[at]) ? span("dim", ` (${si(min_w[at], "W")} – ${si(max_w[at], "W")})`) : null));
    }
    for (const phase of phases) {
      const share = activity[phase][at];
      if (share > 0) entries.push(span("", swatch(phaseColour(phase)), `${phase} ${percent(share, 1)}`));
    }
    $("readout").replaceChildren(...entries);
    setAll($("plot"), {"aria-valuenow": time, "aria-valuetext": entries.map((entry) => entry.textContent).join(", ")});
  }

  $("readout").append(span("dim", `From ${timeline.start || "the start of the trace"}. ` +
    "Point at the curve, or use the arrow keys, to read it; the bands reach from the least to the most."));
  const follow = (event) => {
    const box = $("plot").getBoundingClientRect();
    read(Math.floor((event.clientX - box.left - left) / (width - left - right) * buckets));
  };
  $("plot").addEventListener("pointermove", follow);
  $("plot").addEventListener("pointerdown", follow);
  $("plot").addEventListener("keydown", (event) => {
    const far = Math.max(1, Math.round(buckets / 20)), now = at === null ? -1 : at;
    const goal = {ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, PageUp: now + far,
      PageDown: now - far, Home: 0, End: buckets - 1}[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    read(goal);
  });
  setAll($("plot"), {"aria-valuemin": 0, "aria-valuemax": length, "aria-valuenow": 0, "aria-valuetext": "not read yet"});
  new ResizeObserver(() => { if ($("plot").clientWidth !== width) draw(); }).observe($("plot"));
  draw();
}

