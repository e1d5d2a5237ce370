#!/usr/bin/env python3
"""Checks `beryl describe` against Hugging Face's own code, and writes the facts of its tests.

Builds each family on the meta device (no weights, no network), with several odd shapes and at every
size of the catalog, counts by torch's FlopCounterMode, and compares node by node: the scopes and
classes of named_modules, the parameters below each (a tied weight once), the matmul FLOPs in each.
The facts have heads too, in which order modules are called, and which module's output goes into
which. Run it on demand, in a virtual environment with torch and transformers:

    tools/check_models.py --beryl build/dev/beryl
    tools/check_models.py --write-facts tests/data/models/facts.jsonl

What the library's modules are and what is compared:
  - ModuleList and the like hold modules and are never called: they are no nodes. Neither is the
    function of a loss.
  - A module that is called several times (a layer of ALBERT, a dropout) may be one node or one node
    a call; the FLOPs of its scope are those of all its calls.
  - One module under several names (the activation of openai-gpt) is a node under each name.
  - Experts run as one grouped matmul, which the counter does not know. By the rule here each row
    meets one expert's weight: 2 * rows * in * out, where rows = tokens * experts per token.
  - Of a class with a head, the bare model's modules have the scopes that they have without it
    (encoder.layer.0, not bert.encoder.layer.0), and the bare model itself is the root.
  - Flows are those of what embeddings and convolutions give, directly or not; masks, positions and
    tables of angles are made in other places than they were in 2021. A module that is called again
    is the one that was called, and what it then takes is not told, but for one without modules
    inside (the activation of openai-gpt), which then is a part of its caller.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from check_models_cases import cases, head_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTAINERS = {"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
LOSSES = {"CrossEntropyLoss"}
SHOWN_PER_CASE = 20


def watching(torch):
    """A mode under which a model says the order of its calls and its flows."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Watch(TorchDispatchMode):
        VIEWS = {"view", "_unsafe_view", "transpose", "t", "permute", "expand", "slice", "select",
                 "unsqueeze", "squeeze", "split", "split_with_sizes", "detach", "alias"}

        def __init__(self, scopes):
            """`scopes`: module -> scope."""
            super().__init__()
            self.scopes, self.called, self.flows = scopes, [], set()
            self.running = [("", False)]  # scopes, and whether it is in a call that is not the first
            self.maker = {}  # id of a tensor -> (scope, the tensor, so that it keeps its id)
            for module in scopes:
                module.register_forward_pre_hook(self.enter)
                module.register_forward_hook(self.leave)

        def enter(self, module, _):
            scope, (caller, again) = self.scopes[module], self.running[-1]
            if scope not in self.called:
                self.called.append(scope)
            elif again or list(module.children()):
                again = True
            else:
                scope = caller
            self.running.append((scope, again))

        def leave(self, *_):
            self.running.pop()

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            name = func._schema.name.split("::")[1]
            makers = [self.maker[id(x)][0] for x in tree_leaves((args, kwargs))
                      if isinstance(x, torch.Tensor) and id(x) in self.maker]
            scope, again = self.running[-1]
            here = makers[0] if name in self.VIEWS and makers else scope
            source = name in ("embedding", "convolution")
            if not again and name not in self.VIEWS:
                self.flows |= {(maker, here) for maker in makers if maker != here}
            for x in tree_leaves(result):
                if isinstance(x, torch.Tensor) and (makers or source):
                    self.maker[id(x)] = here, x
            return result

    return Watch


class Library:
    """Hugging Face's own models, on the meta device; those with heads are run."""

    def __init__(self):
        import torch
        import transformers
        from torch.utils.flop_counter import FlopCounterMode
        self.torch, self.transformers, self.counter = torch, transformers, FlopCounterMode
        self.watch = watching(torch)
        transformers.logging.set_verbosity_error()

    def versions(self):
        return {"torch": self.torch.__version__.split("+")[0],
                "transformers": self.transformers.__version__}

    def prefix(self, family):
        """Of the family's classes: Bert, of BertModel."""
        auto = self.transformers.models.auto
        config = auto.configuration_auto.CONFIG_MAPPING[family]
        return auto.modeling_auto.MODEL_MAPPING[config].__name__.removesuffix("Model")

    def has(self, name):
        return hasattr(self.transformers, name)

    def inputs(self, config, size, device):
        def ids(length):  # all of them ends of a sequence, which some heads look for
            return self.torch.ones(size["batch"], length, dtype=self.torch.long, device=device)
        if config.model_type == "vit":
            side = config.image_size
            side = side if isinstance(side, (list, tuple)) else (side, side)
            shape = (size["batch"], config.num_channels, *side)
            return {"pixel_values": self.torch.empty(shape, device=device)}
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

    def model(self, config):
        known = self.transformers.models.auto.configuration_auto.CONFIG_MAPPING
        name = config.get("architectures", [None])[0]
        device = "cpu" if name else "meta"  # some heads look at what the tokens are
        config = known[config["model_type"]].from_dict(config)
        with self.torch.device(device):
            if name is None:
                made = self.transformers.AutoModel.from_config(config, attn_implementation="eager")
            else:
                made = getattr(self.transformers, name)._from_config(
                    config, attn_implementation="eager")
        return made.eval(), device

    def scopes(self, model):
        """Module -> (its scope in the library, its scope here), in the order of named_modules."""
        bare = model.base_model_prefix if hasattr(model, model.base_model_prefix) else None
        scopes = {}
        for scope, module in model.named_modules():
            if type(module).__name__ in CONTAINERS | LOSSES or scope == bare:
                continue
            here = scope.removeprefix(f"{bare}.") if bare else scope
            scopes[module] = scope, here
        return scopes

    def nodes(self, config, size, watched=False):
        """[scope, class, parameters below, matmul FLOPs below] of each module, as named_modules. If
        it is watched, in the order of calls, with a 0 behind those that are never called; and the
        flows, as pairs of scopes."""
        model, device = self.model(config)
        flops = self.counted(model, self.inputs(model.config, size, device))
        scopes = self.scopes(model)
        nodes = [[here, type(module).__name__, sum(p.numel() for p in module.parameters()),
                  flops(scope)]
                 for module, (scope, here) in scopes.items()]
        if not watched:
            return nodes
        watch = self.watch({module: here for module, (_, here) in scopes.items()})
        with watch, self.torch.no_grad():
            model(**self.inputs(model.config, size, device))
        order = {scope: number for number, scope in enumerate(watch.called)}
        called = sorted((node for node in nodes if node[0] in order),
                        key=lambda node: order[node[0]])
        return called + [node + [0] for node in nodes if node[0] not in order], sorted(watch.flows)


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
    if answer.get("schema") != "beryl.describe/2":
        raise RuntimeError(f"schema is {answer.get('schema')!r}, not 'beryl.describe/2'")
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


def head_fact(bare, nodes, flows):
    """What a model with a head has that the bare one has not, and the other way round."""
    bare_nodes, bare_flows = bare
    scopes = {node[0] for node in nodes}
    return {"nodes": [node for node in nodes if node not in bare_nodes],
            "without": [node[0] for node in bare_nodes if node[0] not in scopes],
            "flows": [flow for flow in flows if flow not in bare_flows]}


def write_facts(library, path, wanted, heads):
    """JSON lines: the versions, then a case a line; a case of the catalog has the entry's name. A
    case of a head has what it adds to the bare model's case, its config too."""
    lines = [json.dumps({"written_by": "tools/check_models.py", **library.versions()})]
    configs = {case: config for case, _, config, *_ in wanted}
    bare = {}

    def add(case, config, size, root, **more):
        fact = {"case": case, "config": config, "batch": size["batch"], "seq": size.get("seq"),
                "decoder_seq": size.get("decoder_seq"), "parameters": root[2],
                "matmul_flops": root[3], **more}
        lines.append(json.dumps(fact, separators=(",", ":")))

    for case, _, config, size, whole in wanted:
        if not whole:
            add(case, config, size, library.nodes(config, size)[0])
            continue
        nodes, flows = bare[case] = library.nodes(config, size, watched=True)
        number = {node[0]: at for at, node in enumerate(nodes)}
        more = {"flows": [[number[a], number[b]] for a, b in flows]} if case.endswith("-1") else {}
        add(case, config, size, nodes[0], nodes=nodes, **more)
    for case, of, added, size in heads:
        nodes, flows = library.nodes({**configs[of], **added}, size, watched=True)
        add(case, added, size, nodes[0], of=of, **head_fact(bare[of], nodes, flows))
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
        # A head's facts are told beside those of its bare model.
        told = {case for case, *_ in wanted}
        heads = [case for case in head_cases(library) if case[1] in told]
        write_facts(library, options.write_facts, wanted, heads)
        return 0
    if not options.beryl.exists():
        print(f"{options.beryl}: no such program: build it or name it with --beryl",
              file=sys.stderr)
        return 2
    print("torch {torch}, transformers {transformers}".format(**library.versions()))
    return 1 if compare(library, options.beryl, wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
