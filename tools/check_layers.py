#!/usr/bin/env python3
"""Checks the #include lines of src/ against the star of rooms.

Rooms meet only in the hall: a room may include base and types, never another room; server and cli
tie the rooms together. From outside, a room is entered by its front door <room>/<room>.h; base and
types have no door, every header of theirs is public. A third-party library belongs to one room.
"""

import argparse
import pathlib
import re
import sys

HALL = {"base", "types"}
ROOMS = {"sources", "importers", "account", "tree", "models", "runtime", "learn", "store", "views"}
MAY_INCLUDE = {
    "base": set(),
    "types": {"base"},
    **{room: HALL for room in ROOMS},
    "server": HALL | ROOMS,
    "cli": HALL | ROOMS | {"server"},
}
# First part of an <include> -> the rooms, or files, that may name it. Libraries not listed here are
# free.
LIBRARIES = {
    "simdjson.h": {"base"},
    "google": {"base"},  # protobuf
    "zlib.h": {"base"},
    "fmt": set(MAY_INCLUDE) - {"types"},  # vocabulary, like std; but the nouns do not print
    "CLI": {"cli/command_line.cc"},  # takes seconds in every file that names it
    "Eigen": {"learn"},
    "grpc": {"server"},
    "grpcpp": {"server"},
    "benchmark": set(),
}
TEST_LIBRARIES = {"gtest", "gmock"}
GENERATED = {"version.h"}
# Made of api/*.proto -> the rooms that may name it.
MESSAGES = re.compile(r"(monitor|smaragdine)(\.grpc)?\.pb\.h")

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def is_test(path):
    return path.stem.endswith("_test")


def problem(path, line):
    """What is wrong with one line of src/<path>, or None."""
    match = INCLUDE.match(line)
    if not match:
        return None
    quoted, target = match[1] == '"', match[2]
    room, first = path.parts[0], target.split("/")[0]

    if not quoted:
        if first in TEST_LIBRARIES and not is_test(path):
            return f"<{target}> belongs in *_test.cc"
        if first in LIBRARIES and not LIBRARIES[first] & {room, path.as_posix()}:
            owners = ", ".join(sorted(LIBRARIES[first])) or "nowhere in src/"
            return f"{path.as_posix()} may not name <{target}>; it belongs to: {owners}"
        if first in MAY_INCLUDE and "/" in target:
            return f'write "{target}" with quotes'
        return None

    if target in GENERATED:
        return None
    if MESSAGES.fullmatch(target):
        return None if room == "server" else f'"{target}" belongs to server'
    if first not in MAY_INCLUDE or "/" not in target:
        return f'"{target}" is not a path below src/, like "base/result.h"'
    if first == room:
        return None
    if first not in MAY_INCLUDE[room]:
        allowed = ", ".join(sorted(MAY_INCLUDE[room])) or "no room"
        return f"{room} may not include {first}; it may include: {allowed}"
    if first not in HALL and target != f"{first}/{first}.h":
        return f'"{target}" is private to {first}; include "{first}/{first}.h"'
    return None


def check(src):
    problems = []
    for path in sorted(src.rglob("*")):
        if path.suffix not in {".cc", ".h"}:
            continue
        inside = path.relative_to(src)
        if len(inside.parts) < 2 or inside.parts[0] not in MAY_INCLUDE:
            problems.append(f"{path}:1: not in a room; the rooms are: {', '.join(MAY_INCLUDE)}")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if text := problem(inside, line):
                problems.append(f"{path}:{number}: {text}")
    return problems


def self_test():
    allowed = [
        ("base/file.cc", "#include <zlib.h>"),
        ("base/json.cc", "#include <simdjson.h>"),
        ("base/wire_reader.h", "#include <google/protobuf/io/coded_stream.h>"),
        ("base/json.cc", '#include "base/json.h"'),
        ("types/op_trace.h", '#include "base/units.h"'),
        ("account/account.cc", '#include "account/intervals.h"'),
        ("account/account.cc", '#include "types/op_trace.h"'),
        ("account/account.cc", "#include <fmt/format.h>"),
        ("account/account_test.cc", "#include <gtest/gtest.h>"),
        ("server/server.cc", '#include "store/store.h"'),
        ("server/rpc/desk.cc", "#include <grpcpp/grpcpp.h>"),
        ("server/rpc/messages.h", '#include "monitor.pb.h"'),
        ("server/rpc/desk.cc", '#include "server/sessions.h"'),
        ("cli/main.cc", '#include "server/server.h"'),
        ("cli/command_line.cc", "#include <CLI/CLI.hpp>"),
        ("learn/least_squares.cc", "#include <Eigen/Dense>"),
        ("cli/main.cc", '#include "version.h"'),
        ("views/table.cc", "#include <vector>"),
        ("views/table.cc", '// not #include "cli/cli.h"'),
    ]
    refused = [
        ("base/file.cc", '#include "types/op_trace.h"'),
        ("types/op_trace.h", '#include "account/account.h"'),
        ("types/op_trace.h", "#include <fmt/format.h>"),
        ("account/account.cc", '#include "tree/tree.h"'),
        ("account/account_test.cc", '#include "importers/importers.h"'),
        ("account/account.cc", "#include <zlib.h>"),
        ("importers/xplane.cc", "#include <google/protobuf/io/coded_stream.h>"),
        ("account/account.cc", "#include <gmock/gmock.h>"),
        ("account/account.cc", "#include <base/units.h>"),
        ("account/account.cc", '#include "intervals.h"'),
        ("account/account.cc", '#  include  "views/views.h"'),
        ("views/table.cc", "#include <CLI/CLI.hpp>"),
        ("cli/cli.cc", "#include <CLI/CLI.hpp>"),
        ("server/server.cc", '#include "cli/cli.h"'),
        ("sources/sampler.cc", "#include <grpcpp/grpcpp.h>"),
        ("cli/cmd_monitor.cc", '#include "monitor.pb.h"'),
        ("cli/monitor_main.cc", '#include "server/sessions.h"'),
        ("cli/cmd_account.cc", '#include "account/intervals.h"'),
        ("cli/cmd_account.cc", '#include "util/strings.h"'),
    ]
    for path, line in allowed:
        assert problem(pathlib.PurePath(path), line) is None, f"{path}: refuses {line}"
    for path, line in refused:
        assert problem(pathlib.PurePath(path), line), f"{path}: allows {line}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true", help="check the checker first")
    parser.add_argument("src", nargs="?", type=pathlib.Path, default=pathlib.Path("src"))
    args = parser.parse_args()
    if args.self_test:
        self_test()
    problems = check(args.src)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
