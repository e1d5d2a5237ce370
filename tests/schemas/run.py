#!/usr/bin/env python3
"""Checks all JSON that the program writes against api/schemas/, and checks the schemas themselves.

  file-*     each schema is valid, says what each optional key is there for, and leaves no object open by accident
  golden-*   the JSON that golden cases expect
  json-*     the same golden cases run with --format json, whatever format they ask for
  run-*      the results that no golden case comes to; as those of json-*, each with its provenance
  served-*   those that only the server writes
  refuses-*  documents that were broken on purpose: for each schema, made from a valid one
  commands   no command that has --format json was forgotten
  notes      each value of each kind of note is in the schema
  ids        each id in src/ has a schema file and was seen in the output of the program, and no file is left over

Ends with "N passed, N failed".
"""

import argparse
import collections
import concurrent.futures
import copy
import importlib.util
import inspect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

try:
    import jsonschema
except ImportError:
    sys.exit("error: this Python has no jsonschema; install python3-jsonschema (Debian), or jsonschema with pip")

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import served  # noqa: E402
ROOT = HERE.parent.parent
GOLDEN = ROOT / "tests" / "golden"
SCHEMAS = ROOT / "api" / "schemas"
SHARED = "common.json"  # has no id of its own

_spec = importlib.util.spec_from_file_location("golden", GOLDEN / "run.py")
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)

STEPS = ("--ops tensorflow-two-steps/ops.json --ops tensorflow-two-steps/ops2.json "
         "--power tensorflow-two-steps/power.csv")
BERT_RUN = "--ops ../data/pytorch/tiny_bert_step.json.gz --power ../data/pytorch/flat_30w.csv"
BERT = "../data/models/tiny-bert.json"
GPT2 = "../data/models/tiny-gpt2.json"
PROFILE = "gtx1080ti-i9-7900x"
# What golden cases do not come to, from tests/golden/.
RUNS = {
    "account-everything": f"account {BERT_RUN} --model {BERT} --profile {PROFILE} --format json",
    "account-idle-power": f"account {STEPS} --idle-power 5 --format json",
    "report": f"account {STEPS} --format html",
    "export-chrome": f"export {STEPS} --to chrome",
    "top": "top --once --replay misuse-output-is-an-input/power.csv --format json",
    "tef": f"tef {STEPS} --idle-power 5 --format json",
    "stpf-forward": f"stpf {STEPS} --phase forward --format json",
    "side-by-side": f"compare {BERT}@{PROFILE} {BERT}@h100-sxm --batch 2 --seq 4 --format json",
    "side-by-side-described": f"compare {BERT} {GPT2} --batch 2 --seq 4 --format json",
    "predict-generation": f"predict {GPT2} --prompt 4 --generate 2 --format json",
    "predict-sweep-impossible": f"predict {BERT} --sweep seq=4,64 --format json",
    "bottlenecks-predicted": f"bottlenecks ../data/two-models --profile {PROFILE} --format json",
    "tradeoff-predicted": "tradeoff ../data/two-models tradeoff-table/accuracy.csv "
                          f"--profile {PROFILE} --format json",
    **{f"train-{method}": f"train ../data/three-models --method {method} -o -"
       for method in re.findall(r'METHOD\(k\w+, "(\w+)"', (ROOT / "src/types/energy_model.h").read_text())
       if method not in ("describe", "datasheet")},  # these need models that are known, and learn nothing
}
# Files that come with the program, or that it writes for itself.
SHIPPED = [ROOT / "data" / "gtx1080ti-i9-7900x.json", GOLDEN / "library-ls" / "export" / "manifest.json"]

ID = re.compile(r"\bberyl\.[a-z-]+/[0-9]+")
# Ids that are put together: where, and what they come to.
COMPOSED = re.compile(r'"beryl\.\{\}/')
COMPOSED_IDS = {"views/ranking.cc": {"beryl.tef/1", "beryl.stef/1", "beryl.stpf/1"}}
# What a number may be instead, by schema: a swept key may have words for values.
NUMBERS_OR_TEXT = {"beryl.sweep/2": re.compile(r"rows/\*/values/")}

LARGEST_TO_BREAK = 30000  # bytes; it is validated once for each way to break it


def ids_in_source():
    """Every schema id that the program may write."""
    ids = set()
    for source in sorted((ROOT / "src").rglob("*")):
        if source.suffix not in (".cc", ".h") or source.stem.endswith(("_test", "_testing")):
            continue
        text = source.read_text()
        ids |= set(ID.findall(text))
        if COMPOSED.search(text):
            ids |= COMPOSED_IDS[str(source.relative_to(ROOT / "src"))]
    return ids


class Schemas:
    """The schema files, which refer to one another by file name."""

    def __init__(self):
        self.files = {path.name: json.loads(path.read_text()) for path in sorted(SCHEMAS.glob("*.json"))}
        self.name_of = {schema["title"]: name for name, schema in self.files.items() if name != SHARED}
        if "registry" in inspect.signature(jsonschema.Draft202012Validator).parameters:
            import referencing.jsonschema
            make = referencing.jsonschema.DRAFT202012.create_resource
            registry = referencing.Registry().with_resources((name, make(schema)) for name, schema in self.files.items())
            self.options = lambda _: {"registry": registry}
        else:  # jsonschema before 4.18
            self.options = lambda schema: {"resolver": jsonschema.RefResolver.from_schema(schema, store=self.files)}
        self.validators = {}

    def validator(self, schema_id):
        if schema_id not in self.validators:
            schema = self.files[self.name_of[schema_id]]
            self.validators[schema_id] = jsonschema.Draft202012Validator(schema, **self.options(schema))
        return self.validators[schema_id]

    def problems(self, schema_id, document):
        if schema_id not in self.name_of:
            return f"{schema_id}: there is no such schema in api/schemas/\n"
        errors = sorted(self.validator(schema_id).iter_errors(document), key=lambda error: str(error.path))
        return "".join(f"{schema_id} at /{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}\n"
                       for error in errors[:5])

    def required(self, schema_id):
        schema = self.files[self.name_of[schema_id]]
        names = set(schema.get("required", []))
        if schema.get("$ref", "").startswith("#/$defs/"):
            names |= set(schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]["required"])
        return names


def objects_with_schema(value):
    """(id, object) of a document and of every document inside of it."""
    if isinstance(value, dict):
        schema_id = value.get("schema", value.get("otherData", {}).get("schema") if "traceEvents" in value else None)
        if isinstance(schema_id, str):
            yield schema_id, value
        for name, member in value.items():
            if name != "otherData":
                yield from objects_with_schema(member)
    elif isinstance(value, list):
        for element in value:
            yield from objects_with_schema(element)


def tree_problems(tree):
    """What a schema cannot say: the columns that the root names stand at every node, and nothing else does."""
    def numbers(node):
        return {key for key, value in node.items() if value is None or type(value) in (int, float)}
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        nodes += node["children"]
        if numbers(node) != numbers(tree):
            return f"{node['name']}: other columns than the root: {sorted(numbers(node) ^ numbers(tree))}\n"
        for column in tree["columns"]:
            group, key = (node.get(column["of"], {}), column["label"]) if "of" in column else (node, column["key"])
            if key not in group:
                return f"{node['name']}: the column {column['name']} is missing\n"
    return ""


def is_foreign(document):
    """Formats of other programs: speedscope's, IrEne's trees, Firefox Profiler's, Model Explorer's node data."""
    return ("$schema" in document or {"model_name", "frontend_tree"} <= document.keys()
            or {"meta", "threads"} <= document.keys() or document.keys() == {"beryl"})


def refuse_number(text):
    raise ValueError(f"{text} is no JSON")


def refuse_twice(pairs):
    counts = collections.Counter(name for name, _ in pairs)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"an object has the key {twice[0]!r} twice")
    return dict(pairs)


def parse(text):
    """The JSON documents of an output: one, or one on each line."""
    def load(piece):
        return json.loads(piece, parse_constant=refuse_number, object_pairs_hook=refuse_twice)
    page = re.search(r'<script[^>]*id="beryl-data"[^>]*>(.*?)</script>', text, re.DOTALL)
    if page:
        return [load(page.group(1))]
    try:
        return [load(text)]
    except json.JSONDecodeError:
        return [load(line) for line in text.splitlines()]


class Suite:
    def __init__(self, beryl):
        self.beryl = beryl
        self.schemas = Schemas()
        self.telling = {}  # by id: of the small documents that the program wrote, the one with the most in it
        self.passed = self.failed = 0

    def report(self, name, seconds, problems):
        if problems:
            self.failed += 1
            print(f"FAIL {name}\n{problems}", end="")
        else:
            self.passed += 1
            print(f"pass {seconds:7.2f} s  schemas/{name}")

    def case(self, name, check, *arguments, spent=0.0):
        start = time.monotonic()
        try:
            problems = check(*arguments)
        except (ValueError, RecursionError) as error:
            problems = f"{error}\n"
        self.report(name, spent + time.monotonic() - start, problems)

    # --- what was written

    def check_output(self, text, written_now):
        documents = parse(text)
        problems = "" if documents else "nothing was written\n"
        for document in documents:
            found = list(objects_with_schema(document))
            if not is_foreign(document) and (not found or found[0][1] is not document):
                problems += "the document says no schema\n"
            for schema_id, inner in found:
                problems += self.schemas.problems(schema_id, inner)
                if schema_id == "beryl.tree/1":
                    problems += tree_problems(inner)
                elif written_now and list(inner.get("otherData", inner))[:2] != ["schema", "provenance"]:
                    problems += f"{schema_id}: no provenance right behind its schema\n"
                self.keep_telling(schema_id, inner)
        return problems

    def keep_telling(self, schema_id, document):
        size = len(json.dumps(document))
        likes = {like(path) for path, _ in places(document)}
        rank = (size <= LARGEST_TO_BREAK, len(likes) if size <= LARGEST_TO_BREAK else -size)
        if schema_id not in self.telling or rank > self.telling[schema_id][0]:
            self.telling[schema_id] = (rank, document)

    def check_golden_file(self, stdout):
        # What meters saw is crossed out in the expected output.
        return self.check_output(re.sub(r'"(seen_w|smallest_j)":"\*"', r'"\1":null', stdout.read_text()), False)

    def check_run(self, done):
        if done.returncode != 0:
            return f"exit status {done.returncode}\n{done.stderr.decode('utf-8', 'backslashreplace')[:2000]}"
        return self.check_output(done.stdout.decode(), True)

    def check_served(self, status, answer):
        return self.check_output(answer, True) if status in (200, 202) else f"{status} {answer[:2000]}\n"

    # --- the schemas themselves

    def check_file(self, name):
        schema = self.schemas.files[name]
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            return f"{error.message}\n"
        problems = "" if schema["$id"] == name else f"$id is {schema['$id']}, not {name}\n"
        if name != SHARED and name != schema["title"].removeprefix("beryl.").replace("/", "-") + ".json":
            problems += f"the title says {schema['title']}\n"
        return problems + "".join(self.lint(schema, ""))

    def lint(self, schema, path):
        if isinstance(schema, list):
            for index, element in enumerate(schema):
                yield from self.lint(element, f"{path}/{index}")
        if not isinstance(schema, dict):
            return
        # A part that only narrows another schema (of an if, or beside a $ref) has no type.
        if schema.get("type") == "object" and "properties" in schema:
            required = set(schema.get("required", []))
            for name in required - schema["properties"].keys():
                yield f"{path}: requires {name}, which is no property\n"
            if "additionalProperties" not in schema:
                yield f"{path}: does not say whether there are other keys\n"
            for name in schema["properties"].keys() - required:
                if not self.says_when(schema, schema["properties"][name]):
                    yield f"{path}: does not say when {name} is absent\n"
        for name, member in schema.items():
            if name not in ("const", "enum", "required"):
                yield from self.lint(member, f"{path}/{name}")

    def says_when(self, schema, member):
        texts = schema.get("description", "") + " " + member.get("description", "")
        pointer = member.get("$ref", "")
        if "/properties/" in pointer:  # said where it is from
            return True
        return re.search(r"\b([Aa]bsent|only)\b", texts) is not None

    # --- broken documents

    def check_refusals(self, schema_id):
        if schema_id not in self.telling:
            return "there is no document of it to break\n"
        document = self.telling[schema_id][1]
        problems = self.schemas.problems(schema_id, document)
        if problems:
            return "the document that is to be broken is not valid\n" + problems
        validator = self.schemas.validator(schema_id)
        refused = 0
        for what, broken in self.broken(schema_id, document):
            if validator.is_valid(broken):
                problems += f"{what}: was not refused\n"
            refused += 1
        missing = self.schemas.required(schema_id) - document.keys()
        return problems + ("" if refused > 3 and not missing else "too little was broken\n")

    def broken(self, schema_id, document):
        for name in sorted(self.schemas.required(schema_id) & document.keys()):
            yield f"without {name}", {key: value for key, value in document.items() if key != name}
        seen = set()
        for path, value in places(document):
            where, kind = like(path), type(value)
            if (where, kind) in seen:
                continue
            seen.add((where, kind))
            if kind is dict:
                yield f"/{where} with an unknown key", changed(document, path, {**value, "no such key": ["x"]})
                continue
            if NUMBERS_OR_TEXT.get(schema_id, re.compile(r"(?!)")).match(where):
                yield f"/{where} as a list", changed(document, path, ["x"])
            elif kind in (int, float):
                yield f"/{where} as text", changed(document, path, str(value))
            elif kind in (str, bool):
                yield f"/{where} as a number", changed(document, path, 7)
            elif kind is list:
                yield f"/{where} as an object", changed(document, path, {"0": value})


def places(value, path=()):
    """(path, value) of everything inside, the document itself first."""
    yield path, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield from places(member, (*path, step))


def like(path):
    """The path, the same for all elements of a list."""
    return "/".join("*" if isinstance(step, int) else step for step in path)


def changed(document, path, value):
    if not path:
        return value
    result = copy.deepcopy(document)
    at = result
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return result


def as_json(case, commands):
    """The arguments of a golden case of these commands with --format json; nothing where that makes no sense."""
    words = shlex.split((case / "cmd").read_text(), comments=True)
    if not words or words[0] not in commands or (case / "exit").exists() or "--help" in words or "-h" in words:
        return None
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("--format", "-o", "--output", "--picture"):
            skip = True
        else:
            kept.append(word)
    return [*kept, "--format", "json"]


def run(beryl, words, folder, env, given=b""):
    start = time.monotonic()
    done = subprocess.run([beryl, *words], cwd=folder, env=env, input=given, capture_output=True,
                          timeout=golden.TIMEOUT_S, check=False)
    return done, time.monotonic() - start


def run_golden_as_json(beryl, case, words):
    with golden.case_folder(case, beryl) as folder:
        return run(beryl, words, folder, golden.case_env(case, beryl), golden.read(case / "stdin", b""))


def run_line(beryl, line):
    return run(beryl, shlex.split(line), GOLDEN, golden.clean_env())


def json_commands(beryl):
    """The commands that have --format json, or of whose own commands one has."""
    def says(command):
        text = run_line(beryl, f"{command} --help")[0].stdout.decode()
        own = text.partition("\nCommands:\n")[2].partition("\n\n")[0]
        return text + "".join(says(f"{command} {one}") for one in re.findall(r"^  ([a-z]+) ", own, re.MULTILINE))
    text = run_line(beryl, "--help")[0].stdout.decode()
    listed = text.partition("\nMeasure:\n")[2].partition("\nEvery command")[0]
    return {command for command in re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)
            if re.search(r"--format TEXT:\{[^}]*\bjson\b", says(command))}


def check_commands(commands, tried):
    """`tried`: those that were run."""
    problems = "" if commands else "--help lists no command with --format json\n"
    return problems + "".join(f"beryl {one} has --format json and was not run\n" for one in sorted(commands - tried))


def check_ids(suite):
    in_source, in_files = ids_in_source(), set(suite.schemas.name_of)
    problems = "".join(f"{one}: written by src/, without a schema in api/schemas/\n" for one in in_source - in_files)
    problems += "".join(f"{one}: a schema that nothing in src/ writes\n" for one in in_files - in_source)
    problems += "".join(f"{one}: in no output of the program\n" for one in in_source - suite.telling.keys())
    referred = {SHARED for schema in suite.schemas.files.values() if SHARED in json.dumps(schema)}
    return problems + ("" if referred else f"{SHARED}: nothing refers to it\n")


def check_notes(suite):
    """Each value that a note may bring is told by the schema, as a number or as a text."""
    patterns = suite.schemas.files[SHARED]["$defs"]["notes"]["items"]["patternProperties"]
    kinds = re.findall(r'^BERYL_NOTE\((\w+), "\w+", \w+, "([^"]*)"\)$',
                       (ROOT / "src" / "types" / "note_kinds.inc").read_text(), re.MULTILINE)
    problems = "" if len(kinds) > 100 else f"only {len(kinds)} kinds of notes were found\n"
    for kind, keys in kinds:
        for key in keys.split():
            if sum(re.search(pattern, key) is not None for pattern in patterns) != 1:
                problems += f"{kind}: {key} is in none or several of the patternProperties of notes\n"
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beryl", required=True, type=pathlib.Path, help="the binary to test")
    args = parser.parse_args()
    suite = Suite(args.beryl.resolve())
    for name in suite.schemas.files:
        suite.case(f"file-{name.removesuffix('.json')}", suite.check_file, name)
    cases = sorted(cmd.parent for cmd in GOLDEN.glob("*/cmd"))
    for case in cases:
        if golden.read(case / "stdout", b"").startswith(b"{"):
            suite.case(f"golden-{case.name}", suite.check_golden_file, case / "stdout")
    for path in SHIPPED:
        suite.case(f"shipped-{path.stem}", suite.check_output, path.read_text(), False)
    commands = json_commands(suite.beryl)
    as_jsons = {case: words for case in cases if (words := as_json(case, commands))}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {f"json-{case.name}": pool.submit(run_golden_as_json, suite.beryl, case, words)
                   for case, words in as_jsons.items()}
        running |= {f"run-{name}": pool.submit(run_line, suite.beryl, line) for name, line in RUNS.items()}
        for name, future in running.items():
            if future.exception():  # a command before it failed, or it did not end
                suite.report(name, 0, f"{future.exception()}\n")
                continue
            done, seconds = future.result()
            suite.case(name, suite.check_run, done, spent=seconds)
    for name, status, answer, seconds in served.documents(suite.beryl, golden.clean_env(), golden.TIMEOUT_S):
        suite.case(f"served-{name}", suite.check_served, status, answer, spent=seconds)
    for schema_id in sorted(suite.schemas.name_of):
        suite.case(f"refuses-{schema_id.removeprefix('beryl.')}", suite.check_refusals, schema_id)
    tried = {words[0] for words in [*map(shlex.split, RUNS.values()), *as_jsons.values()]}
    suite.case("commands", check_commands, commands, tried)
    suite.case("ids", check_ids, suite)
    suite.case("notes", check_notes, suite)
    print(f"{suite.passed} passed, {suite.failed} failed")
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
