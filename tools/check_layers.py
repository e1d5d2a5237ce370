#!/usr/bin/env python3
"""Checks the #include lines of src/ against the star of rooms.

A room may include base and types, never another room; flows connects the rooms. server calls flows
and the rooms, cli only flows and views. Code outside a room includes only its public headers:
<room>/<room>.h unless PUBLIC_HEADERS lists others; all headers of base, types and flows are public.
A third-party library belongs to one room.

Flags belong to cli: other rooms name the subject in errors and notes, because not all who read them
have a command line (see Error::options in base/result.h and ViewOptions::flag in views/views.h).
"""

import argparse
import pathlib
import re
import sys

SHARED = {"base", "types"}
ALL_PUBLIC = SHARED | {"flows"}  # every header is public
ROOMS = {"sources", "importers", "datasets", "models", "account", "tree", "analyze", "learn", "store", "views"}
MAY_INCLUDE = {
    "base": set(),
    "types": {"base"},
    **{room: SHARED for room in ROOMS},
    "flows": SHARED | ROOMS - {"views"},
    "server": SHARED | ROOMS | {"flows"},
    "cli": SHARED | {"flows", "views", "server"},
}
# Room -> its public headers, where <room>/<room>.h is not the only one.
PUBLIC_HEADERS = {
    "account": ["account/account.h", "account/power_looks.h", "account/running_energy.h"],
    "learn": ["learn/energy_model_file.h", "learn/evaluate.h", "learn/predict.h",
              "learn/profiles.h", "learn/train.h"],
    "sources": [f"sources/{name}.h" for name in (
        "discover", "machine", "power_file", "power_source", "processes", "recorder", "sampler", "standby")],
    "server": ["server/serve.h", "server/server.h"],
    "store": ["store/library.h", "store/store.h"],
}
# Tests of a room -> the rooms that make what they need.
TESTS_MAY_INCLUDE = {"flows": {"sources"}, "tree": {"analyze"}, "analyze": {"tree"}, "learn": {"datasets"}}
# First part of an <include> -> the rooms, folders or files that may name it. Libraries not listed here are
# free.
LIBRARIES = {
    "simdjson.h": {"base"},
    "google": {"base", "server/rpc/library_log.cc"},  # protobuf
    "boost": {"server/http"},  # takes seconds in every file that names it
    "zlib.h": {"base"},
    "sqlite3.h": {"store/library/sqlite_database.cc"},
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

# A flag in a string literal, and the flags of other programs that remedies name.
FLAG = re.compile(r'"(?:[^"\\]|\\.)*?(?<![\w-])(--(?:[a-z][\w-]*|\{))')
FLAGS_OF_OTHERS = {
    "sources/rapl_perf.cc": {"--cap-add"},
    "sources/rapl_powercap.cc": {"--privileged", "--reload", "--subsystem-match"},
    "sources/nvml.cc": {"--gpus"},
    "views/completion.cc": {"--{", "--help"},  # scripts for shells
}

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def public_headers(room):
    return PUBLIC_HEADERS.get(room, [f"{room}/{room}.h"])


def is_test(path):
    return path.stem.endswith("_test")


def is_for_tests(path):
    return path.stem.endswith(("_test", "_testing"))


def problem(path, line):
    """What is wrong with one line of src/<path>, or None."""
    flag = FLAG.search(line.split("//")[0])
    if flag and path.parts[0] != "cli" and not is_for_tests(path) and (
            flag[1] not in FLAGS_OF_OTHERS.get(path.as_posix(), ())):
        return f"{flag[1]} is a flag of the command line; name its subject, src/cli adds the flag"
    match = INCLUDE.match(line)
    if not match:
        return None
    quoted, target = match[1] == '"', match[2]
    room, first = path.parts[0], target.split("/")[0]

    if not quoted:
        if first in TEST_LIBRARIES and not is_test(path):
            return f"<{target}> belongs in *_test.cc"
        if first in LIBRARIES and not LIBRARIES[first] & {room, path.parent.as_posix(), path.as_posix()}:
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
    if is_for_tests(path) and first in TESTS_MAY_INCLUDE.get(room, ()) and (
            target in public_headers(first) or is_for_tests(pathlib.PurePath(target))):
        return None
    if first not in MAY_INCLUDE[room]:
        allowed = ", ".join(sorted(MAY_INCLUDE[room])) or "no room"
        return f"{room} may not include {first}; it may include: {allowed}"
    if first not in ALL_PUBLIC and target not in public_headers(first):
        return f'"{target}" is private to {first}; include one of: {", ".join(public_headers(first))}'
    return None


def check(src):
    problems = []
    for path in sorted(src.rglob("*")):
        if path.suffix not in {".cc", ".h", ".inc"}:
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
        ("analyze/compare_test.cc", '#include "tree/tree_testing.h"'),
        ("flows/read_run.cc", '#include "importers/importers.h"'),
        ("cli/cmd_account.cc", '#include "flows/account_run.h"'),
        ("server/server.cc", '#include "store/store.h"'),
        ("server/rpc/rpc_server.cc", "#include <grpcpp/grpcpp.h>"),
        ("server/rpc/messages.h", '#include "monitor.pb.h"'),
        ("server/rpc/rpc_server.cc", '#include "server/sessions.h"'),
        ("cli/main.cc", '#include "server/server.h"'),
        ("cli/output.h", '#include "views/views.h"'),
        ("cli/command_line.cc", "#include <CLI/CLI.hpp>"),
        ("learn/least_squares.cc", "#include <Eigen/Dense>"),
        ("cli/main.cc", '#include "version.h"'),
        ("views/table.cc", "#include <vector>"),
        ("views/table.cc", '// not #include "cli/cli.h"'),
        ("cli/cmd_account.cc", 'MisuseError("--ops is missing");'),
        ("flows/run_files_test.cc", 'HasSubstr("--ops");'),
        ("flows/run_files.cc", 'x--; // "--ops"'),
        ("flows/run_files.cc", 'MisuseError("the trace is missing", {"ops"});'),
        ("sources/nvml.cc", '"docker run --gpus all"'),
    ]
    refused = [
        ("base/file.cc", '#include "types/op_trace.h"'),
        ("types/op_trace.h", '#include "account/account.h"'),
        ("types/op_trace.h", "#include <fmt/format.h>"),
        ("account/account.cc", '#include "tree/tree.h"'),
        ("account/account_test.cc", '#include "importers/importers.h"'),
        ("analyze/compare.cc", '#include "tree/tree.h"'),
        ("analyze/compare_test.cc", '#include "tree/figures.h"'),
        ("account/account.cc", "#include <zlib.h>"),
        ("importers/xplane.cc", "#include <google/protobuf/io/coded_stream.h>"),
        ("account/account.cc", "#include <gmock/gmock.h>"),
        ("account/account.cc", "#include <base/units.h>"),
        ("account/account.cc", '#include "intervals.h"'),
        ("account/account.cc", '#  include  "views/views.h"'),
        ("views/table.cc", "#include <CLI/CLI.hpp>"),
        ("cli/cli.cc", "#include <CLI/CLI.hpp>"),
        ("flows/read_run.cc", '#include "views/views.h"'),
        ("flows/read_run.cc", '#include "cli/cli.h"'),
        ("server/server.cc", '#include "cli/cli.h"'),
        ("sources/sampler.cc", "#include <grpcpp/grpcpp.h>"),
        ("cli/cmd_monitor.cc", '#include "monitor.pb.h"'),
        ("cli/monitor_main.cc", '#include "server/sessions.h"'),
        ("cli/cmd_account.cc", '#include "account/account.h"'),
        ("cli/cmd_account.cc", '#include "util/strings.h"'),
        ("flows/run_files.cc", 'MisuseError("--ops is missing");'),
        ("views/text/note_words.inc", 'BERYL_WORDS(kTokens, "tokens (--seq)")'),
        ("models/describe.cc", 'fmt::format("--{}: too large", name)'),
        ("sources/nvml.cc", '"try --meter"'),
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
