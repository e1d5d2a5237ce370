#!/usr/bin/env python3
"""Generates the synthetic BERT training run that `beryl demo` accounts.

usage: tools/make_demo.py    writes data/demo_ops.json.gz and data/demo_power.csv.gz

Three steps of BERT-base, batch 8, sequence 128, on one GPU, in the form of a PyTorch profiler trace. Times
follow from each operation's floating-point operations and bytes and a roofline, with a little noise;
power follows from how hard the GPU works. Nothing here was measured. The output depends on the seed alone.
"""
import gzip
import io
import json
import os
import random

LAYERS, HIDDEN, BATCH, SEQUENCE, STEPS = 12, 768, 8, 128, 3
TOKENS = BATCH * SEQUENCE
HEADS = HIDDEN // 64
PEAK_FLOPS, PEAK_BYTES = 10e12, 450e9
EPOCH_NS = 1_760_000_000_000_000_000
PID, FORWARD_THREAD, BACKWARD_THREAD = 100, 100, 101
FLOAT = 4
random.seed(7)


class Recorder:
    """Keeps the clocks of host and GPU and writes events as PyTorch's profiler does."""

    def __init__(self):
        self.events = []
        self.host = 20_000.0  # microseconds
        self.gpu = 20_000.0
        self.ids = 0
        self.sequence = 0
        self.backward = []  # (name, sequence, flops, bytes)
        self.busy = []  # (start, end, how hard) on the GPU

    def event(self, category, name, start, end, thread, pid=PID, **arguments):
        self.ids += 1
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": round(start, 3),
                            "dur": round(end - start, 3), "args": {"External id": self.ids, **arguments}})

    def scope(self, category, name):
        return Scope(self, category, name)

    def module(self, kind):
        # PyTorch numbers the modules of a class in order of their first call.
        return Scope(self, "python_function", f"nn.Module: {kind}")

    def launch(self, name, kernel, flops, size, thread, sequence=None, shapes=None):
        """An operation on the host that launches one kernel."""
        start = self.host
        call = start + random.uniform(3, 6)
        end = call + random.uniform(4, 7)
        seconds = max(flops / PEAK_FLOPS, size / PEAK_BYTES) * random.uniform(0.97, 1.06)
        begin = max(self.gpu, end + 2)
        finish = begin + max(1.8, seconds * 1e6 + 1.2)
        arguments = {}
        if sequence is not None:
            arguments["Sequence number"] = sequence
            arguments["Fwd thread id"] = 1 if thread == BACKWARD_THREAD else 0
        if shapes:
            arguments["Input Dims"] = shapes
        self.event("cpu_op", name, start, end + 1, thread, **arguments)
        self.event("cuda_runtime", "cudaLaunchKernel", call, end, thread, correlation=self.ids)
        self.event("kernel", kernel, begin, finish, 7, pid=0, device=0, stream=7, correlation=self.ids - 1)
        self.host = end + random.uniform(2, 5)
        self.gpu = finish
        self.busy.append((begin, finish, min(1.0, flops / PEAK_FLOPS / max(seconds, 1e-9))))

    def op(self, name, kernel, flops, size, backward=None, shapes=None):
        """A forward operation, and what it will cost on the way back."""
        self.sequence += 1
        self.launch(name, kernel, flops, size, FORWARD_THREAD, self.sequence, shapes)
        if backward:
            self.backward.append((backward, self.sequence, flops, size))


class Scope:
    def __init__(self, recorder, category, name):
        self.recorder, self.category, self.name = recorder, category, name

    def __enter__(self):
        self.start = self.recorder.host - 1.5
        self.recorder.host += 2

    def __exit__(self, *_):
        self.recorder.event(self.category, self.name, self.start, self.recorder.host, FORWARD_THREAD)
        self.recorder.host += 2


class Model:
    """BERT for classification; every module keeps its number from step to step."""

    def __init__(self, recorder):
        self.r = recorder

    def begin_step(self):
        self.next = {}

    def module(self, kind):
        number = self.next.get(kind, 0)
        self.next[kind] = number + 1
        return self.r.module(f"{kind}_{number}")

    def linear(self, rows, n, k):
        with self.module("Linear"):
            self.r.op("aten::addmm", "sgemm_128x64_tn", 2.0 * rows * n * k, FLOAT * (rows * k + k * n + rows * n),
                      "AddmmBackward0", [[n], [rows, k], [k, n]])

    def elementwise(self, name, kernel, elements, inputs, backward):
        self.r.op(name, kernel, float(elements), FLOAT * elements * (inputs + 1), backward)

    def norm(self):
        with self.module("LayerNorm"):
            self.elementwise("aten::native_layer_norm", "vectorized_layer_norm_kernel", TOKENS * HIDDEN, 2, "NativeLayerNormBackward0")

    def dropout(self, elements):
        with self.module("Dropout"):
            self.elementwise("aten::native_dropout", "fused_dropout_kernel", elements, 2, "NativeDropoutBackward0")

    def attention(self):
        with self.module("BertAttention"):
            with self.module("BertSelfAttention"):
                for _ in range(3):
                    self.linear(TOKENS, HIDDEN, HIDDEN)
                scores = BATCH * HEADS * SEQUENCE * SEQUENCE
                flops = 2.0 * scores * 64
                size = FLOAT * (2 * TOKENS * HIDDEN + scores)
                self.r.op("aten::bmm", "sgemm_64x64_nn_batched", flops, size, "BmmBackward0")
                self.elementwise("aten::_softmax", "softmax_warp_forward", scores, 2, "SoftmaxBackward0")
                self.dropout(scores)
                self.r.op("aten::bmm", "sgemm_64x64_nn_batched", flops, size, "BmmBackward0")
            with self.module("BertSelfOutput"):
                self.linear(TOKENS, HIDDEN, HIDDEN)
                self.dropout(TOKENS * HIDDEN)
                self.norm()

    def layer(self):
        with self.module("BertLayer"):
            self.attention()
            with self.module("BertIntermediate"):
                self.linear(TOKENS, 4 * HIDDEN, HIDDEN)
                with self.module("GELUActivation"):
                    self.elementwise("aten::gelu", "vectorized_elementwise_kernel<gelu>", TOKENS * 4 * HIDDEN, 1, "GeluBackward0")
            with self.module("BertOutput"):
                self.linear(TOKENS, HIDDEN, 4 * HIDDEN)
                self.dropout(TOKENS * HIDDEN)
                self.norm()

    def forward(self):
        with self.module("BertForSequenceClassification"):
            with self.module("BertModel"):
                with self.module("BertEmbeddings"):
                    for _ in range(3):
                        with self.module("Embedding"):
                            self.elementwise("aten::embedding", "indexSelectLargeIndex", TOKENS * HIDDEN, 1, "EmbeddingBackward0")
                    self.norm()
                    self.dropout(TOKENS * HIDDEN)
                with self.module("BertEncoder"):
                    for _ in range(LAYERS):
                        self.layer()
                with self.module("BertPooler"):
                    self.linear(BATCH, HIDDEN, HIDDEN)
            self.linear(BATCH, 2, HIDDEN)

    def parameters(self):
        for _ in range(LAYERS):
            for size in (1, 1, 1, 1, 4, 4):
                yield size * HIDDEN * HIDDEN
        yield 30522 * HIDDEN


def backward(recorder):
    for name, sequence, flops, size in reversed(recorder.backward):
        start = recorder.host
        recorder.host += 3
        twice = "Addmm" in name or "Bmm" in name
        for operation in (["aten::mm", "aten::mm"] if "Addmm" in name else ["aten::bmm", "aten::bmm"] if twice else [f"aten::{name[:-9].lower()}_backward"]):
            kernel = "sgemm_128x64_nt" if twice else "vectorized_backward_kernel"
            recorder.launch(operation, kernel, flops, size * (1 if twice else 1.5), BACKWARD_THREAD)
        recorder.event("cpu_op", name, start + 1, recorder.host - 1, BACKWARD_THREAD, **{"Sequence number": sequence, "Fwd thread id": 1})
        recorder.event("cpu_op", f"autograd::engine::evaluate_function: {name}", start, recorder.host, BACKWARD_THREAD,
                       **{"Sequence number": sequence, "Fwd thread id": 1})
        recorder.host += 1
    recorder.backward = []


def main():
    recorder = Recorder()
    model = Model(recorder)
    for step in range(STEPS):
        start = recorder.host
        recorder.event("cpu_op", "aten::to", recorder.host, recorder.host + 900, FORWARD_THREAD)
        recorder.host += 1000
        model.begin_step()
        model.forward()
        backward(recorder)
        with recorder.scope("user_annotation", "Optimizer.step#AdamW.step"):
            for elements in model.parameters():
                recorder.launch("aten::_fused_adamw_", "multi_tensor_apply_kernel<FusedAdam>", 12.0 * elements, 7.0 * FLOAT * elements, FORWARD_THREAD)
        recorder.host = max(recorder.host, recorder.gpu) + 50  # loss.item() waits for the GPU
        recorder.event("user_annotation", f"ProfilerStep#{step}", start - 3, recorder.host, FORWARD_THREAD)
        recorder.host += 2500
    end = recorder.host
    rows = ["# synthetic: made by tools/make_demo.py, not measured", "timestamp_us,device,power_w"]
    for device in ("CPU:0", "GPU:0"):
        time, index, watts = 0.0, 0, 38.0
        while time < end + 20_000:
            target = 31 + (26 if 20_000 <= time < end else 0)
            if device == "GPU:0":
                while index < len(recorder.busy) and recorder.busy[index][1] <= time:
                    index += 1
                work, at = 0.0, index
                while at < len(recorder.busy) and recorder.busy[at][0] < time + 4000:
                    begin, finish, how_hard = recorder.busy[at]
                    work += (min(finish, time + 4000) - max(begin, time)) / 4000 * (0.5 + 0.5 * how_hard)
                    at += 1
                target = 38 + 190 * work
            watts += (target - watts) * 0.6 + random.gauss(0, 0.8)
            rows.append(f"{EPOCH_NS // 1000 + int(time)},{device},{watts:.2f}")
            time += 4000
    trace = {"schemaVersion": 1, "comment": "synthetic: made by tools/make_demo.py, not measured",
             "baseTimeNanoseconds": EPOCH_NS, "traceEvents": recorder.events}
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
    for name, text in (("demo_ops.json.gz", json.dumps(trace, separators=(",", ":"))), ("demo_power.csv.gz", "\n".join(rows) + "\n")):
        buffer = io.BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed:
            packed.write(text.encode())
        with open(os.path.join(folder, name), "wb") as out:
            out.write(buffer.getvalue())
        print(name, len(buffer.getvalue()), "bytes")
    print(len(recorder.events), "events over", round(end / 1e6, 3), "s")


main()
