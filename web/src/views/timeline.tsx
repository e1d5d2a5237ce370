// Power over time, and what ran. A stretch that is marked restricts all that is shown of the run.
import uPlot from "uplot";
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import type {Timeline} from "../api/types";
import {colourOf, phaseVariable} from "../parts/colours";
import {Select, useSize} from "../parts/controls";
import {isKnown, plural, si} from "../parts/figures";
import {state, update} from "../state/url";

// "1.25-3.5" in seconds, or "step:NAME".
export interface Window {
  from?: number;
  to?: number;
  step?: string;
}
export function windowOf(text: string): Window | null {
  if (text.startsWith("step:")) return {step: text.slice(5)};
  const found = /^([\d.]+)-([\d.]+)$/.exec(text);
  return found ? {from: +found[1], to: +found[2]} : null;
}
const short = (seconds: number, length: number): string => String(+seconds.toFixed(Math.max(3, 4 - Math.floor(Math.log10(length || 1)))));

export function Power({timeline, shown}: {timeline: Timeline; shown: Window | null}) {
  const [box, size] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const target = useRef<HTMLDivElement>(null);
  const {channels, steps, activity, duration_s: length} = timeline;
  const phases = useMemo(() => Object.keys(activity).filter((phase) => activity[phase].some((share) => share > 0)), [timeline]);
  const slices = Math.max(0, ...channels.map(({mean_w: watts}) => watts.length), ...phases.map((phase) => activity[phase].length));
  const most = Math.max(1e-9, ...channels.flatMap(({max_w: watts}) => watts.map((value) => value ?? 0)));
  const times = useMemo(() => Array.from({length: slices}, (_, i) => ((i + 0.5) * length) / slices), [timeline]);
  const [scheme, setScheme] = useState(0);
  const floor = phases.length ? -0.13 * most : 0;

  useEffect(() => {
    if (!target.current || !size.width || !slices) return undefined;
    const dim = colourOf("--dim");
    const line = colourOf("--line");
    const paintPhases = (chart: uPlot) => {
      if (!phases.length) return;
      const {ctx, bbox} = chart;
      const up = chart.valToPos(floor * 0.25, "y", true);
      const high = chart.valToPos(floor, "y", true) - up;
      const wide = bbox.width / slices;
      ctx.fillStyle = colourOf("--track");
      ctx.fillRect(bbox.left, up, bbox.width, high);
      for (let i = 0; i < slices; ++i) {
        const whole = Math.max(1, phases.reduce((sum, phase) => sum + (activity[phase][i] || 0), 0));
        let y = up + high;
        for (const phase of phases) {
          const tall = (high * (activity[phase][i] || 0)) / whole;
          if (!(tall > 0)) continue;
          y -= tall;
          ctx.fillStyle = colourOf(phaseVariable(phase));
          ctx.fillRect(bbox.left + i * wide, y, wide + 0.7, tall);
        }
      }
    };
    const paintSteps = (chart: uPlot) => {
      const {ctx, bbox} = chart;
      // To mark only some would show steps that are longer than they are.
      if (steps.length * 10 > size.width) return;
      ctx.save();
      ctx.strokeStyle = dim;
      ctx.fillStyle = dim;
      ctx.textAlign = "center";
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
      for (const {name, start_s: start, end_s: end} of steps) {
        const [x0, x1] = [Math.max(0, start), Math.min(length, end)].map((at) => chart.valToPos(at, "x", true));
        for (const x of [x0, x1]) {
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        const number = /\d+$/.exec(name)?.[0];
        const label = [name, number && `#${number}`].find((text) => text && ctx.measureText(text).width + 6 < x1 - x0);
        if (label) ctx.fillText(label, (x0 + x1) / 2, bbox.top - 6 * devicePixelRatio);
      }
      ctx.restore();
    };
    const axis = {stroke: dim, grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1}, font: "12px system-ui, sans-serif"};
    const chart = new uPlot({
      width: size.width, height: 270, padding: [18, 8, 0, 0],
      scales: {x: {time: false, range: [0, length]}, y: {range: [floor, most * 1.04]}},
      legend: {show: true, live: true},
      cursor: {drag: {x: true, y: false, setScale: false}, points: {size: 5}},
      series: [
        {label: "time", value: (_, at) => (isKnown(at) ? si(at, "s") : "–")},
        ...channels.flatMap(({device}, i) => [{
          label: device, stroke: colourOf(`--device${i % 6}`), width: 1.6, paths: uPlot.paths.stepped!({align: 1}), points: {show: false},
          value: (_: uPlot, watts: number | null, __: number, at: number | null) => (at === null ? "–" : isKnown(watts) ? si(watts, "W") : "?"),
        }]),
      ],
      axes: [{...axis, values: (_, at) => at.map((value) => si(value, "s"))},
        {...axis, size: 58, splits: (_, __, ___, top) => {
          const step = 10 ** Math.floor(Math.log10(top / 2));
          const by = top / step > 12 ? step * 5 : top / step > 5 ? step * 2 : step;
          return Array.from({length: Math.floor(top / by) + 1}, (_unused, i) => i * by);
        }, values: (_, at) => at.map((value) => si(value, "W"))}],
      hooks: {
        draw: [paintPhases, paintSteps],
        setSelect: [(chart) => {
          if (chart.select.width < 4) return;
          const [from, to] = [chart.select.left, chart.select.left + chart.select.width].map((at) => chart.posToVal(at, "x"));
          update({window: `${short(Math.max(0, from), length)}-${short(Math.min(length, to), length)}`});
        }],
      },
    }, [times, ...channels.map(({mean_w: watts}) => watts)] as uPlot.AlignedData, target.current);
    plot.current = chart;
    // Its colours are drawn, not styled.
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => setScheme((count) => count + 1);
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      chart.destroy();
      plot.current = null;
    };
  }, [timeline, size.width, scheme]);

  // What is marked stays marked.
  useEffect(() => {
    const chart = plot.current;
    if (!chart) return;
    let [from, to] = [shown?.from, shown?.to];
    const step = shown?.step !== undefined && steps.find(({name}) => name === shown.step);
    if (step) [from, to] = [step.start_s, step.end_s];
    const left = from === undefined ? 0 : chart.valToPos(Math.max(0, from), "x");
    const width = to === undefined ? 0 : chart.valToPos(Math.min(length, to), "x") - left;
    chart.setSelect({left, width, top: 0, height: chart.over.clientHeight}, false);
  }, [timeline, size.width, scheme, shown?.from, shown?.to, shown?.step]);

  const typed = (which: "from" | "to") => (event: {currentTarget: HTMLInputElement}) => {
    const value = Number(event.currentTarget.value);
    const now = {from: shown?.from ?? 0, to: shown?.to ?? length, [which]: value};
    if (now.to > now.from) update({window: `${short(now.from, length)}-${short(now.to, length)}`});
  };
  if (!slices) return null;
  return (
    <section aria-labelledby="power-h">
      <div class="line">
        <h2 id="power-h">Power over time</h2>
        <span class="legend push">{phases.map((phase) => <span key={phase}><i class="swatch" style={{background: `var(${phaseVariable(phase)})`}} />{phase}</span>)}</span>
      </div>
      <p class="lead">From {timeline.start || "the start of the trace"}. Mark a stretch to see it alone in every view.</p>
      <div class="line window">
        <label>from <input type="number" min="0" max={length} step="any" value={shown?.from ?? 0} onChange={typed("from")} /></label>
        <label>to <input type="number" min="0" max={length} step="any" value={shown?.to ?? +short(length, length)} onChange={typed("to")} /></label> s
        {steps.length > 0 && steps.length <= 500 && <Select label="step" hideLabel value={shown?.step ?? ""} onChange={(name) => update({window: name ? `step:${name}` : ""})}
          options={[["", plural(steps.length, "step")], ...steps.map(({name}) => [name, name] as [string, string])]} />}
        {shown && <button type="button" class="button small" onClick={() => update({window: ""})}>The whole run</button>}
      </div>
      <div ref={box} class="plot"><div ref={target} role="img" aria-label={`Power over ${si(length, "s")} of ${channels.map(({device}) => device).join(", ")}; at most ${si(most, "W")}. ` +
        `${state.value.window ? "A part is marked." : ""}`} /></div>
    </section>
  );
}
