#!/usr/bin/env python3
"""Checks `beryl describe` against Hugging Face's own code, and writes the facts of its tests.

Builds each family on the meta device (no weights, no network), with several odd shapes and at every
size of the catalog, counts by torch's FlopCounterMode, and compares node by node: the scopes and
classes of named_modules, the parameters below each (a tied weight once), the matmul FLOPs in each.
Run it on demand, in a virtual environment with torch and transformers:

    tools/check_models.py --beryl build/dev/beryl
    tools/check_models.py --write-facts tests/data/models/facts.jsonl

What the library's modules are and what is compared:
  - ModuleList and the like hold modules and are never called: they are no nodes.
  - A module that is called several times (a layer of ALBERT, a dropout) may be one node or one node
    a call; the FLOPs of its scope are those of all its calls.
  - One module under several names (the activation of openai-gpt) is a node under each name.
  - Experts run as one grouped matmul, which the counter does not know. By the rule here each row
    meets one expert's weight: 2 * rows * in * out, where rows = tokens * experts per token.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CATALOG = ROOT / "src" / "models" / "catalog.json"
CONTAINERS = {"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
CATALOG_SIZE = {"batch": 8, "seq": 128, "decoder_seq": 64}
SHOWN_PER_CASE = 20

TEXT = {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 80, "max_position_embeddings": 37}
GPT = {"vocab_size": 101, "n_positions": 37, "n_embd": 48, "n_layer": 2, "n_head": 3}
T5 = {"vocab_size": 101, "d_model": 48, "d_kv": 20, "d_ff": 80, "num_layers": 2, "num_heads": 3}
BART = {"vocab_size": 101, "max_position_embeddings": 37, "d_model": 48,
        "encoder_layers": 2, "encoder_ffn_dim": 80, "encoder_attention_heads": 3,
        "decoder_layers": 2, "decoder_ffn_dim": 96, "decoder_attention_heads": 4}
VIT = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3,
       "intermediate_size": 80, "image_size": 24, "patch_size": 8}
GROUPED = {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
           "num_key_value_heads": 2, "intermediate_size": 80, "max_position_embeddings": 64,
           "pad_token_id": 0}
ONE = {"num_hidden_layers": 1}

# Family -> its odd shapes; the first has every node of two layers, the rest one thing changed each.
SHAPES = {
    "albert": [
        {**TEXT, "embedding_size": 20},
        {**TEXT, "embedding_size": 32, "num_hidden_layers": 5, "num_hidden_groups": 2,
         "inner_group_num": 2, "hidden_act": "gelu", "num_attention_heads": 4},
    ],
    "bart": [
        BART,
        {**BART, "encoder_layers": 1, "decoder_layers": 2, "scale_embedding": True,
         "activation_function": "relu"},
        {**BART, "encoder_layers": 2, "decoder_layers": 1, "decoder_attention_heads": 1},
    ],
    "bert": [
        TEXT,
        {**TEXT, **ONE, "hidden_act": "relu", "type_vocab_size": 1, "num_attention_heads": 4},
        {**TEXT, **ONE, "hidden_act": "gelu_new", "type_vocab_size": 5, "intermediate_size": 33},
    ],
    "ctrl": [
        {**GPT, "dff": 80},
        {**GPT, "n_layer": 1, "n_head": 4, "dff": 33},
    ],
    "distilbert": [
        {"vocab_size": 101, "max_position_embeddings": 37, "dim": 48, "n_layers": 2, "n_heads": 3,
         "hidden_dim": 80},
        {"vocab_size": 99, "max_position_embeddings": 31, "dim": 40, "n_layers": 1, "n_heads": 5,
         "hidden_dim": 33, "activation": "relu"},
    ],
    "gemma": [
        {**GROUPED, "head_dim": 20},
        {**GROUPED, **ONE, "num_key_value_heads": 1, "head_dim": 16, "attention_bias": True,
         "hidden_act": "gelu"},
    ],
    "gemma2": [
        {**GROUPED, "head_dim": 20},
        {**GROUPED, **ONE, "num_key_value_heads": 4, "head_dim": 16, "attention_bias": True,
         "attn_logit_softcapping": None, "sliding_window": 3, "query_pre_attn_scalar": 24},
    ],
    "gpt2": [
        GPT,
        {**GPT, "n_layer": 1, "n_inner": 70, "activation_function": "relu"},
        {**GPT, "n_layer": 1, "scale_attn_by_inverse_layer_idx": True,
         "reorder_and_upcast_attn": True},
        {"vocab_size": 101, "max_position_embeddings": 37, "hidden_size": 40,
         "num_hidden_layers": 1, "num_attention_heads": 5},
    ],
    "gpt_neox": [
        TEXT,
        {**TEXT, **ONE, "use_parallel_residual": False, "attention_bias": False, "rotary_pct": 1.0,
         "hidden_act": "gelu_fast"},
    ],
    "llama": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": None, "attention_bias": True, "mlp_bias": True},
        {**GROUPED, **ONE, "num_key_value_heads": 1, "head_dim": 20, "hidden_act": "gelu",
         "tie_word_embeddings": True},
    ],
    "mistral": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": 4, "head_dim": 20, "sliding_window": 3},
        {"vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 1, "num_attention_heads": 8,
         "intermediate_size": 80},
    ],
    "mixtral": [
        {**GROUPED, "num_local_experts": 5, "num_experts_per_tok": 2},
        {**GROUPED, **ONE, "num_local_experts": 3, "num_experts_per_tok": 1, "head_dim": 20},
        {**GROUPED, **ONE, "num_experts": 4, "num_experts_per_tok": 4, "hidden_act": "gelu"},
    ],
    "openai-gpt": [
        GPT,
        {**GPT, "n_layer": 1, "n_head": 4, "afn": "relu"},
        {**GPT, "n_layer": 1, "afn": "swish"},
    ],
    "phi": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": None, "qk_layernorm": True,
         "partial_rotary_factor": 0.4, "hidden_act": "gelu"},
    ],
    "phi3": [
        GROUPED,
        {**GROUPED, **ONE, "num_key_value_heads": None, "partial_rotary_factor": 0.5,
         "sliding_window": 3},
    ],
    "qwen2": [
        GROUPED,
        {**GROUPED, "num_key_value_heads": None, "use_sliding_window": True, "sliding_window": 3,
         "max_window_layers": 1},
    ],
    "qwen3": [
        {**GROUPED, "head_dim": 20},
        {**GROUPED, **ONE, "num_key_value_heads": 4, "attention_bias": True},
    ],
    "roberta": [
        TEXT,
        {**TEXT, **ONE, "hidden_act": "relu", "type_vocab_size": 1, "num_attention_heads": 4},
    ],
    "xlm-roberta": [
        TEXT,
        {**TEXT, **ONE, "hidden_act": "relu", "type_vocab_size": 1, "num_attention_heads": 4},
    ],
    "t5": [
        {**T5, "num_decoder_layers": 2},
        {**T5, "num_layers": 1, "num_decoder_layers": 2, "feed_forward_proj": "gated-gelu"},
        {**T5, "num_layers": 1, "feed_forward_proj": "gated-silu", "d_kv": 16,
         "relative_attention_num_buckets": 10},
    ],
    "vit": [
        VIT,
        {**VIT, **ONE, "image_size": [24, 40], "patch_size": [8, 4], "qkv_bias": False,
         "num_channels": 1},
        {**VIT, **ONE, "image_size": 27, "pooler_output_size": 20, "pooler_act": "relu",
         "hidden_act": "gelu_new"},
    ],
}
SIZES = [{"batch": 2, "seq": 7, "decoder_seq": 5}, {"batch": 3, "seq": 5, "decoder_seq": 8},
         {"batch": 1, "seq": 11, "decoder_seq": 1}, {"batch": 1, "seq": 1, "decoder_seq": 1}]


def size_of(family, size):
    """The size without what the family does not have: images have no seq, one stack no decoder."""
    has = {"batch"} | (set() if family == "vit" else {"seq"})
    return {key: size[key] for key in size if key in has or
            key == "decoder_seq" and family in ("t5", "bart")}


def cases():
    """All cases: (name, catalog name or None, config, size, whether the facts hold every node)."""
    for family, shapes in SHAPES.items():
        for number, shape in enumerate(shapes):
            config = {"model_type": family, **shape}
            yield f"{family}-{number + 1}", None, config, size_of(family, SIZES[number]), True
        yield (f"{family}-defaults", None, {"model_type": family},
               size_of(family, CATALOG_SIZE), False)
    for name, config in json.loads(CATALOG.read_text()).items():
        yield name, name, config, size_of(config["model_type"], CATALOG_SIZE), False


class Library:
    """Hugging Face's own models, on the meta device."""

    def __init__(self):
        import torch
        import transformers
        from torch.utils.flop_counter import FlopCounterMode
        self.torch, self.transformers, self.counter = torch, transformers, FlopCounterMode
        transformers.logging.set_verbosity_error()

    def versions(self):
        return {"torch": self.torch.__version__.split("+")[0],
                "transformers": self.transformers.__version__}

    def inputs(self, config, size):
        def ids(length):
            return self.torch.zeros(size["batch"], length, dtype=self.torch.long, device="meta")
        if config.model_type == "vit":
            side = config.image_size
            side = side if isinstance(side, (list, tuple)) else (side, side)
            shape = (size["batch"], config.num_channels, *side)
            return {"pixel_values": self.torch.empty(shape, device="meta")}
        inputs = {"input_ids": ids(size["seq"])}
        if "decoder_seq" in size:
            inputs["decoder_input_ids"] = ids(size["decoder_seq"])
        return inputs

    def counted(self, model, inputs):
        def grouped_mm(rows, weights, *_, out_shape=None, **__):
            return 2 * rows[0] * weights[1] * weights[2]
        rules = {self.torch.ops.aten._grouped_mm: grouped_mm}
        with self.counter(display=False, custom_mapping=rules) as counter, self.torch.no_grad():
            model(**inputs)
        counts = {scope: sum(ops.values()) for scope, ops in counter.get_flop_counts().items()}
        prefix = type(model).__name__
        return lambda scope: counts.get(f"{prefix}.{scope}" if scope else "Global", 0)

    def nodes(self, config, size):
        """[scope, class, parameters below, matmul FLOPs below] of each module, as named_modules."""
        known = self.transformers.models.auto.configuration_auto.CONFIG_MAPPING
        config = known[config["model_type"]].from_dict(config)
        with self.torch.device("meta"):
            model = self.transformers.AutoModel.from_config(config, attn_implementation="eager")
        flops = self.counted(model.eval(), self.inputs(config, size))
        return [[scope, type(module).__name__, sum(p.numel() for p in module.parameters()),
                 flops(scope)]
                for scope, module in model.named_modules()
                if type(module).__name__ not in CONTAINERS]


def module_nodes(node, above=None):
    """The nodes of a described tree that stand for modules: an operation that is no module has the
    scope of the node it runs in, so a module is a node whose scope is not its parent's."""
    if node["level"] in ("model", "module", "ml") and node["scope"] != above:
        yield node
    for child in node.get("children", []):
        yield from module_nodes(child, node["scope"])


def described(beryl, name, config, size):
    """Scope -> (class, parameters, matmul FLOPs of all its calls), by `beryl describe`."""
    with tempfile.TemporaryDirectory() as folder:
        model = name
        if model is None:
            model = str(pathlib.Path(folder) / "config.json")
            pathlib.Path(model).write_text(json.dumps(config))
        command = [str(beryl), "describe", model, "--format", "json"]
        for key, value in size.items():
            command += ["--" + key.replace("_", "-"), str(value)]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"exit status {run.returncode}: {run.stderr.strip()}")
    answer = json.loads(run.stdout)
    if answer.get("schema") != "beryl.describe/1":
        raise RuntimeError(f"schema is {answer.get('schema')!r}, not 'beryl.describe/1'")
    found = {}
    for node in module_nodes(answer["tree"]):
        kind, parameters, flops = found.get(node["scope"],
                                            (node["type"], node["parameters"], 0))
        found[node["scope"]] = (kind, parameters, flops + node["matmul_flops"])
    return found


def differences(expected, found):
    scopes = {scope for scope, *_ in expected}
    for scope, kind, parameters, flops in expected:
        where = scope or "(the model)"
        if scope not in found:
            yield f"{where}: missing ({kind})"
            continue
        for what, want, got in zip(("class", "parameters", "matmul FLOPs"),
                                   (kind, parameters, flops), found[scope]):
            if want != got:
                yield f"{where}: {what} {got}, the library has {want}"
    for scope in found:
        if scope not in scopes:
            yield f"{scope}: the library has no such module ({found[scope][0]})"


def compare(library, beryl, wanted):
    """Prints what differs; the number of cases that do."""
    bad = done = 0
    for case, name, config, size, _ in wanted:
        done += 1
        try:
            lines = list(differences(library.nodes(config, size),
                                     described(beryl, name, config, size)))
        except (RuntimeError, ValueError, KeyError) as error:
            lines = [f"{type(error).__name__}: {error}"]
        if not lines:
            continue
        bad += 1
        print(f"{case} ({', '.join(f'{k} {v}' for k, v in size.items())}):")
        for line in lines[:SHOWN_PER_CASE]:
            print(f"  {line}")
        if len(lines) > SHOWN_PER_CASE:
            print(f"  ... and {len(lines) - SHOWN_PER_CASE} more")
    print(f"{done} cases, {bad} differ")
    return bad


def write_facts(library, path, wanted):
    """JSON lines: the versions, then a case a line; a case of the catalog has the entry's name."""
    lines = [json.dumps({"written_by": "tools/check_models.py", **library.versions()})]
    for case, _, config, size, whole in wanted:
        nodes = library.nodes(config, size)
        fact = {"case": case, "config": config, "batch": size["batch"], "seq": size.get("seq"),
                "decoder_seq": size.get("decoder_seq"), "parameters": nodes[0][2],
                "matmul_flops": nodes[0][3]}
        if whole:
            fact["nodes"] = nodes
        lines.append(json.dumps(fact, separators=(",", ":")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(lines) - 1} cases, {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beryl", type=pathlib.Path, default=ROOT / "build" / "dev" / "beryl")
    parser.add_argument("--filter", default="", help="only cases with this in their name")
    parser.add_argument("--no-catalog", action="store_true", help="only the odd shapes")
    parser.add_argument("--write-facts", type=pathlib.Path, metavar="FILE",
                        help="write what the library says instead of comparing")
    options = parser.parse_args()
    try:
        library = Library()
    except ImportError as error:
        print(f"{error}: run this in a virtual environment with torch and transformers",
              file=sys.stderr)
        return 2
    wanted = [case for case in cases()
              if options.filter in case[0] and not (options.no_catalog and case[1])]
    if not wanted:
        print(f"no case has {options.filter!r} in its name", file=sys.stderr)
        return 2
    if options.write_facts:
        write_facts(library, options.write_facts, wanted)
        return 0
    if not options.beryl.exists():
        print(f"{options.beryl}: no such program: build it or name it with --beryl",
              file=sys.stderr)
        return 2
    print("torch {torch}, transformers {transformers}".format(**library.versions()))
    return 1 if compare(library, options.beryl, wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
