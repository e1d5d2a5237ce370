// The treemap: areas instead of lengths, for many small parts at once.
import {hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode} from "d3-hierarchy";
import {useMemo} from "preact/hooks";
import {useSize} from "../parts/controls";
import {selfOf, type Column, type Tree} from "../tree/tree";
import {ordered, type Look} from "./look";
import {Crumbs, Picture, type Frame, type Rectangles} from "./rectangles";

interface Part {
  node: number;
  children?: Part[];
}

const head = 17;

export function layTreemap(tree: Tree, column: Column, zoom: number, width: number, height: number): Rectangles {
  const self = selfOf(tree, column.values);
  const whole = column.values[zoom];
  const least = (whole > 0 ? whole : 1) / 8000;
  const partOf = (node: number): Part => {
    const children = ordered(tree, node, column.values, true).filter((child) => column.values[child] > least);
    return children.length ? {node, children: children.map(partOf)} : {node};
  };
  const root = hierarchy<Part>(partOf(zoom)).sum(({node, children}) => {
    const own = children ? Math.max(0, self[node]) : Math.max(0, column.values[node]);
    return Number.isFinite(own) ? own : 0;
  });
  const laid = treemap<Part>().tile(treemapSquarify).size([width, height]).paddingTop((part) => (part.children && part.y1 - part.y0 > 3 * head ? head : 0))
    .paddingInner(1).round(true)(root);
  const found: HierarchyRectangularNode<Part>[] = [];
  laid.each((part) => {
    if (part.x1 > part.x0 && part.y1 > part.y0) found.push(part);
  });
  return {
    node: Int32Array.from(found, ({data}) => data.node),
    x0: Float64Array.from(found, ({x0}) => x0),
    x1: Float64Array.from(found, ({x1}) => x1),
    y0: Float64Array.from(found, ({y0}) => y0),
    y1: Float64Array.from(found, ({y1}) => y1),
    head,
  };
}

export function Treemap({look, zoom, onZoom}: {look: Look; zoom: number; onZoom: (node: number) => void}) {
  const {tree, column} = look;
  const [box, size] = useSize<HTMLDivElement>();
  const width = size.width || 800;
  const height = Math.max(320, Math.min(620, Math.round(width * 0.6)));
  const shapes = useMemo(() => layTreemap(tree, column, zoom, width, height), [tree, column, zoom, width, height]);
  const frameOf = (): Frame => ({x0: 0, x1: width, y0: 0, y1: height});
  return (
    <div ref={box}>
      <Crumbs tree={tree} zoom={zoom} onZoom={onZoom} />
      <Picture look={look} shapes={shapes} frameOf={frameOf} zoom={zoom} onZoom={onZoom} height={height}
        label={`Treemap of ${tree.names[zoom]}: each part has the area of its share`} />
    </div>
  );
}
