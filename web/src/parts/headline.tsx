// The result in one look: energy with its interval, and what follows from it.
import type {ComponentChildren} from "preact";
import {isKnown, range, siParts} from "./figures";

export type Worth = "measured" | "estimated" | "predicted" | "uncalibrated" | "synthetic";

const meaning: Record<Worth, string> = {
  measured: "read from a meter",
  estimated: "computed from CPU time: no meter could be read",
  predicted: "predicted with a profile that was learned from a meter",
  uncalibrated: "predicted from a datasheet, or from costs of operations that no meter has confirmed",
  synthetic: "made up for a demonstration, not measured",
};

export const Badge = ({worth}: {worth: Worth}) => <span class={`badge ${worth}`} title={meaning[worth]}>{worth}</span>;

export interface Fact {
  name: string;
  value: string;
  title?: string;
}

export function Headline({energy, low, high, unit = "J", worth, label, lead, facts, isOld, children}: {
  energy: number | null; low?: number | null; high?: number | null; unit?: string; worth: Worth; label: string; lead?: ComponentChildren;
  facts: Fact[]; isOld?: boolean; children?: ComponentChildren;
}) {
  const [digits, energyUnit] = isKnown(energy) ? siParts(energy, unit) : ["?", unit];
  return (
    <header class={`headline ${isOld ? "old" : ""}`} aria-busy={isOld}>
      <div>
        <h1 class="what"><span class="name">{label}</span> <Badge worth={worth} /></h1>
        <p class="total" id="total">{digits}<small>{energyUnit}</small>
          {isKnown(low) && isKnown(high) && <span class="interval">{range(low, high, unit)}</span>}</p>
        {lead && <p class="lead">{lead}</p>}
      </div>
      <dl class="facts">
        {facts.map(({name, value, title}) => <div key={name} title={title}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
      {children}
    </header>
  );
}
