// A recording without a trace of operations: devices, whose energy it was, and processes.
import type {ComponentChildren} from "preact";
import type {Note} from "../api/types";
import {duration, isKnown, mass, money, si} from "../parts/figures";
import {Headline, type Worth} from "../parts/headline";
import {Notes} from "../parts/notes";

interface Device {
  device: string;
  energy_j: number | null;
  mean_w: number | null;
  seconds: number;
  ours_j: number | null;
  others_j: number | null;
  recorder_j: number | null;
  idle_j: number | null;
  origin: string;
  source: string;
  slices_w: (number | null)[];
}
export interface Measurement {
  command: string[];
  start: string;
  seconds: number;
  devices: Device[];
  total: {energy_j: number | null; low_j: number | null; high_j: number | null; ours_j: number | null; mean_w: number | null; origin: string; complete: boolean; missing: string[]};
  processes: {pid: number; name: string; owner: string; cpu_s: number; energy_j: Record<string, number | null>}[];
  costs: {machine: {kwh: number | null; price: number | null; co2e_kg: number | null} | null; electricity: {region: string; currency: string}} | null;
  notes: Note[];
}

const owners: [keyof Device, string, string][] = [["ours_j", "ours", "--accent"], ["others_j", "other processes", "--device1"], ["recorder_j", "the recorder", "--device2"], ["idle_j", "idle", "--idle"]];

// The mean of each slice as a line; a gap where nothing was read.
function Spark({watts, most, variable}: {watts: (number | null)[]; most: number; variable: string}) {
  let path = "";
  let isOpen = false;
  watts.forEach((value, i) => {
    if (!isKnown(value)) {
      isOpen = false;
      return;
    }
    const [x0, x1, y] = [(i / watts.length) * 600, ((i + 1) / watts.length) * 600, 60 - (58 * value) / most];
    path += `${isOpen ? "L" : "M"}${x0.toFixed(1)} ${y.toFixed(1)}H${x1.toFixed(1)}`;
    isOpen = true;
  });
  return <svg class="spark" viewBox="0 0 600 62" preserveAspectRatio="none" aria-hidden="true"><path d={path} style={{stroke: `var(${variable})`}} /></svg>;
}

export function Recording({measured, name, actions}: {measured: Measurement; name: string; actions: ComponentChildren}) {
  const {total, devices, processes, costs} = measured;
  const most = Math.max(1e-9, ...devices.map((device) => device.energy_j ?? 0));
  const peak = Math.max(1e-9, ...devices.flatMap((device) => device.slices_w.map((value) => value ?? 0)));
  const sumOf = (energy: Record<string, number | null>) => {
    const known = Object.values(energy).filter(isKnown);
    return known.length ? known.reduce((sum, joules) => sum + joules, 0) : null;
  };
  const rows = [...processes].sort((a, b) => (sumOf(b.energy_j) ?? -1) - (sumOf(a.energy_j) ?? -1));
  return (
    <>
      <Headline energy={total.energy_j} low={total.low_j} high={total.high_j} worth={total.origin as Worth} label={name}
        lead={<>{measured.command.length > 0 && <code class="name">{measured.command.join(" ").slice(0, 400)}</code>} {total.complete ? "" : `Not complete: ${total.missing.join(", ")}.`}</>}
        facts={[{name: "ours", value: si(total.ours_j, "J")}, {name: "mean power", value: si(total.mean_w, "W")}, {name: "duration", value: duration(measured.seconds)},
          ...(costs?.machine ? [{name: "cost", value: money(costs.machine.price, costs.electricity.currency)}, {name: `CO₂e in ${costs.electricity.region}`, value: mass(costs.machine.co2e_kg)}] : [])]}>
        {actions}
      </Headline>
      <section aria-labelledby="whose-h">
        <div class="line"><h2 id="whose-h">Whose energy</h2>
          <span class="legend push">{owners.map(([, text, variable]) => <span key={text}><i class="swatch" style={{background: `var(${variable})`}} />{text}</span>)}</span></div>
        <div class="books">
          {devices.map((device) => [
            <span key={`${device.device}n`} class="name">{device.device}</span>,
            isKnown(device.energy_j)
              ? <span key={`${device.device}b`} class="stack" style={{width: `${(100 * device.energy_j) / most}%`}} title={owners.map(([key, text]) => `${text} ${si(device[key] as number | null, "J")}`).join(", ")}>
                {owners.map(([key, text, variable]) => isKnown(device[key]) && <i key={text} style={{flexGrow: (device[key] as number) / most, background: `var(${variable})`}} />)}
                {!isKnown(device.ours_j) && <i class="stripes" style={{flexGrow: device.energy_j / most}} />}</span>
              : <span key={`${device.device}b`} class="dim">unknown</span>,
            <b key={`${device.device}j`}>{si(device.energy_j, "J")}</b>,
          ])}
        </div>
        <h3>Power, up to {si(peak, "W")}</h3>
        <div class="sparks">{devices.map((device, i) => <div key={device.device}><span class="name">{device.device}</span><Spark watts={device.slices_w} most={peak} variable={`--device${i % 6}`} /><span>{si(device.mean_w, "W")} mean</span></div>)}</div>
      </section>
      {rows.length > 0 && (
        <section aria-labelledby="processes-h">
          <h2 id="processes-h">Processes</h2>
          <div class="scroll" tabIndex={0} role="region" aria-label="The processes as a table">
            <table><thead><tr><th scope="col" class="left">process</th><th scope="col" class="left">of</th><th scope="col">CPU time</th><th scope="col">energy</th></tr></thead>
              <tbody>{rows.slice(0, 60).map((process) => <tr key={process.pid}><th scope="row" class="name">{process.name} <span class="dim">{process.pid}</span></th><td class="left">{process.owner}</td>
                <td>{si(process.cpu_s, "s")}</td><td>{si(sumOf(process.energy_j), "J")}</td></tr>)}</tbody></table>
          </div>
        </section>
      )}
      <Notes notes={measured.notes} />
    </>
  );
}
