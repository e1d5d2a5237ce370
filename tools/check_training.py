#!/usr/bin/env python3
"""Checks `beryl describe --training` against PyTorch and Hugging Face on the meta device.

Each family's first odd shape is trained for a step as the class that Beryl takes where none is
named: no weights, no network. Compared are the matmul FLOPs of the forward and of the backward pass
(torch's FlopCounterMode), plain and with gradient checkpointing, with eager attention and sdpa; the
bytes of the weights' gradients; the bytes that each optimizer remembers; and the bytes that autograd
keeps for the backward pass. Run it on demand, in a virtual environment with torch and transformers:

    tools/check_training.py --beryl build/dev/beryl
    tools/check_training.py --write-facts tests/data/models/training_facts.jsonl

The library's way of saying so:
  - Kept are the tensors that autograd packs, each storage once, without weights; Beryl counts what
    exists at once, so these agree within SAVED_WITHIN. Dropout is the function that GPUs run.
  - An optimizer's count of steps is a number for each tensor; it is left out.
  - Fused attention on the meta device is the math implementation: only eager has its FLOPs compared
    where the counter does not know the operation.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from check_models import Library, ROOT
from check_models_cases import SHAPES, SIZES, size_of

TASKS = ["ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForMaskedLM",
         "ForImageClassification"]
SAVED_WITHIN = 0.16
OPTIMIZERS = ("sgd", "adam", "adamw", "adafactor")


def families():
    return [family for family in SHAPES if family != "mixtral"]


def trained_class(library, family):
    prefix = library.prefix(family)
    for task in TASKS:
        decoder = (prefix in ("Bert", "Roberta", "XLMRoberta", "Bart") and
                   task in ("ForCausalLM", "LMHeadModel"))
        if not decoder and library.has(prefix + task):
            return prefix + task
    return None


class Trainer:
    def __init__(self, library):
        self.library, self.torch = library, library.torch
        # These ask a mask for its values, which there are none of on the meta device.
        masks = library.transformers.masking_utils
        masks.fast_all = lambda mask: False
        masks.find_packed_sequence_indices = lambda position_ids: None
        # On GPUs dropout remembers a byte for each number; written for the meta device, four.
        def dropout(x, p=0.5, training=True, inplace=False):
            return self.torch.native_dropout(x, p, training)[0] if training and p > 0 else x
        self.torch.nn.functional.dropout = dropout

    def made(self, family, name, attention, dropout):
        transformers = self.library.transformers
        known = transformers.models.auto.configuration_auto.CONFIG_MAPPING
        config = known[family].from_dict({"model_type": family, **SHAPES[family][0]})
        with self.torch.device("meta"):
            model = getattr(transformers, name)._from_config(config, attn_implementation=attention)
        return model.train() if dropout else model.eval()

    def inputs(self, model, size):
        inputs = self.library.inputs(model.config, size, "meta")
        if "pixel_values" in inputs:
            labels = self.torch.zeros(size["batch"], dtype=self.torch.long, device="meta")
        else:
            labels = inputs.get("decoder_input_ids", inputs["input_ids"])
        return {**inputs, "labels": labels}

    def flops(self, model, size):
        """Of the forward and of the backward pass."""
        inputs = self.inputs(model, size)
        with self.library.counter(display=False) as counter:
            loss = model(**inputs).loss
            forward = counter.get_total_flops()
            loss.backward()
            whole = counter.get_total_flops()
        return forward, whole - forward

    def saved(self, model, size):
        """Bytes that autograd keeps, each storage once, without weights."""
        weights = {p.untyped_storage()._cdata for p in model.parameters()}
        kept = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage._cdata not in weights and tensor.is_floating_point() or (
                    tensor.dtype == self.torch.bool):
                kept[storage._cdata] = storage.nbytes(), tensor
            return tensor

        with self.torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = model(**self.inputs(model, size)).loss
        del loss
        return sum(size for size, _ in kept.values())

    def remembered(self, model, size, name):
        """Bytes that an optimizer keeps after a step."""
        model.zero_grad()
        model(**self.inputs(model, size)).loss.backward()
        classes = {"sgd": self.torch.optim.SGD, "adam": self.torch.optim.Adam,
                   "adamw": self.torch.optim.AdamW, "adafactor": self.torch.optim.Adafactor}
        trained = [p for p in model.parameters() if p.grad is not None]
        optimizer = classes[name](trained, lr=1e-3)
        if name == "adafactor":
            # Its step reads numbers, which there are none of here: what it makes is a row and a
            # column of each matrix.
            total = 0
            for p in trained:
                rows = p.shape[:-1].numel() + p.shape[:-2].numel() * p.shape[-1]
                total += (rows if p.dim() > 1 else p.numel()) * p.element_size()
            return total
        optimizer.step()
        return sum(value.numel() * value.element_size() for state in optimizer.state.values()
                   for key, value in state.items() if key != "step")

    def facts(self, family):
        name = trained_class(self.library, family)
        if name is None:
            return None
        size = size_of(family, SIZES[0])
        fact = {"case": f"{family}-1", "class": name,
                "config": {"model_type": family, **SHAPES[family][0]},
                "batch": size["batch"], "seq": size.get("seq"),
                "decoder_seq": size.get("decoder_seq")}
        model = self.made(family, name, "eager", True)
        fact["forward_flops"], fact["backward_flops"] = self.flops(model, size)
        fact["gradient_bytes"] = sum(p.numel() * p.element_size() for p in model.parameters()
                                     if p.grad is not None)
        fact["saved_bytes"] = self.saved(self.made(family, name, "eager", True), size)
        fact["saved_without_dropout_bytes"] = self.saved(
            self.made(family, name, "eager", False), size)
        for optimizer in OPTIMIZERS:
            fact[f"{optimizer}_bytes"] = self.remembered(model, size, optimizer)
        try:
            model = self.made(family, name, "eager", True)
            model.gradient_checkpointing_enable()
            fact["checkpointed_backward_flops"] = self.flops(model, size)[1]
        except (ValueError, AttributeError) as error:
            print(f"{family}: {error}", file=sys.stderr)
        try:
            model = self.made(family, name, "sdpa", True)
            fact["sdpa_forward_flops"], fact["sdpa_backward_flops"] = self.flops(model, size)
        except (ValueError, AttributeError, ImportError, RuntimeError) as error:
            print(f"{family}: sdpa: {error}", file=sys.stderr)
        return fact


def described(beryl, fact, *more):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.json"
        config.write_text(json.dumps({**fact["config"], "architectures": [fact["class"]]}))
        command = [str(beryl), "describe", str(config), "--training", "--format", "json", *more]
        for key in ("batch", "seq", "decoder_seq"):
            if fact[key]:
                command += ["--" + key.replace("_", "-"), str(fact[key])]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)


def compare(beryl, fact):
    """What differs, a line each."""
    # Plain descent needs no room of its own, which is more than these small models keep.
    said = described(beryl, fact, "--attention", "eager", "--optimizer", "sgd")
    phases = {child["name"]: child["matmul_flops"] for child in said["tree"]["children"]}
    pairs = [("forward FLOPs", phases["forward"], fact["forward_flops"]),
             ("backward FLOPs", phases["backward"], fact["backward_flops"]),
             ("gradients", said["memory"]["gradients_bytes"], fact["gradient_bytes"])]
    if "checkpointed_backward_flops" in fact:
        again = described(beryl, fact, "--attention", "eager", "--gradient-checkpointing")
        flops = {child["name"]: child["matmul_flops"] for child in again["tree"]["children"]}
        pairs.append(("checkpointed backward FLOPs", flops["backward"],
                      fact["checkpointed_backward_flops"]))
    for optimizer in OPTIMIZERS:
        remembered = described(beryl, fact, "--optimizer", optimizer)["memory"]["optimizer_bytes"]
        pairs.append((optimizer, remembered, fact[f"{optimizer}_bytes"]))
    for what, got, want in pairs:
        if got != want:
            yield f"{what}: {got}, the library has {want}"
    kept = said["memory"]["activations_bytes"]
    if abs(kept / fact["saved_bytes"] - 1) > SAVED_WITHIN:
        yield f"kept for the backward pass: {kept}, the library has {fact['saved_bytes']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beryl", type=pathlib.Path, default=ROOT / "build" / "dev" / "beryl")
    parser.add_argument("--facts", type=pathlib.Path, help="compare with these, without torch")
    parser.add_argument("--write-facts", type=pathlib.Path, metavar="FILE",
                        help="write what the library says instead of comparing")
    options = parser.parse_args()
    if options.facts:
        facts = [json.loads(line) for line in options.facts.read_text().splitlines()][1:]
    else:
        library = Library()
        trainer = Trainer(library)
        # The counter does not know the products of experts.
        facts = []
        for family in families():
            try:
                facts.append(trainer.facts(family))
            except (RuntimeError, ValueError, NotImplementedError, TypeError) as error:
                print(f"{family}: {type(error).__name__}: {error}", file=sys.stderr)
        facts = [fact for fact in facts if fact]
    if options.write_facts:
        head = {"written_by": "tools/check_training.py", **library.versions()}
        lines = [json.dumps(line, separators=(",", ":")) for line in [head, *facts]]
        options.write_facts.write_text("\n".join(lines) + "\n")
        return 0
    bad = 0
    for fact in facts:
        lines = list(compare(options.beryl, fact))
        bad += bool(lines)
        for line in lines:
            print(f"{fact['class']}: {line}")
    print(f"{len(facts)} classes, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
