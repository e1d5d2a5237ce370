// What the API answers, as far as the page reads it: api/openapi.yaml and api/schemas have all of it.

export type Level = "model" | "module" | "ml" | "math" | "kernel";
export const levels: Level[] = ["model", "module", "ml", "math", "kernel"];
export type Origin = "measured" | "estimated" | "predicted" | "uncalibrated" | "described";

export interface JsonColumn {
  name: string;
  key: string;
  of?: "phases" | "devices" | "ranks";
  label: string;
  quantity: string;
  unit: string;
  origin: Origin;
  by: string;
  mark_key?: string;
  marked_because?: string;
}

export interface JsonNode {
  columns?: JsonColumn[];
  name: string;
  level: Level;
  type: string;
  scope?: string;
  phase?: string;
  kind?: string;
  beyond?: boolean;
  inputs?: number[][];
  outputs?: number[][];
  phases?: Record<string, number | null>;
  devices?: Record<string, number | null>;
  layers: number;
  range: string;
  children: JsonNode[];
  [key: string]: unknown;
}

export interface Note {
  kind: string;
  class: string;
  subject: string;
  count: number;
  text: string;
}

export interface Provenance {
  tool: string;
  version: string;
  machine: string;
  sources: string[];
  profile: string | null;
  when: string;
  incomplete?: string[];
}

export interface Electricity {
  region: string;
  price_per_kwh: number | null;
  currency: string;
  price_date: string;
  price_source: string;
  co2e_g_per_kwh: number | null;
  carbon_date: string;
  carbon_source: string;
}

export interface PhaseFigures {
  phase: string;
  tokens: number;
  energy_j: number | null;
  low_j: number | null;
  high_j: number | null;
  seconds: number | null;
  power_w: number | null;
  energy_per_token_j: number | null;
}

export interface Prediction {
  schema: string;
  provenance: Provenance;
  model: string;
  family: string;
  batch: number;
  seq: number | null;
  prompt: number | null;
  generate: number | null;
  dtype: string;
  attention: string;
  training: {optimizer: string; checkpointing: boolean} | null;
  memory: Record<string, number>;
  profile: string;
  machine: string;
  calibrated: boolean;
  interval: number;
  energy_j: number | null;
  low_j: number | null;
  high_j: number | null;
  seconds: number | null;
  power_w: number | null;
  tokens: number | null;
  energy_per_token_j: number | null;
  fits: boolean | null;
  phases?: PhaseFigures[];
  costs: {
    queries: number;
    query_j: number | null;
    kwh: number | null;
    kwh_low: number | null;
    kwh_high: number | null;
    price: number | null;
    co2e_kg: number | null;
    electricity: Electricity;
  } | null;
  tree: JsonNode;
  notes: Note[];
  tool: string;
}

export interface SweepRow {
  values: Record<string, number | string>;
  energy_j: number | null;
  low_j: number | null;
  high_j: number | null;
  seconds: number | null;
  power_w: number | null;
  energy_per_token_j: number | null;
  price: number | null;
  co2e_kg: number | null;
  kwh: number | null;
  parameters: number | null;
  flops: number | null;
  bytes: number | null;
  memory_bytes: number | null;
  fits: boolean | null;
  failure: string | null;
}

export interface SweepResult {
  model: string;
  profile?: string;
  calibrated?: boolean;
  queries?: number;
  electricity?: Electricity;
  keys: string[];
  rows: SweepRow[];
  notes: Note[];
}

export interface ModelEntry {
  name: string;
  family: string;
  parameters: number;
  layers: number;
  tokens: number;
  flops: number;
}

export interface ProfileEntry {
  name: string;
  aliases: string[];
  machine: string;
  calibrated: boolean;
  measured_with: string | null;
  memory_bytes: number | null;
  matmul_flops: number | null;
  bandwidth: number | null;
  board_w: number | null;
}

export interface LibraryFigures {
  energy_j: number | null;
  low_j: number | null;
  high_j: number | null;
  machine_j: number | null;
  duration_s: number | null;
  per_step_j: number | null;
  per_query_j: number | null;
  per_token_j: number | null;
  parameters: number | null;
  operations: number | null;
  readings: number | null;
  accuracy: number | null;
}

export interface LibraryEntry {
  id: string;
  kind: "run" | "prediction" | "profile" | "dataset";
  form: "run-file" | "recording" | "traces" | null;
  name: string;
  tags: string[];
  notes: string;
  created: string;
  model: string | null;
  machine: string | null;
  profile: string | null;
  origin: Origin | null;
  request: Record<string, unknown> | null;
  figures: LibraryFigures;
  bytes: number;
  files: {name: string; role: string; rank: string | null; bytes: number; digest: string}[];
}

export interface LibraryList {
  entries: LibraryEntry[];
  next_page_token: string | null;
}

export interface Closure {
  device: string;
  total_j: number;
  attributed_j: number;
  idle_j: number;
  unattributed_j: number;
  window_s: number;
  outside_trace_j: number;
  policy: string;
  feeds: string;
  within: string;
  closure_error: number;
  readings: number;
  uncovered_s: number;
}

export interface Account {
  schema: string;
  provenance: Provenance;
  context: {
    ops_files: string[];
    power_file: string;
    energy_source: string;
    label: string;
    steps: number;
    clock_offset_us: number;
    clock_reason: string;
    notes: string[];
  };
  closure: Closure[];
  ranks: {rank: string; energy_j: number | null}[];
  tree: JsonNode;
  alignment?: {
    model: string;
    described_modules: number;
    matched_modules: number;
    module_energy_j: number;
    matched_energy_j: number;
    unmatched: {path: string; energy_j: number}[];
    not_found: string[];
    passes: number | null;
  };
  notes: Note[];
}

export interface Timeline {
  start: string;
  duration_s: number;
  slices: number;
  channels: {device: string; mean_w: (number | null)[]; min_w: (number | null)[]; max_w: (number | null)[]}[];
  activity: Record<string, number[]>;
  steps: {name: string; start_s: number; end_s: number}[];
}
