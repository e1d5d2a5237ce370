#!/usr/bin/env python3
"""Writes the XPlane files of the golden cases, tests/golden/xplane-*/ops.xplane.pb.

They are protobuf messages (an XSpace each), put together here by hand: small, the same on every
machine, and with exactly the things in them that a case is about. Field numbers are those of
xplane.proto and hlo.proto.
"""

import pathlib

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
START_NS = 1_700_000_000_000_000_000


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field: a number, or bytes, text or a message with its length before it."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


class Plane:
    """Numbers names as they are used; lines come before the names, as the profilers write them."""

    def __init__(self, name):
        self.name, self.lines, self.events, self.stats = name, b"", {}, {}
        self.own_stats = b""

    def stat(self, name, value):
        def number(text):
            return self.stats.setdefault(text, len(self.stats) + 1)
        head = field(1, number(name))
        if isinstance(value, int):
            return head + field(4, value)
        if isinstance(value, bytes):
            return head + field(6, value)
        return head + field(7, number(value))  # by reference, like most texts

    def kind(self, name, display="", stats=()):
        key = (name, display, tuple(stats))
        return self.events.setdefault(key, len(self.events) + 1)

    def line(self, name, events, number=1, timestamp_ns=0):
        """Events are (name, start in us, duration in us, stats[, display name, stats of the name])."""
        body = field(1, number) + field(2, name) + field(3, timestamp_ns)
        for event in events:
            what, start, duration, stats = event[:4]
            kind = self.kind(what, *event[4:])
            body += field(4, field(1, kind) + field(2, int(start * 1e6)) +
                          field(3, int(duration * 1e6)) +
                          b"".join(field(4, self.stat(*stat)) for stat in stats))
        self.lines += field(3, body)

    def encode(self):
        body = field(2, self.name) + self.lines
        for (name, display, stats), number in self.events.items():
            message = field(1, number) + field(2, name)
            if display:
                message += field(4, display)
            message += b"".join(field(5, self.stat(*stat)) for stat in stats)
            body += field(4, field(1, number) + field(2, message))
        for name, number in self.stats.items():
            body += field(5, field(1, number) + field(2, field(1, number) + field(2, name)))
        return field(1, body + self.own_stats)


def environment():
    plane = Plane("Task Environment")
    plane.own_stats = field(6, plane.stat("profile_start_time", START_NS))
    return plane.encode()


def programs(modules):
    """Modules are {"name(number)": [(instruction, opcode, op_name, op_type)]}."""
    plane = Plane("/host:metadata")
    for label, instructions in modules.items():
        computation = field(1, "main")
        for name, opcode, op_name, op_type in instructions:
            metadata = (field(1, op_type) if op_type else b"") + field(2, op_name)
            computation += field(2, field(1, name) + field(2, opcode) + field(7, metadata))
        module = field(1, label.partition("(")[0]) + field(3, computation)
        plane.kind(label, label, [("Hlo Proto", field(1, module))])
    return plane.encode()


def host():
    """A TensorFlow training step on two threads, with the machinery around it."""
    cpu = Plane("/host:CPU")
    call = "StatefulPartitionedCall/"
    cpu.line("python", [
        ("$train.py:12 fit", 0, 2000, []),
        ("train", 0, 1000, [("step_num", 0), ("_r", 1)]),
        ("EagerExecute", 20, 60, [("eager_op", "AssignVariableOp"), ("is_func", 0)]),
        ("EagerExecute", 90, 900, [("eager_op", "__inference_train_step_7"), ("is_func", 1)]),
        ("train", 1000, 1000, [("step_num", 1), ("_r", 1)]),
        ("EagerExecute", 1090, 900, [("eager_op", "__inference_train_step_7"), ("is_func", 1)]),
        ("EagerLocalExecute: MakeIterator", 1995, 2, []),
    ], number=11, timestamp_ns=500)
    for step in (0, 1):
        at = 1000 * step + 100
        cpu.line(f"tf_Compute/{step}", [
            ("ThreadpoolListener::StartRegion", at, 0, [("_c", 70 + step)]),
            ("ExecutorState::Process", at, 860, [("id", 5), ("iter_num", step)]),
            (call + "net/dense_1/MatMul:MatMul", at + 10, 300, [], "MatMul"),
            (call + "net/dense_1/BiasAdd:BiasAdd", at + 320, 50, [], "BiasAdd"),
            # An operation that calls another one: only the inner one is at work.
            (call + "net/while:While", at + 380, 100, [], "While"),
            (call + "net/while/body/_3/net/while/Tanh:Tanh", at + 400, 40, [], "Tanh"),
            (call + "gradient_tape/net/dense_1/MatMul/MatMul:MatMul", at + 500, 200, [], "MatMul"),
            (call + "Adam/ResourceApplyAdam:ResourceApplyAdam", at + 720, 80, [],
             "ResourceApplyAdam"),
            ("Iterator::Root::Prefetch", at + 810, 5, [("name", "PrefetchDataset:22")]),
        ], number=20 + step, timestamp_ns=500)
    return cpu.encode() + environment() + field(4, "trainer")


def cpu_programs():
    """A JAX training step on XLA:CPU, with the program it was compiled to."""
    step = "jit(train_step)/"
    metadata = programs({
        "jit_train_step(7)": [
            ("dot.1", "dot", step + "jvp(Net)/Dense_0/dot_general", ""),
            ("loop_fusion.2", "fusion", step + "transpose(jvp(Net))/Dense_0/mul", ""),
            ("remat_fusion", "fusion",
             step + "transpose(jvp(Net))/jvp(Net)/checkpoint/rematted_computation/Dense_0/tanh",
             ""),
            ("add_fusion.3", "fusion", step + "add", ""),
            ("copy.4", "copy", "p['params']['Dense_0']['kernel']", ""),
            ("while.5", "while", step + "jvp(Net)/while", ""),
            ("sine.6", "sine", step + "jvp(Net)/while/body/sin", ""),
        ],
        # Another program of that name: the number decides.
        "jit_train_step(8)": [("dot.1", "dot", step + "elsewhere/dot_general", "")],
    })
    cpu = Plane("/host:CPU")

    def hlo(name, start, duration):
        return (name, start, duration, [("hlo_op", name), ("hlo_module", "jit_train_step"),
                                        ("program_id", 7), ("run_id", 3)])
    cpu.line("tf_XLAEigen/1", [
        ("ThunkExecutor::Execute", 0, 900, []),
        hlo("copy.4", 10, 40),
        hlo("dot.1", 60, 200), ("end: dot.1", 260, 1, [("_c", 4)]),
        hlo("while.5", 270, 130), hlo("sine.6", 300, 50),
        hlo("remat_fusion", 410, 100),
        hlo("loop_fusion.2", 520, 150),
        hlo("add_fusion.3", 700, 60),
        hlo("not_in_the_program.9", 800, 20),
    ])
    cpu.line("python", [("PjitFunction(train_step)", 0, 20, [])], number=2)
    return metadata + cpu.encode() + environment() + field(4, "worker-0")


def gpu():
    """A GPU's streams, and the lines that were made from them."""
    cpu = Plane("/host:CPU")
    cpu.line("tf_Compute/1", [
        ("net/dense_1/MatMul:MatMul", 0, 50, [], "MatMul"),
        ("net/dense_1/BiasAdd:BiasAdd", 60, 40, [], "BiasAdd"),
    ], number=33)
    launches = Plane("/host:CUPTI")
    launches.line("Host Threads/33", [
        ("cuLaunchKernel", 10, 5, [("correlation_id", 101)]),
        ("cuLaunchKernel", 70, 5, [("correlation_id", 102)]),
        ("cuMemcpyHtoDAsync", 150, 5, [("correlation_id", 103)]),
    ], number=33)
    device = Plane("/device:GPU:0")
    device.line("Stream #14(Kernel)", [
        # The annotation that was open when it was launched.
        ("ampere_sgemm_128x64_nn", 100, 200,
         [("correlation_id", 101), ("tf_op", "net/dense_1/MatMul:MatMul")]),
        # Only the launch.
        ("bias_kernel<float>", 310, 40, [("correlation_id", 102)]),
        # An instruction of a program.
        ("loop_add_fusion", 400, 30, [("correlation_id", 104), ("tf_op", "XlaModule:"),
                                      ("hlo_op", "add_fusion.1"), ("hlo_module", "jit_step")]),
    ], number=14)
    device.line("Stream #15(MemcpyH2D)", [("MemcpyH2D", 320, 60, [("correlation_id", 103)])],
                number=15)
    for name in ("XLA Ops", "XLA Modules", "Framework Ops", "Framework Name Scope", "Source code"):
        device.line(name, [("again", 100, 330, [])], number=90)
    device.line("_counters_", [("power_mw", 200, 0, [])], number=91)
    metadata = programs({"jit_step(1)": [
        ("add_fusion.1", "fusion", "jit(step)/Net/Dense_0/add", "")]})
    return metadata + cpu.encode() + launches.encode() + device.encode() + environment()


def tpu():
    """A TPU core: instructions that nest, by program, with the steps of the device."""
    step = "jit(train_step)/"
    metadata = programs({"jit_train_step(99)": [
        ("fusion.1", "fusion", step + "jvp(Net)/Dense_0/dot_general", "")]})
    device = Plane("/device:TPU:0 (core 0)")
    device.line("Steps", [("7", 0, 480, []), ("8", 500, 480, [])], number=1)
    device.line("XLA Modules", [("jit_train_step(99)", 0, 480, []),
                                ("jit_train_step(99)", 500, 480, [])], number=2)
    events = []
    for at in (0, 500):
        events += [
            # The program says what it is ...
            ("%fusion.1 = f32[8,8] fusion(...)", at + 10, 100, [], "fusion.1"),
            # ... or the name of the event does, with what it was made from.
            ("%while.2 = (s32[]) while(...)", at + 120, 300, [], "while.2",
             (("tf_op", step + "transpose(jvp(Net))/while:"),)),
            ("%fusion.3 = f32[8] fusion(...)", at + 150, 200, [], "fusion.3",
             (("tf_op", step + "transpose(jvp(Net))/while/body/mul:"),)),
            # Nothing does.
            ("%copy.4 = f32[8] copy(...)", at + 430, 40, [], "copy.4"),
        ]
    device.line("XLA Ops", events, number=3)
    device.line("Async XLA Ops", [("copy-start", 10, 400, [])], number=4)
    device.line("Framework Name Scope", [("Net", 0, 900, [])], number=5)
    return metadata + device.encode() + environment()


def main():
    samples = {"host": host(), "programs": cpu_programs(), "gpu": gpu(), "tpu": tpu()}
    # The names of a plane are behind its events: of a plane that is cut there, some are missing.
    cut = samples["host"].find(b"BiasAdd:BiasAdd") + 4
    samples["cut-short"] = samples["host"][:cut]
    # Without the plane that says when the profile started.
    samples["relative"] = samples["host"].replace(environment(), b"")
    for name, content in samples.items():
        folder = GOLDEN / f"xplane-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "ops.xplane.pb").write_bytes(content)


if __name__ == "__main__":
    main()
