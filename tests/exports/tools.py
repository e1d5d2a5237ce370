"""The parts of run.py that need packages: each opens a file with a tool's own reader and prints what it found, as
JSON. Run by the interpreter that tools/exports_tools.py makes."""

import dataclasses
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import sys
import types
import typing


# ---- Model Explorer: its classes are the format, so a file is taken apart by them

def package_file(package, file):
    """One file of a package, without the rest, which would need a web server."""
    folder = pathlib.Path(importlib.machinery.PathFinder.find_spec(package).submodule_search_locations[0])
    name = f"{package}.{file}"
    if package not in sys.modules:
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = [str(folder)]
    spec = importlib.util.spec_from_file_location(name, folder / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def fit(value, kind, module, where):
    """Checks that a value of JSON is of a type, by the annotations of its class."""
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        assert isinstance(value, dict), where
        hints = typing.get_type_hints(kind, vars(module))
        unknown = set(value) - set(hints)
        assert not unknown, f"{where}: no such member: {unknown}"
        for field in dataclasses.fields(kind):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            assert field.name in value or not needed, f"{where}: lacks {field.name}"
        for name, member in value.items():
            fit(member, hints[name], module, f"{where}.{name}")
    elif origin is list:
        assert isinstance(value, list), where
        for i, item in enumerate(value):
            fit(item, typing.get_args(kind)[0], module, f"{where}[{i}]")
    elif origin is dict:
        assert isinstance(value, dict), where
        for name, item in value.items():
            fit(item, typing.get_args(kind)[1], module, f"{where}[{name}]")
    elif origin is typing.Literal:
        assert value in typing.get_args(kind), where
    elif typing.get_args(kind):
        errors = []
        for one in typing.get_args(kind):
            try:
                return fit(value, one, module, where)
            except AssertionError as error:
                errors.append(str(error))
        raise AssertionError(f"{where}: {errors}")
    else:
        assert isinstance(value, kind if kind is not float else (int, float)), f"{where}: {value} is no {kind}"
    return None


def model_explorer(graph_file, data_file):
    builder = package_file("model_explorer", "graph_builder")
    graphs = json.loads(pathlib.Path(graph_file).read_text())
    for i, graph in enumerate(graphs):
        fit(graph, builder.Graph, builder, f"graph[{i}]")
    node_data = package_file("model_explorer", "node_data_builder")
    data = json.loads(pathlib.Path(data_file).read_text())
    ids = {graph["id"]: {node["id"] for node in graph["nodes"]} for graph in graphs}
    for name, one in data.items():
        fit(one, node_data.GraphNodeData, node_data, name)
        assert set(one["results"]) <= ids[name]
    values = [result["value"] for one in data.values() for result in one["results"].values()]
    return {"nodes": sum(map(len, ids.values())), "sum": math.fsum(values)}


# ---- Perfetto

def perfetto(file):
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    trace = Trace()
    trace.ParseFromString(pathlib.Path(file).read_bytes())
    tracks, counters, weights, slices, steps, ends = {}, {}, [], {}, [], []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for message in (packet, packet.track_descriptor, packet.track_descriptor.counter, packet.track_event):
            assert len(UnknownFieldSet(message)) == 0
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks, "a number stands for one track"
            assert not track.parent_uuid or track.parent_uuid in tracks
            tracks[track.uuid] = track
            continue
        event = packet.track_event
        track = tracks[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            assert track.HasField("counter")
            counters.setdefault(event.track_uuid, []).append((packet.timestamp, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_INSTANT:
            assert event.callstack.frames and all(frame.function_name for frame in event.callstack.frames)
            weights.append(event.callstack_weight)
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            slices.setdefault(event.track_uuid, []).append(packet.timestamp)
            if track.name == "steps":
                steps.append(packet.timestamp)
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END and slices[event.track_uuid].pop() <= packet.timestamp
            if track.name == "steps":
                ends.append(packet.timestamp)
    energy = {}
    for uuid, points in counters.items():
        assert points == sorted(points, key=lambda point: point[0])
        joules = math.fsum(watts * (end - start) * 1e-9 for (start, watts), (end, _) in zip(points, points[1:]))
        energy[tracks[uuid].name] = joules
    groups = [track for track in tracks.values() if not track.parent_uuid]
    return {"weights": math.fsum(weights), "counters": energy, "steps": len(steps),
            "steps_at": [min(steps), max(ends)], "open_slices": sum(map(len, slices.values())),
            "unit": sorted({tracks[uuid].counter.unit_name for uuid in counters}),
            "provenance": groups[0].description}


# ---- TensorBoard

def tensorboard(file):
    from tensorboard.backend.event_processing import event_accumulator
    accumulator = event_accumulator.EventAccumulator(file, size_guidance={event_accumulator.SCALARS: 0,
                                                                          event_accumulator.TENSORS: 0})
    accumulator.Reload()
    assert accumulator.file_version == 2.0, accumulator.file_version
    tags = {tag: [(event.wall_time, event.step, event.value) for event in accumulator.Scalars(tag)]
            for tag in accumulator.Tags()["scalars"]}
    assert tags
    return tags


# ---- XProf: the messages, by their numbers in xplane.proto, for the wheel has no classes for them

def xspace_class():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", package="x", syntax="proto3")
    kinds = {"i": 3, "u": 4, "s": 9, "b": 12, "d": 1}
    shapes = {
        "XSpace": {"planes": (1, "XPlane*"), "errors": (2, "s*"), "warnings": (3, "s*"), "hostnames": (4, "s*")},
        "XPlane": {"id": (1, "i"), "name": (2, "s"), "lines": (3, "XLine*"), "event_metadata": (4, "EventEntry*"),
                   "stat_metadata": (5, "StatEntry*"), "stats": (6, "XStat*")},
        "EventEntry": {"key": (1, "i"), "value": (2, "XEventMetadata")},
        "StatEntry": {"key": (1, "i"), "value": (2, "XStatMetadata")},
        "XLine": {"id": (1, "i"), "name": (2, "s"), "timestamp_ns": (3, "i"), "events": (4, "XEvent*"),
                  "duration_ps": (9, "i"), "display_id": (10, "i"), "display_name": (11, "s")},
        "XEvent": {"metadata_id": (1, "i"), "offset_ps": (2, "i"), "duration_ps": (3, "i"), "stats": (4, "XStat*"),
                   "num_occurrences": (5, "i")},
        "XStat": {"metadata_id": (1, "i"), "double_value": (2, "d"), "uint64_value": (3, "u"),
                  "int64_value": (4, "i"), "str_value": (5, "s"), "bytes_value": (6, "b"), "ref_value": (7, "u")},
        "XEventMetadata": {"id": (1, "i"), "name": (2, "s"), "metadata": (3, "b"), "display_name": (4, "s"),
                           "stats": (5, "XStat*"), "child_id": (6, "i*")},
        "XStatMetadata": {"id": (1, "i"), "name": (2, "s"), "description": (3, "s")},
    }
    for name, fields in shapes.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            one = message.field.add(name=field, number=number, label=3 if kind.endswith("*") else 1)
            kind = kind.rstrip("*")
            if kind in kinds:
                one.type = kinds[kind]
            else:
                one.type, one.type_name = 11, f".x.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("x.XSpace"))


def read_xspace(file):
    space = xspace_class()()
    space.ParseFromString(pathlib.Path(file).read_bytes())
    return space


def xplane(before, after):
    """The energies in a copy; and whether it is the original without them."""
    original, space = read_xspace(before), read_xspace(after)
    energies, description = [], ""
    for plane in space.planes:
        ours = [entry for entry in plane.stat_metadata if entry.value.name == "vdd_energy_j"]
        if not ours:
            continue
        (entry,) = ours
        assert entry.key == entry.value.id
        assert sum(other.key == entry.key for other in plane.stat_metadata) == 1
        description = entry.value.description
        plane.stat_metadata.remove(entry)
        for line in plane.lines:
            for event in line.events:
                for stat in [stat for stat in event.stats if stat.metadata_id == entry.key]:
                    energies.append(stat.double_value)
                    event.stats.remove(stat)
    return {"energy": math.fsum(energies), "events": len(energies), "description": description,
            "same": space.SerializeToString() == original.SerializeToString() and
            original.SerializeToString(deterministic=True) == space.SerializeToString(deterministic=True)}


def xplane_span(file):
    start, end = None, None
    base = 0
    space = read_xspace(file)
    for plane in space.planes:
        names = {entry.key: entry.value.name for entry in plane.stat_metadata}
        for stat in plane.stats:
            if names.get(stat.metadata_id) == "profile_start_time":
                base = stat.uint64_value or stat.int64_value
    for plane in space.planes:
        for line in plane.lines:
            origin = line.timestamp_ns if line.timestamp_ns > 946684800 * 10 ** 9 else base + line.timestamp_ns
            for event in line.events:
                first, last = origin + event.offset_ps // 1000, origin + (event.offset_ps + event.duration_ps) // 1000
                start, end = min(start or first, first), max(end or last, last)
    return [start, end]


def make_tpu(file):
    """A device with two instructions that run twice, as XProf needs them described."""
    space = xspace_class()()
    plane = space.planes.add(id=1, name="/device:TPU:0")
    stats = {name: i for i, name in enumerate(("hlo_category", "program_id", "symbol_id", "flops", "tf_op"), 1)}
    for name, number in stats.items():
        entry = plane.stat_metadata.add(key=number)
        entry.value.id, entry.value.name = number, name
    for number, name in enumerate(("fusion.1", "convolution.2"), 1):
        entry = plane.event_metadata.add(key=number)
        entry.value.id, entry.value.name, entry.value.display_name = number, f"%{name} = f32[8]", name
        for stat, value in (("hlo_category", "fusion"), ("tf_op", f"net/{name}")):
            entry.value.stats.add(metadata_id=stats[stat], str_value=value)
        for stat, value in (("program_id", 7), ("symbol_id", number), ("flops", 1000)):
            entry.value.stats.add(metadata_id=stats[stat], uint64_value=value)
    line = plane.lines.add(id=3, name="XLA Ops")
    for i in range(4):
        line.events.add(metadata_id=1 + i % 2, offset_ps=(100 + 200 * i) * 10 ** 6, duration_ps=(90 + i) * 10 ** 6)
    pathlib.Path(file).write_bytes(space.SerializeToString())
    return {}


def xprof(file):
    """XProf's own converter: the table of HLO Stats."""
    from xprof.convert import _pywrap_profiler_plugin as plugin
    folder = pathlib.Path(file).with_suffix(".run")
    folder.mkdir()
    copy = folder / "host.xplane.pb"
    copy.write_bytes(pathlib.Path(file).read_bytes())
    data, good = plugin.xspace_to_tools_data([str(copy)], "hlo_stats", {})
    assert good
    table = json.loads(data)
    columns = [column["label"] for column in table["cols"]]
    which = [i for i, label in enumerate(columns) if "VDD" in label]
    assert which, columns
    values = [row["c"][which[0]]["v"] for row in table["rows"]]
    viewer, good = plugin.xspace_to_tools_data([str(copy)], "trace_viewer", {})
    assert good
    return {"label": columns[which[0]], "sum": math.fsum(value or 0 for value in values), "rows": len(values),
            "in_viewer": viewer.count(b"vdd_energy_j")}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
