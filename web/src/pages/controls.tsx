// What is asked for: a model, its configuration, its input, how it runs and on what. No button: numbers follow the hand.
import {useComputed} from "@preact/signals";
import {useRef} from "preact/hooks";
import type {ApiError} from "../api/client";
import type {Prediction} from "../api/types";
import {Check, Choice, Combobox, logSteps, Select, Slider} from "../parts/controls";
import {si} from "../parts/figures";
import {config, configError, models, profileOf, profiles, regions} from "../state/catalog";
import {editsOf, joinEdits} from "../state/question";
import {defaultState, state, update, type Field} from "../state/url";

const lengths = logSteps(1, 131072);
const batches = logSteps(1, 1024);

// A model brings inputs of its own: what was chosen for another may not suit it.
function pickModel(name: string) {
  update({model: name, config: "", set: "", seq: "", select: "", zoom: "", open: "", name: ""});
}

export function readConfig(file: File) {
  if (file.size > 1 << 20) {
    configError.value = `${file.name} is larger than 1 MiB: a config.json is not`;
    return;
  }
  void file.text().then((text) => {
    let compact = text;
    try {
      compact = JSON.stringify(JSON.parse(text));
    } catch {
      // The message is made where the text is used.
    }
    update({page: "explore", config: compact, set: "", seq: "", select: "", zoom: "", open: "", name: ""});
  });
}

const first = ["num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers", "decoder_layers", "num_decoder_layers", "hidden_size", "n_embd", "d_model", "dim",
  "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size", "n_inner", "d_ff", "hidden_dim",
  "encoder_ffn_dim", "decoder_ffn_dim", "hidden_act", "activation_function", "num_local_experts", "num_experts_per_tok", "vocab_size", "image_size", "patch_size", "sliding_window"];
const activations = ["gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "tanh", "quick_gelu"];
const words: Record<string, string> = {
  num_hidden_layers: "layers", n_layer: "layers", num_layers: "layers", n_layers: "layers", encoder_layers: "encoder layers", decoder_layers: "decoder layers",
  num_decoder_layers: "decoder layers", hidden_size: "hidden size", n_embd: "hidden size", d_model: "hidden size", dim: "hidden size",
  num_attention_heads: "heads", n_head: "heads", n_heads: "heads", num_heads: "heads", encoder_attention_heads: "encoder heads", decoder_attention_heads: "decoder heads",
  num_key_value_heads: "key and value heads", head_dim: "size of a head", intermediate_size: "feed-forward size", n_inner: "feed-forward size", d_ff: "feed-forward size",
  hidden_dim: "feed-forward size", encoder_ffn_dim: "encoder feed-forward", decoder_ffn_dim: "decoder feed-forward",
  hidden_act: "activation", activation_function: "activation", num_local_experts: "experts", num_experts_per_tok: "experts a token", vocab_size: "vocabulary",
  image_size: "image size", patch_size: "patch size", sliding_window: "attention window",
};

// Around what the model has, in steps that divide well.
function stepsAround(value: number): number[] {
  if (value <= 128) return logSteps(1, 256);
  const unit = 2 ** Math.max(3, Math.floor(Math.log2(value)) - 4);
  const steps: number[] = [];
  for (let at = unit; at <= 4 * value; at += unit) steps.push(at);
  if (!steps.includes(value)) steps.push(value);
  return steps.sort((a, b) => a - b);
}

function Edits({error}: {error: ApiError | null}) {
  const edits = new Map(editsOf(state.value));
  const keys = first.filter((key) => key in config.value && (typeof config.value[key] === "number" || typeof config.value[key] === "string"));
  const set = (key: string, value: string, how: "step" | "flow") => {
    const next = new Map(edits);
    if (value === String(config.value[key])) next.delete(key);
    else next.set(key, value);
    update({set: joinEdits([...next])}, how);
  };
  if (!keys.length) return null;
  return (
    <details class="group" open={edits.size > 0}>
      <summary>Configuration {edits.size > 0 && <b>{edits.size} changed</b>}</summary>
      {keys.map((key) => {
        const own = config.value[key];
        const value = edits.get(key) ?? String(own);
        const wrong = error && edits.has(key) && error.sentence.includes(key) ? error.sentence : undefined;
        const label = words[key] ?? key.replace(/_/g, " ");
        if (typeof own === "string") {
          const all = activations.includes(own) ? activations : [own, ...activations];
          return <Select key={key} label={label} value={value} error={wrong} options={all.map((name) => [name, name])} onChange={(name) => set(key, name, "step")} />;
        }
        return <Slider key={key} label={label} value={value} error={wrong} steps={stepsAround(own as number)} onChange={(text, how) => set(key, text, how)} />;
      })}
      {edits.size > 0 && <button type="button" class="button small" onClick={() => update({set: ""})}>As the model is</button>}
    </details>
  );
}

export function Controls({error, answer}: {error: ApiError | null; answer: Prediction | null}) {
  const now = state.value;
  const file = useRef<HTMLInputElement>(null);
  const modelOptions = useComputed(() => models.value.map((model) => ({value: model.name, text: model.name, more: si(model.parameters, "")})));
  const machineOptions = useComputed(() => profiles.value.map((profile) => ({
    value: profile.name, text: profile.name, more: profile.calibrated ? "calibrated" : profile.memory_bytes ? si(profile.memory_bytes, "B") : "", title: profile.machine,
  })));
  const set = (name: Field) => (value: string, how: "step" | "flow" = "step") => update({[name]: value}, how);
  const of = (name: string) => error?.of(name);
  const droppedName = now.config ? String(config.value.model_type ?? config.value._name_or_path ?? "config.json") : "";
  const machine = profileOf.value(now.profile);
  return (
    <form class="controls" aria-label="What is asked for" onSubmit={(event) => event.preventDefault()}>
      <Combobox label="Model" value={now.config ? "" : now.model} text={now.config ? `${droppedName} (a file)` : now.model} options={modelOptions.value} onChange={pickModel}
        error={of("model") ?? of("body") ?? (configError.value || undefined)} />
      <p class="drop-hint">
        <button type="button" class="link" onClick={() => file.current?.click()}>Open a config.json</button> or drop one anywhere
        <input ref={file} type="file" accept=".json,application/json" hidden aria-label="A config.json" onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          if (chosen) readConfig(chosen);
          event.currentTarget.value = "";
        }} />
      </p>
      <Choice label="Run" hideLabel value={now.mode} options={[["", "forward"], ["generate", "generate"], ["train", "train"]]} onChange={(mode) => update({mode, phase: "", open: "", zoom: "", select: ""})} />
      <Slider label="batch" value={now.batch} steps={batches} onChange={set("batch")} error={of("batch")} />
      {now.mode === "generate" ? (
        <>
          <Slider label="prompt" unit="tokens" value={now.prompt} steps={lengths} onChange={set("prompt")} error={of("prompt")} />
          <Slider label="generate" unit="tokens" value={now.generate} steps={logSteps(1, 16384)} onChange={set("generate")} error={of("generate")} />
        </>
      ) : (now.seq || answer?.seq !== null) &&
        <Slider label="sequence" unit="tokens" value={now.seq || String(answer?.seq ?? "")} steps={lengths} onChange={set("seq")} error={of("seq")} />}
      <Select label="numbers" value={now.dtype} error={of("dtype")} onChange={set("dtype")} options={["float32", "float16", "bfloat16", "int8", "int4"].map((name) => [name, name])} />
      <Select label="attention" value={now.attention} error={of("attention")} onChange={set("attention")} options={[["eager", "eager"], ["sdpa", "sdpa (fused)"], ["flash", "flash"]]} />
      {now.mode === "train" && (
        <>
          <Select label="optimizer" value={now.optimizer} error={of("optimizer")} onChange={set("optimizer")} options={["sgd", "adam", "adamw", "adafactor"].map((name) => [name, name])} />
          <Check label="gradient checkpointing" checked={!!now.checkpointing} onChange={(on) => update({checkpointing: on ? "1" : ""})} />
        </>
      )}
      <Combobox label="Machine" value={now.profile} text={now.profile} options={machineOptions.value} onChange={set("profile")} error={of("profile")} />
      {machine && <p class="dim machine">{machine.machine}</p>}
      <Slider label="GPUs" value={now.gpus} steps={[1, 2, 4, 8, 16, 32, 64]} onChange={set("gpus")} error={of("gpus")} />
      {regions.value.length
        ? <Select label="electricity" value={now.region} error={of("region")} onChange={set("region")} options={regions.value.map(({region, co2e_g_per_kwh: grams}) => [region, `${region}${grams ? `, ${Math.round(grams)} g/kWh` : ""}`])} />
        : <div class="control control-line"><label for="region">electricity</label>
          <input id="region" value={now.region} list="regions" size={8} onChange={(event) => set("region")(event.currentTarget.value)} /></div>}
      {of("region") && !regions.value.length && <p class="wrong">{of("region")}</p>}
      <Edits error={error} />
      <button type="button" class="button small" onClick={() => update({...defaultState, page: "explore", view: now.view})}>Start over</button>
    </form>
  );
}
