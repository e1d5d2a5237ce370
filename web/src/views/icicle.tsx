// The icicle: the whole on top, each part as wide as its share, the widest to the left.
import {useMemo} from "preact/hooks";
import type {Tree} from "../tree/tree";
import type {Column} from "../tree/tree";
import {ordered, type Look} from "./look";
import {Crumbs, Picture, type Frame, type Rectangles} from "./rectangles";

// Shares below this are not drawn, nor is what is below them: at this zoom nobody could see them. A zoom lays out anew.
const least = 1 / 20_000;

export function layIcicle(tree: Tree, column: Column, isHeavyFirst: boolean, zoom: number): Rectangles & {depth: number; at: Map<number, Frame>} {
  const found: {node: number; x0: number; x1: number; depth: number}[] = [];
  const at = new Map<number, Frame>();
  let deepest = 0;
  const whole = column.values[0];
  // In a zoom, what is inside it may be as small as can be seen there.
  const inSight = whole > 0 && column.values[zoom] > 0 ? column.values[zoom] / whole : 1;
  const visit = (node: number, x0: number, x1: number, depth: number) => {
    found.push({node, x0, x1, depth});
    at.set(node, {x0, x1, y0: depth, y1: depth + 1});
    if (depth > deepest) deepest = depth;
    const total = column.values[node];
    if (!(total > 0)) return;
    let x = x0;
    for (const child of ordered(tree, node, column.values, isHeavyFirst)) {
      const width = ((x1 - x0) * Math.max(0, column.values[child] || 0)) / total;
      if (width > least * inSight) visit(child, x, x + width, depth + 1);
      x += width;
    }
  };
  if (tree.size) visit(0, 0, 1, 0);
  return {
    node: Int32Array.from(found, ({node}) => node),
    x0: Float64Array.from(found, ({x0}) => x0),
    x1: Float64Array.from(found, ({x1}) => x1),
    y0: Float64Array.from(found, ({depth}) => depth),
    y1: Float64Array.from(found, ({depth}) => depth + 1),
    head: 0, depth: deepest + 1, at,
  };
}

export function Icicle({look, zoom, onZoom}: {look: Look; zoom: number; onZoom: (node: number) => void}) {
  const {tree, column, isHeavyFirst} = look;
  const shapes = useMemo(() => layIcicle(tree, column, isHeavyFirst, zoom), [tree, column, isHeavyFirst, zoom]);
  const frameOf = (node: number): Frame => {
    const place = shapes.at.get(node) ?? {x0: 0, x1: 1, y0: 0, y1: 1};
    return {x0: place.x0, x1: Math.max(place.x1, place.x0 + 1e-9), y0: 0, y1: shapes.depth};
  };
  const row = shapes.depth > 26 ? 18 : 24;
  return (
    <>
      <Crumbs tree={tree} zoom={zoom} onZoom={onZoom} />
      <Picture look={look} shapes={shapes} frameOf={frameOf} zoom={zoom} onZoom={onZoom} height={Math.max(120, row * shapes.depth)}
        label={`Icicle of ${tree.names[zoom]}: each part is as wide as its share`} />
    </>
  );
}
