// What the machine of the server draws now, by device and process.
import {effect, signal} from "@preact/signals";
import {pathOf as addressOf} from "../api/client";
import {isKnown, si} from "../parts/figures";
import {Headline, type Worth} from "../parts/headline";
import {field, state} from "../state/url";

interface Look {
  machine: string;
  origin: Worth;
  power_w: number | null;
  devices: {device: string; power_w: number | null}[];
  processes: {pid: number; name: string; power_w: number | null}[];
}

const mostKept = 180;
const looks = signal<Look[]>([]);
const trouble = signal("");
const page = field("page");

// One stream, and only while somebody looks: browsers allow few connections to one host.
const isSeen = signal(!document.hidden);
document.addEventListener("visibilitychange", () => (isSeen.value = !document.hidden));
effect(() => {
  if (page.value !== "live" || !isSeen.value) return undefined;
  const source = new EventSource(addressOf("live"));
  source.addEventListener("power", (event) => {
    trouble.value = "";
    looks.value = [...looks.peek(), JSON.parse(event.data)].slice(-mostKept);
  });
  source.onerror = () => {
    trouble.value = source.readyState === EventSource.CLOSED ? "This server's machine has no meter that it may read, or it does not answer." : "The connection was lost; the browser tries again.";
  };
  return () => source.close();
});

export function Live() {
  void state.value.page;
  const all = looks.value;
  const last = all.at(-1);
  // Unknown if that of any device is.
  const watts = (look: Look | undefined): number | null => look?.power_w ?? null;
  const most = Math.max(1e-9, ...all.map((look) => watts(look) ?? 0));
  const path = all.map((look, i) => (isKnown(watts(look)) ? `${i && isKnown(watts(all[i - 1])) ? "L" : "M"}${((i / (mostKept - 1)) * 600).toFixed(1)} ${(60 - (58 * watts(look)!) / most).toFixed(1)}` : "")).join("");
  const devices = last?.devices ?? [];
  const largest = Math.max(1e-9, ...devices.map((device) => device.power_w ?? 0));
  const processes = [...(last?.processes ?? [])].filter((process) => isKnown(process.power_w)).sort((a, b) => b.power_w! - a.power_w!);
  return (
    <main id="main" tabIndex={-1} class="wide">
      {!last && <h1>Live</h1>}
      {trouble.value && <p class="trouble" role="alert">{trouble.value}</p>}
      {!last && !trouble.value && <p class="loading" role="status">Waiting for the first reading…</p>}
      {last && (
        <>
          <Headline energy={watts(last)} unit="W" worth={last.origin} label={last.machine} facts={[{name: "most since the page opened", value: si(most, "W")}]} />
          <section aria-label="Power of the last minutes"><svg class="spark" viewBox="0 0 600 62" preserveAspectRatio="none" role="img" aria-label={`Power, up to ${si(most, "W")}`}><path d={path} style={{stroke: "var(--accent)"}} /></svg></section>
          <section aria-labelledby="live-devices-h"><h2 id="live-devices-h">Devices</h2>
            <div class="books">{devices.map((device) => [
              <span key={`${device.device}n`} class="name">{device.device}</span>,
              <span key={`${device.device}b`} class="bar"><span class="fill" style={{width: `${(100 * (device.power_w ?? 0)) / largest}%`}}><i style={{flexGrow: 1, background: "var(--accent)"}} /></span></span>,
              <b key={`${device.device}w`}>{si(device.power_w, "W")}</b>])}</div></section>
          {processes.length > 0 && <section aria-labelledby="live-processes-h"><h2 id="live-processes-h">Processes</h2>
            <div class="scroll" tabIndex={0} role="region" aria-label="Processes now"><table><thead><tr><th scope="col" class="left">process</th><th scope="col">power</th></tr></thead>
              <tbody>{processes.slice(0, 30).map((process) => <tr key={process.pid}><th scope="row" class="name">{process.name} <span class="dim">{process.pid}</span></th><td>{si(process.power_w, "W")}</td></tr>)}</tbody></table></div></section>}
        </>
      )}
    </main>
  );
}
