// Small controls. Each has a name, works by keyboard, and tells whether a movement is over.
import {useComputed, useSignal, useSignalEffect} from "@preact/signals";
import type {ComponentChildren, TargetedEvent, TargetedKeyboardEvent} from "preact";
import {useEffect, useId, useLayoutEffect, useRef, useState} from "preact/hooks";

type Change = (value: string, how: "step" | "flow") => void;

// Values at equal ratios, rounded to what people say: 1 2 3 4 5 6 7 8 10 12 14 16 20 ...
export function logSteps(least: number, most: number): number[] {
  const steps: number[] = [];
  for (let base = 1; base <= most; base *= 2) {
    for (const part of base >= 4 ? [1, 1.25, 1.5, 1.75] : [1]) {
      const value = base * part;
      if (value >= least && value <= most) steps.push(value);
    }
  }
  if (least === 0) steps.unshift(0);
  if (!steps.includes(3) && least <= 3 && most >= 3) steps.splice(steps.indexOf(2) + 1, 0, 3);
  return steps;
}

export function Slider({label, value, steps, onChange, unit, error}: {
  label: string; value: string; steps: number[]; onChange: Change; unit?: string; error?: string;
}) {
  const id = useId();
  const number = Number(value);
  let at = 0;
  steps.forEach((step, i) => {
    if (Math.abs(step - number) < Math.abs(steps[at] - number)) at = i;
  });
  const input = (how: "step" | "flow") => (event: TargetedEvent<HTMLInputElement>) => {
    const text = event.currentTarget.value;
    if (text === "" || !(Number(text) >= steps[0])) return;
    onChange(text, how);
  };
  return (
    <div class="control">
      <div class="control-line">
        <label for={id}>{label}</label>
        <input id={id} class="figure" type="number" inputMode="numeric" min={steps[0]} step="1" value={value}
          aria-invalid={!!error} aria-describedby={error ? `${id}-e` : undefined} onInput={input("flow")} onChange={input("step")} />
        {unit && <span class="dim">{unit}</span>}
      </div>
      <input type="range" aria-label={label} min={0} max={steps.length - 1} step={1} value={at} aria-valuetext={value}
        style={{"--at": `${(100 * at) / Math.max(1, steps.length - 1)}%`}}
        onInput={(event) => onChange(String(steps[+event.currentTarget.value]), "flow")}
        onChange={(event) => onChange(String(steps[+event.currentTarget.value]), "step")} />
      {error && <p id={`${id}-e`} class="wrong">{error}</p>}
    </div>
  );
}

export function Choice({label, value, options, onChange, hideLabel}: {
  label: string; value: string; options: [string, string][]; onChange: (value: string) => void; hideLabel?: boolean;
}) {
  const group = useId();
  return (
    <div class="switch" role="radiogroup" aria-label={label}>
      {!hideLabel && <span aria-hidden="true">{label}</span>}
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={group} value={option} checked={option === value} onChange={() => onChange(option)} />
          {text}
        </label>
      ))}
    </div>
  );
}

export function Select({label, value, options, onChange, error, hideLabel}: {
  label: string; value: string; options: [string, string][]; onChange: (value: string) => void; error?: string; hideLabel?: boolean;
}) {
  const id = useId();
  return (
    <div class={hideLabel ? "inline" : "control control-line"}>
      {!hideLabel && <label for={id}>{label}</label>}
      <select id={id} aria-label={hideLabel ? label : undefined} value={value} aria-invalid={!!error}
        onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([option, text]) => <option key={option} value={option}>{text}</option>)}
      </select>
      {error && <p class="wrong">{error}</p>}
    </div>
  );
}

export function Check({label, checked, onChange}: {label: string; checked: boolean; onChange: (on: boolean) => void}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

export interface Option {
  value: string;
  text: string;
  more?: string; // beside it, dim
  title?: string;
}

// A list to search in, as of WAI-ARIA's combobox with a list.
export function Combobox({label, value, text, options, onChange, placeholder, error}: {
  label: string; value: string; text?: string; options: Option[]; onChange: (value: string) => void; placeholder?: string; error?: string;
}) {
  const id = useId();
  const [query, setQuery] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const isOpen = query !== null;
  const words = (query ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const shown = isOpen
    ? options.filter((option) => words.every((word) => `${option.text} ${option.more ?? ""} ${option.value}`.toLowerCase().includes(word)))
    : [];
  const most = 200;
  useLayoutEffect(() => {
    const element = list.current?.children[active] as HTMLElement | undefined;
    element?.scrollIntoView({block: "nearest"});
  }, [active, isOpen]);
  const close = () => setQuery(null);
  const open = () => {
    setQuery("");
    setActive(Math.max(0, options.findIndex((option) => option.value === value)));
  };
  const pick = (option: Option | undefined, input: HTMLInputElement) => {
    if (!option) return;
    onChange(option.value);
    close();
    input.value = option.text;
  };
  const key = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const input = event.currentTarget;
    const last = Math.min(shown.length, most) - 1;
    if (!isOpen && ["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) {
      event.preventDefault();
      return open();
    }
    switch (event.key) {
      case "ArrowDown": setActive(Math.min(last, active + 1)); break;
      case "ArrowUp": setActive(Math.max(0, active - 1)); break;
      case "PageDown": setActive(Math.min(last, active + 10)); break;
      case "PageUp": setActive(Math.max(0, active - 10)); break;
      case "Enter": pick(shown[active], input); break;
      case "Escape":
        if (!isOpen) return undefined;
        event.stopPropagation();
        close();
        break;
      default: return undefined;
    }
    event.preventDefault();
    return undefined;
  };
  return (
    <div class="control combobox">
      <label for={id}>{label}</label>
      <input id={id} role="combobox" aria-expanded={isOpen} aria-controls={`${id}-l`} aria-autocomplete="list" spellcheck={false}
        autocomplete="off" aria-activedescendant={isOpen && shown.length ? `${id}-${active}` : undefined} aria-invalid={!!error}
        placeholder={isOpen ? text ?? value : placeholder} value={isOpen ? query! : text ?? value}
        onFocus={(event) => event.currentTarget.select()} onClick={() => !isOpen && open()}
        onInput={(event) => { setQuery(event.currentTarget.value); setActive(0); }} onKeyDown={key} onBlur={close} />
      <ul id={`${id}-l`} ref={list} role="listbox" aria-label={label} hidden={!isOpen}>
        {shown.slice(0, most).map((option, i) => (
          <li key={option.value} id={`${id}-${i}`} role="option" aria-selected={i === active} title={option.title}
            onPointerDown={(event) => {
              event.preventDefault();
              pick(option, event.currentTarget.closest(".combobox")!.querySelector("input")!);
            }}>
            <span class="name">{option.text}</span>
            {option.more && <span class="dim">{option.more}</span>}
          </li>
        ))}
        {isOpen && !shown.length && <li role="option" aria-selected={false} aria-disabled="true" class="dim">nothing of that name</li>}
      </ul>
      {error && <p class="wrong">{error}</p>}
    </div>
  );
}

// A button that opens a small panel: closed by Escape and by a press elsewhere.
export function Menu({label, children, text, align = "right"}: {
  label: string; text: ComponentChildren; children: (close: () => void) => ComponentChildren; align?: "left" | "right";
}) {
  const isOpen = useSignal(false);
  const place = useRef<HTMLDivElement>(null);
  const id = useId();
  useSignalEffect(() => {
    if (!isOpen.value) return undefined;
    const outside = (event: PointerEvent) => {
      if (!place.current?.contains(event.target as Node)) isOpen.value = false;
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  });
  const expanded = useComputed(() => isOpen.value);
  return (
    <div class="menu" ref={place} onKeyDown={(event) => {
      if (event.key !== "Escape" || !isOpen.value) return;
      event.stopPropagation();
      isOpen.value = false;
      place.current?.querySelector("button")?.focus();
    }}>
      <button type="button" class="button" aria-label={label} aria-expanded={expanded.value} aria-controls={id} onClick={() => (isOpen.value = !isOpen.value)}>
        {text}
      </button>
      <div id={id} class={`panel ${align}`} role="group" aria-label={label} hidden={!isOpen.value}>
        {isOpen.value && children(() => (isOpen.value = false))}
      </div>
    </div>
  );
}

// A dialog of the browser's own: it keeps the focus inside and is closed by Escape.
export function Dialog({title, isOpen, onClose, children}: {title: string; isOpen: boolean; onClose: () => void; children: ComponentChildren}) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (isOpen && !element.current?.open) element.current?.showModal();
    if (!isOpen && element.current?.open) element.current.close();
  }, [isOpen]);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose} onClick={(event) => event.target === element.current && onClose()}>
      <div class="dialog">
        <div class="line"><h2 id={id}>{title}</h2><button type="button" class="button" onClick={onClose}>Close</button></div>
        {isOpen && children}
      </div>
    </dialog>
  );
}

// The size of an element, as it changes.
export function useSize<Kind extends HTMLElement>(): [{current: Kind | null}, {width: number; height: number}] {
  const element = useRef<Kind>(null);
  const [size, setSize] = useState({width: 0, height: 0});
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    const measure = () => setSize((old) =>
      (old.width === target.clientWidth && old.height === target.clientHeight ? old : {width: target.clientWidth, height: target.clientHeight}));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function CopyButton({text, label = "Copy"}: {text: () => string; label?: string}) {
  const [said, setSaid] = useState("");
  return (
    <button type="button" class="button small" onClick={async () => {
      setSaid((await copyText(text())) ? "Copied" : "No clipboard");
      setTimeout(() => setSaid(""), 1500);
    }}><span aria-live="polite">{said || label}</span></button>
  );
}

export function saveFile(name: string, content: Blob | string, type = "application/json") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], {type}) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
