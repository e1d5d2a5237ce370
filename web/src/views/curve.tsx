// Numbers of variants as pictures: a curve with its interval, a heat map, and energy against time.
import {useSize} from "../parts/controls";
import {shareSteps} from "../parts/colours";
import {isKnown, ticks} from "../parts/figures";

export interface Point {
  label: string; // of the variant
  x: number; // its place; the values themselves if they are numbers
  y: number;
  low?: number | null;
  high?: number | null;
  fails?: string | null;
  onPick: () => void;
}

const [left, right, top, below, high] = [74, 16, 12, 44, 300];

// A press on a point opens it; the table below has the same for the keyboard.
export function Curve({points, isLog, xLabel, format, label}: {
  points: Point[]; isLog: boolean; xLabel: string; format: (value: number) => string; label: string;
}) {
  const [box, size] = useSize<HTMLDivElement>();
  const width = Math.max(280, size.width || 800);
  const known = points.filter((point) => isKnown(point.y));
  const most = Math.max(1e-30, ...known.map((point) => Math.max(point.y, isKnown(point.high) ? point.high : 0)));
  const place = (value: number) => (isLog ? Math.log2(Math.max(value, 1e-9)) : value);
  const xs = points.map((point) => place(point.x));
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const xOf = (point: Point) => left + ((width - left - right) * (place(point.x) - first)) / Math.max(1e-9, last - first);
  const yOf = (value: number) => top + high * (1 - value / (most * 1.04));
  const line = (of: (point: Point) => number) => known.map((point, i) => `${i ? "L" : "M"}${xOf(point).toFixed(1)} ${yOf(of(point)).toFixed(1)}`).join("");
  const banded = known.filter((point) => isKnown(point.low) && isKnown(point.high));
  const band = banded.length > 1
    ? `${banded.map((point, i) => `${i ? "L" : "M"}${xOf(point).toFixed(1)} ${yOf(point.high!).toFixed(1)}`).join("")}${banded.slice().reverse().map((point) => `L${xOf(point).toFixed(1)} ${yOf(point.low!).toFixed(1)}`).join("")}Z` : "";
  const each = Math.max(1, Math.ceil((points.length * 46) / (width - left - right)));
  return (
    <div ref={box} class="chart">
      <svg width={width} height={top + high + below} role="img" aria-label={label}>
        {ticks(most, 5).at.map((value) => (
          <g key={value}><line class="grid" x1={left} x2={width - right} y1={yOf(value)} y2={yOf(value)} /><text x={left - 8} y={yOf(value)} dy="0.34em" text-anchor="end">{format(value)}</text></g>
        ))}
        {points.map((point, i) => i % each === 0 && <text key={i} x={xOf(point)} y={top + high + 18} text-anchor="middle">{point.label}</text>)}
        <text x={(left + width - right) / 2} y={top + high + 38} text-anchor="middle">{xLabel}</text>
        {band && <path d={band} class="band" />}
        <path d={line((point) => point.y)} class="curve" />
        {points.map((point, i) => (isKnown(point.y) ? (
          <g key={i} class="point" onClick={point.onPick}>
            <title>{`${point.label}: ${format(point.y)}`}</title>
            <circle cx={xOf(point)} cy={yOf(point.y)} r="4.5" />
          </g>
        ) : <text key={i} x={xOf(point)} y={top + high - 6} text-anchor="middle" class="unknown"><title>{point.fails ?? "unknown"}</title>?</text>))}
      </svg>
    </div>
  );
}

// Values that have no order of their own: a bar each.
export function Bars({points, format, label}: {points: Point[]; format: (value: number) => string; label: string}) {
  const most = Math.max(1e-30, ...points.map((point) => Math.max(isKnown(point.y) ? point.y : 0, isKnown(point.high) ? point.high : 0)));
  return (
    <ul class="bars" aria-label={label}>
      {points.map((point, i) => (
        <li key={i}>
          <button type="button" class="link name" onClick={point.onPick}>{point.label}</button>
          {isKnown(point.y) ? (
            <span class="bar" title={format(point.y)}>
              <span class="fill" style={{width: `${(100 * point.y) / most}%`}}><i style={{flexGrow: 1, background: "var(--accent)"}} /></span>
              {isKnown(point.low) && isKnown(point.high) && <span class="whisker" style={{left: `${(100 * point.low) / most}%`, width: `${(100 * (point.high - point.low)) / most}%`}} />}
            </span>
          ) : <span class="dim why">{point.fails ?? "unknown"}</span>}
          <b>{isKnown(point.y) ? format(point.y) : "?"}</b>
        </li>
      ))}
    </ul>
  );
}

export interface HeatCell {
  value: number;
  text: string;
  title: string;
  onPick: () => void;
}

// Nine steps between the least and the most, at equal ratios if they span much.
export function HeatMap({rows, columns, cells, corner, label}: {rows: string[]; columns: string[]; cells: (HeatCell | null)[][]; corner: string; label: string}) {
  const known = cells.flat().filter((cell): cell is HeatCell => !!cell && isKnown(cell.value));
  const [least, most] = [Math.min(...known.map(({value}) => value)), Math.max(...known.map(({value}) => value))];
  const isWide = least > 0 && most / least > 20;
  const stepOf = (value: number) => {
    const share = most === least ? 0 : isWide ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
    return Math.round(share * shareSteps.length);
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="heat">
        <thead><tr><th scope="col" class="left">{corner}</th>{columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr></thead>
        <tbody>{rows.map((row, y) => (
          <tr key={row}><th scope="row">{row}</th>{columns.map((column, x) => {
            const cell = cells[y][x];
            return (
              <td key={column} class={cell && isKnown(cell.value) ? `heat${stepOf(cell.value)}` : ""} title={cell?.title}>
                {cell ? <button type="button" onClick={cell.onPick}>{cell.text}</button> : ""}
              </td>
            );
          })}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

export interface Spot {
  label: string;
  x: number;
  y: number;
  onPick: () => void;
}

// Those that no other is better than in both.
export function frontOf(spots: {x: number; y: number}[]): Set<number> {
  const order = spots.map((_, i) => i).filter((i) => isKnown(spots[i].x) && isKnown(spots[i].y)).sort((a, b) => spots[a].x - spots[b].x || spots[a].y - spots[b].y);
  const front = new Set<number>();
  let least = Infinity;
  for (const i of order) {
    if (spots[i].y < least) {
      least = spots[i].y;
      front.add(i);
    }
  }
  return front;
}

export function Scatter({spots, xLabel, yLabel, formatX, formatY, label}: {
  spots: Spot[]; xLabel: string; yLabel: string; formatX: (value: number) => string; formatY: (value: number) => string; label: string;
}) {
  const [box, size] = useSize<HTMLDivElement>();
  const width = Math.max(280, size.width || 800);
  const shown = spots.filter(({x, y}) => x > 0 && y > 0);
  if (!shown.length) return null;
  const front = frontOf(shown);
  const bounds = (values: number[]) => [Math.log(Math.min(...values)) - 0.12, Math.log(Math.max(...values)) + 0.12];
  const [x0, x1] = bounds(shown.map(({x}) => x));
  const [y0, y1] = bounds(shown.map(({y}) => y));
  const xOf = (value: number) => left + ((width - left - right) * (Math.log(value) - x0)) / (x1 - x0);
  const yOf = (value: number) => top + high * (1 - (Math.log(value) - y0) / (y1 - y0));
  const tickAt = (from: number, to: number, count: number) => Array.from({length: count}, (_, i) => Math.exp(from + ((to - from) * (i + 0.5)) / count));
  const way = [...front].map((i) => shown[i]).sort((a, b) => a.x - b.x);
  return (
    <div ref={box} class="chart">
      <svg width={width} height={top + high + below} role="img" aria-label={label}>
        {tickAt(y0, y1, 4).map((value) => <g key={value}><line class="grid" x1={left} x2={width - right} y1={yOf(value)} y2={yOf(value)} /><text x={left - 8} y={yOf(value)} dy="0.34em" text-anchor="end">{formatY(value)}</text></g>)}
        {tickAt(x0, x1, width < 500 ? 3 : 6).map((value) => <g key={value}><line class="grid" y1={top} y2={top + high} x1={xOf(value)} x2={xOf(value)} /><text x={xOf(value)} y={top + high + 18} text-anchor="middle">{formatX(value)}</text></g>)}
        <text x={(left + width - right) / 2} y={top + high + 38} text-anchor="middle">{xLabel}</text>
        <text x={left} y={top + 4} class="y-label">{yLabel}</text>
        <path class="front" d={way.map((spot, i) => `${i ? `H${xOf(spot.x)}V` : `M${xOf(spot.x)} `}${yOf(spot.y)}`).join("")} />
        {shown.map((spot, i) => (
          <g key={i} class={`point ${front.has(i) ? "" : "behind"}`} onClick={spot.onPick}>
            <title>{`${spot.label}: ${formatY(spot.y)}, ${formatX(spot.x)}`}</title>
            <circle cx={xOf(spot.x)} cy={yOf(spot.y)} r="5" />
            {front.has(i) && <text x={xOf(spot.x) + (xOf(spot.x) > width - 120 ? -8 : 8)} y={yOf(spot.y) - 7} text-anchor={xOf(spot.x) > width - 120 ? "end" : "start"}>{spot.label.slice(0, 24)}</text>}
          </g>
        ))}
      </svg>
    </div>
  );
}
