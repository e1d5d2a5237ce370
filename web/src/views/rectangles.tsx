// Rectangles on a canvas, for the icicle and the treemap: drawing, pointing, keys and a zoom that moves.
import type {TargetedKeyboardEvent, TargetedMouseEvent, TargetedPointerEvent} from "preact";
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {colourOf, shareStep} from "../parts/colours";
import {useSize} from "../parts/controls";
import {figure} from "../tree/columns";
import {variableOf} from "../tree/segments";
import {hasChildren, type Tree} from "../tree/tree";
import {Card} from "./card";
import {ordered, type Look} from "./look";

// In units of the whole picture: 0 to 1 across; y in pixels or 0 to 1, as the layout has it.
export interface Rectangles {
  node: Int32Array;
  x0: Float64Array;
  x1: Float64Array;
  y0: Float64Array;
  y1: Float64Array;
  head: number; // pixels of a container that its own name takes; 0: names stand in the middle
}

export interface Frame {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

const moveMs = 180;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

// Dark letters on light colours, light ones on dark.
function inkOn(colour: string): string {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour);
  if (!hex) return colourOf("--ink");
  const [r, g, b] = [0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#10201a" : "#ffffff";
}

export function Picture({look, shapes, frameOf, zoom, onZoom, label, height}: {
  look: Look;
  shapes: Rectangles;
  frameOf: (node: number) => Frame; // what is in sight while zoomed to a node
  zoom: number;
  onZoom: (node: number) => void;
  label: string;
  height: number;
}) {
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<Frame>(frameOf(zoom));
  const [hover, setHover] = useState<{node: number; x: number; y: number} | null>(null);
  const {tree, column, segments, colour, selected} = look;
  const whole = column.values[0];

  const draw = () => {
    const context = canvas.current?.getContext("2d");
    if (!context || !size.width) return;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [size.width, height];
    if (canvas.current!.width !== Math.round(wide * ratio) || canvas.current!.height !== Math.round(high * ratio)) {
      canvas.current!.width = Math.round(wide * ratio);
      canvas.current!.height = Math.round(high * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.textBaseline = "middle";
    context.font = "12px system-ui, sans-serif";
    const {x0, x1, y0, y1} = view.current;
    const [sx, sy] = [wide / (x1 - x0), high / (y1 - y0)];
    const page = colourOf("--card");
    const letter = 6.6;
    for (let i = 0; i < shapes.node.length; ++i) {
      if (shapes.x1[i] <= x0 || shapes.x0[i] >= x1 || shapes.y1[i] <= y0 || shapes.y0[i] >= y1) continue;
      const node = shapes.node[i];
      const left = Math.max(-1, (shapes.x0[i] - x0) * sx);
      const right = Math.min(wide + 1, (shapes.x1[i] - x0) * sx);
      const up = (shapes.y0[i] - y0) * sy;
      const down = (shapes.y1[i] - y0) * sy;
      // What is narrower than a pixel is drawn as one, so that many of them still show.
      const across = Math.max(right - left - 1, 0.6);
      const fill = look.differs ? colourOf(look.differs.tint(tree.source[node])) : colour === "share"
        ? colourOf(`--share${shareStep(whole > 0 ? column.values[node] / whole : 0)}`)
        : colourOf(variableOf(tree, segments, colour, node));
      context.fillStyle = fill;
      context.fillRect(left, up, across, Math.max(down - up - 1, 0.6));
      if (node === selected || node === hover?.node) {
        context.strokeStyle = colourOf(node === selected ? "--ink" : "--dim");
        context.lineWidth = node === selected ? 2 : 1.5;
        context.strokeRect(left + 1, up + 1, Math.max(1, across - 2), Math.max(1, down - up - 3));
      }
      const most = Math.floor((across - 8) / letter);
      if (most < 3 || down - up < 13) continue;
      const times = tree.layers[node] > 1 ? ` ×${tree.layers[node]}` : "";
      const name = `${tree.names[node] || "(no name)"}${times}`;
      const value = figure(column.values[node], column);
      const text = name.length + value.length + 2 <= most ? `${name}  ${value}` : name.length <= most ? name : `${name.slice(0, most - 1)}…`;
      context.fillStyle = fill === page ? colourOf("--ink") : inkOn(fill);
      const middle = shapes.head ? Math.min((up + down) / 2, up + shapes.head / 2 + 1) : (up + down) / 2;
      context.fillText(text, left + 5, middle, across - 6);
    }
  };
  const latest = useRef(draw);
  latest.current = draw;

  // The zoom moves there unless the reader asked for calm.
  const goal = frameOf(zoom);
  const goalKey = `${goal.x0} ${goal.x1} ${goal.y0} ${goal.y1}`;
  const shownTree = useRef<Tree | null>(null);
  useLayoutEffect(() => {
    const from = {...view.current};
    const isNew = shownTree.current === null;
    shownTree.current = tree;
    if (isCalm.matches || isNew || (from.x0 === goal.x0 && from.x1 === goal.x1 && from.y0 === goal.y0 && from.y1 === goal.y1)) {
      view.current = goal;
      latest.current();
      return undefined;
    }
    const since = performance.now();
    let frame = 0;
    const step = (now: number) => {
      const share = Math.min(1, Math.max(0, (now - since) / moveMs));
      const eased = 1 - (1 - share) ** 3;
      const between = (a: number, b: number) => a + (b - a) * eased;
      view.current = share >= 1 ? goal : {x0: between(from.x0, goal.x0), x1: between(from.x1, goal.x1), y0: between(from.y0, goal.y0), y1: between(from.y1, goal.y1)};
      latest.current();
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [goalKey]);
  useLayoutEffect(draw);
  useEffect(() => {
    const redraw = () => latest.current();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", redraw);
    return () => scheme.removeEventListener("change", redraw);
  }, []);

  const at = (event: TargetedPointerEvent<HTMLCanvasElement> | TargetedMouseEvent<HTMLCanvasElement>): number => {
    const bounds = event.currentTarget.getBoundingClientRect();
    const {x0, x1, y0, y1} = view.current;
    const x = x0 + ((event.clientX - bounds.left) / bounds.width) * (x1 - x0);
    const y = y0 + ((event.clientY - bounds.top) / bounds.height) * (y1 - y0);
    // Those drawn last lie on top.
    for (let i = shapes.node.length - 1; i >= 0; --i) {
      if (shapes.x0[i] <= x && x < shapes.x1[i] && shapes.y0[i] <= y && y < shapes.y1[i]) return shapes.node[i];
    }
    return -1;
  };
  const siblings = useMemo(() => new Map<number, number[]>(), [tree, column, look.isHeavyFirst]);
  const childrenIn = (node: number) => {
    let children = siblings.get(node);
    if (!children) siblings.set(node, (children = ordered(tree, node, column.values, look.isHeavyFirst)));
    return children;
  };
  const key = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = selected >= 0 ? selected : zoom;
    const above = tree.parent[here];
    const beside = above >= 0 ? childrenIn(above) : [here];
    const place = beside.indexOf(here);
    const go = (node: number | undefined) => node !== undefined && node >= 0 && look.onSelect(node, "flow");
    switch (event.key) {
      case "ArrowDown": go(childrenIn(here)[0]); break;
      case "ArrowUp": go(above); break;
      case "ArrowRight": go(beside[place + 1]); break;
      case "ArrowLeft": go(beside[place - 1]); break;
      case "Home": go(0); break;
      case "Enter": case " ": onZoom(hasChildren(tree, here) ? here : Math.max(0, above)); break;
      case "Escape":
        if (zoom <= 0) return;
        onZoom(Math.max(0, tree.parent[zoom]));
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const spoken = selected >= 0 ? `${tree.names[selected]}, ${figure(column.values[selected], column)}` : "nothing selected";
  return (
    <div class="picture" ref={box}>
      <canvas ref={canvas} style={{height: `${height}px`}} tabIndex={0} role="application" aria-label={label} aria-describedby="picture-keys"
        onPointerMove={(event) => {
          const node = at(event);
          setHover(node < 0 ? null : {node, x: event.clientX, y: event.clientY});
        }}
        onPointerLeave={() => setHover(null)}
        onClick={(event) => {
          const node = at(event);
          if (node < 0) return;
          look.onSelect(node, "flow");
          onZoom(hasChildren(tree, node) ? node : Math.max(0, tree.parent[node]));
        }}
        onKeyDown={key} />
      <p id="picture-keys" class="hidden-text">Arrow keys move, Enter zooms in, Escape zooms out. The tree table has the same as text.</p>
      <p class="hidden-text" aria-live="polite">{spoken}</p>
      {hover && <Card look={look} node={hover.node} x={hover.x} y={hover.y} />}
    </div>
  );
}

// Where the zoom is, from the whole on; each a button that goes there.
export function Crumbs({tree, zoom, onZoom}: {tree: Tree; zoom: number; onZoom: (node: number) => void}) {
  const way: number[] = [];
  for (let node = zoom; node >= 0; node = tree.parent[node]) way.unshift(node);
  return (
    <nav class="crumbs" aria-label="Zoomed to">
      <ol>
        {way.map((node) => (
          <li key={node}>
            {node === zoom ? <b class="name" aria-current="location">{tree.names[node] || "(no name)"}</b>
              : <button type="button" class="name" onClick={() => onZoom(node)}>{tree.names[node] || "(no name)"}</button>}
          </li>
        ))}
      </ol>
      {zoom > 0 && <button type="button" class="button small" onClick={() => onZoom(0)}>Zoom out</button>}
    </nav>
  );
}
