#!/usr/bin/env python3
"""Generates the synthetic BERT training run that `beryl demo` accounts.

usage: tools/make_demo.py    writes src/cli/demo_ops.json.gz and src/cli/demo_power.csv.gz

Three steps of a 12-layer BERT, batch 8, sequence 128, on one GPU: times follow from the floating-point operations and
bytes of each operation and a roofline, with a little noise; power follows from how hard the GPU works. Nothing here was
measured. The output depends on the seed alone.
"""
import gzip
import io
import json
import os
import random

LAYERS, HIDDEN, BATCH, SEQUENCE, STEPS = 12, 768, 8, 128, 3
TOKENS = BATCH * SEQUENCE
PEAK_FLOPS, PEAK_BYTES, LAUNCH_US = 10e12, 450e9, 6.0
EPOCH_US = 1_760_000_000_000_000
random.seed(7)


def matmul(m, n, k, batch=1):
    return 2.0 * m * n * k * batch, 4.0 * batch * (m * k + k * n + m * n)


def elementwise(elements, inputs=1):
    return float(elements), 4.0 * elements * (inputs + 1)


def dense(scope, rows, n, k):
    yield f"{scope}/MatMul", "MatMul", matmul(rows, n, k)
    yield f"{scope}/BiasAdd", "BiasAdd", elementwise(rows * n)


def layer_norm(scope):
    yield f"{scope}/batchnorm/mul", "Mul", elementwise(TOKENS * HIDDEN, 2)
    yield f"{scope}/batchnorm/add_1", "AddV2", elementwise(TOKENS * HIDDEN, 2)


def forward():
    yield "bert/embeddings/GatherV2", "GatherV2", elementwise(TOKENS * HIDDEN)
    yield "bert/embeddings/add", "AddV2", elementwise(TOKENS * HIDDEN, 2)
    yield from layer_norm("bert/embeddings/LayerNorm")
    heads, size = HIDDEN // 64, 64
    for layer in range(LAYERS):
        scope = f"bert/encoder/layer_{layer}"
        for part in ("query", "key", "value"):
            yield from dense(f"{scope}/attention/self/{part}", TOKENS, HIDDEN, HIDDEN)
        scores = BATCH * heads * SEQUENCE * SEQUENCE
        yield f"{scope}/attention/self/transpose", "Transpose", elementwise(TOKENS * HIDDEN)
        yield f"{scope}/attention/self/MatMul", "BatchMatMulV2", matmul(SEQUENCE, SEQUENCE, size, BATCH * heads)
        yield f"{scope}/attention/self/Softmax", "Softmax", elementwise(scores, 2)
        yield f"{scope}/attention/self/MatMul_1", "BatchMatMulV2", matmul(SEQUENCE, size, SEQUENCE, BATCH * heads)
        yield from dense(f"{scope}/attention/output/dense", TOKENS, HIDDEN, HIDDEN)
        yield from layer_norm(f"{scope}/attention/output/LayerNorm")
        yield from dense(f"{scope}/intermediate/dense", TOKENS, 4 * HIDDEN, HIDDEN)
        yield f"{scope}/intermediate/dense/Gelu", "Gelu", elementwise(TOKENS * 4 * HIDDEN)
        yield from dense(f"{scope}/output/dense", TOKENS, HIDDEN, 4 * HIDDEN)
        yield from layer_norm(f"{scope}/output/LayerNorm")
    yield from dense("bert/pooler/dense", BATCH, HIDDEN, HIDDEN)
    yield from dense("loss/classifier", BATCH, 2, HIDDEN)
    yield "loss/Mean", "Mean", elementwise(BATCH)


def step_operations():
    """(name, type, flops, bytes) of one training step, in order."""
    operations = list(forward())
    for name, kind, (flops, size) in operations:
        yield name, kind, flops, size
    for name, kind, (flops, size) in reversed(operations):
        if "MatMul" in kind:
            yield f"gradients/{name}_grad/MatMul", kind, flops, size
            yield f"gradients/{name}_grad/MatMul_1", kind, flops, size
        else:
            yield f"gradients/{name}_grad/{kind}Grad", f"{kind}Grad", flops, size * 1.5
    for layer in range(LAYERS):
        for part, count in (("attention/self/query", 1), ("attention/self/key", 1), ("attention/self/value", 1),
                            ("attention/output/dense", 1), ("intermediate/dense", 4), ("output/dense", 4)):
            size = 4.0 * HIDDEN * HIDDEN * count
            yield f"Adam/update_bert/encoder/layer_{layer}/{part}/kernel/ResourceApplyAdam", "ResourceApplyAdam", size, 7 * size


def main():
    events = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"/job:localhost/replica:0/task:0/device:{name} Compute"}}
              for pid, name in ((0, "CPU:0"), (1, "GPU:0"))]
    cpu_free = gpu_free = EPOCH_US + 20_000.0
    busy = []  # (start, end, intensity) on the GPU
    for _ in range(STEPS):
        start = max(cpu_free, gpu_free)
        events.append({"name": "IteratorGetNext", "cat": "Op", "ph": "X", "pid": 0, "tid": 0, "ts": round(start), "dur": 1500,
                       "args": {"name": "input/IteratorGetNext", "op": "IteratorGetNext"}})
        cpu_free = start + 1500
        for name, kind, flops, size in step_operations():
            seconds = max(flops / PEAK_FLOPS, size / PEAK_BYTES) * random.uniform(0.97, 1.06)
            launch = cpu_free
            cpu_free += LAUNCH_US * random.uniform(0.8, 1.3)
            begin = max(gpu_free, cpu_free)
            gpu_free = begin + max(2.0, seconds * 1e6 + 2)
            events.append({"name": kind, "cat": "Op", "ph": "X", "pid": 1, "tid": 0, "ts": round(begin),
                           "dur": max(1, round(gpu_free) - round(begin)), "args": {"name": name, "op": kind}})
            busy.append((begin, gpu_free, flops / PEAK_FLOPS / max(seconds, 1e-9)))
            if random.random() < 0.05:
                events.append({"name": "Const", "cat": "Op", "ph": "X", "pid": 0, "tid": 1, "ts": round(launch), "dur": 4,
                               "args": {"name": name.rsplit("/", 1)[0] + "/Const", "op": "Const"}})
        gpu_free += 3_000
    rows = ["timestamp_us,device,power_w"]
    end = gpu_free + 25_000
    for device in ("CPU:0", "GPU:0"):
        time, index, watts = EPOCH_US, 0, 42.0
        while time < end:
            work = 0.0
            if device == "GPU:0":
                while index < len(busy) and busy[index][1] <= time:
                    index += 1
                at = index
                while at < len(busy) and busy[at][0] < time + 4000:
                    overlap = min(busy[at][1], time + 4000) - max(busy[at][0], time)
                    work += overlap / 4000 * (0.55 + 0.45 * min(1, busy[at][2]))
                    at += 1
                target = 38 + 192 * work
            else:
                target = 31 + (24 if EPOCH_US + 20_000 <= time < gpu_free else 0)
            watts += (target - watts) * 0.6 + random.gauss(0, 0.8)
            rows.append(f"{time},{device},{watts:.2f}")
            time += 4000
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "cli")
    for name, text in (("demo_ops.json.gz", json.dumps({"comment": "synthetic: made by tools/make_demo.py, not measured",
                                                        "traceEvents": events}, separators=(",", ":"))),
                       ("demo_power.csv.gz", "# synthetic: made by tools/make_demo.py, not measured\n" + "\n".join(rows) + "\n")):
        buffer = io.BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed:
            packed.write(text.encode())
        with open(os.path.join(folder, name), "wb") as out:
            out.write(buffer.getvalue())
        print(name, len(buffer.getvalue()), "bytes")
    print(len(events), "events over", round((gpu_free - EPOCH_US) / 1e6, 3), "s")


main()
