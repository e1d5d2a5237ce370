#!/usr/bin/env python3
"""Writes the man pages of beryl and of each of its commands, from what --help prints."""

import argparse
import pathlib
import re
import subprocess

HEADING = re.compile(r"[A-Z][A-Z ]+\b(:.*)?$")  # "EXIT STATUS", "FROM A RUN: beryl predict ..."
GROUP = re.compile(r"[A-Z][a-z ]+:$")  # of commands: "Measure:"
NAMES = {"Positionals": "ARGUMENTS", "Options": "OPTIONS"}
ENTRIES = (*NAMES.values(), "COMMANDS")
VERBATIM = ("EXAMPLES", "EXIT STATUS")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def split_help(text):
    """(what it does, how it is called, {section: its lines}) of a help text."""
    lines = text.splitlines()
    what, usage = lines[0], lines[1].removeprefix("Usage: ")
    sections = {"DESCRIPTION": [what if what.endswith("?") else what + ".", ""]}
    name = "DESCRIPTION"
    for line in lines[2:]:
        if line.rstrip(":") in NAMES:
            name = NAMES[line.rstrip(":")]
        elif GROUP.match(line):
            name = "COMMANDS"
        elif HEADING.match(line):
            name = line
        elif name in ENTRIES and line and not line.startswith(" "):
            name = "DESCRIPTION"  # what follows the options, under no heading
        sections.setdefault(name, [])
        if line.rstrip(":") not in NAMES and line != name:
            sections[name].append(line)
    return what, usage, sections


def write_entries(lines):
    """Options, arguments or commands: a name, two spaces or a new line, and what it is; a group has a heading."""
    out = []
    for line in filter(None, lines):
        if GROUP.match(line):
            out.append(f'.SS "{escape(line.rstrip(":"))}"')
            continue
        if line.startswith(" " * 10):
            out.append(escape(line.strip()))
            continue
        name, _, what = line.strip().partition("  ")
        out += [".TP", f"\\fB{escape(name)}\\fR"]
        if what:
            out.append(escape(what.strip()))
    return out


def write_text(lines, verbatim):
    """Sentences are filled; what is laid out in columns stays as it is."""
    out, laid_out = [], False
    for line in lines:
        columns = verbatim or bool(re.search(r"^ {3}|\S {2,}\S", line))
        if columns != laid_out and line:
            out.append(".EX" if columns else ".EE")
            laid_out = columns
        if line:
            out.append(escape(line.removeprefix("  ") if columns else line.strip()))
        elif out and out[-1] != ".PP":
            out.append(".PP")
    if laid_out:
        out.append(".EE")
    return [line for at, line in enumerate(out) if line != ".PP" or at + 1 < len(out)]


def write_page(name, version, text, see_also):
    what, usage, sections = split_help(text)
    first = ["DESCRIPTION", *ENTRIES]
    last = ["EXIT STATUS", "EXAMPLES"]
    between = [section for section in sections if section not in first + last]
    out = [f'.TH {name.upper()} 1 "" "{version}" Beryl', ".ad l", ".SH NAME", f"{escape(name)} \\- {escape(what)}",
           ".SH SYNOPSIS", escape(usage)]
    for section in filter(sections.__contains__, first + between + last):
        lines = sections[section]
        out.append(f'.SH "{escape(section)}"')
        out += write_entries(lines) if section in ENTRIES else write_text(lines, section in VERBATIM)
    out += [".SH SEE ALSO", ", ".join(f"\\fB{escape(other)}\\fR(1)" for other in see_also)]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("beryl", type=pathlib.Path, help="the program to ask")
    parser.add_argument("folder", type=pathlib.Path, help="where to write the pages")
    args = parser.parse_args()

    def ask(*words):
        return subprocess.run([args.beryl.resolve(), *words], capture_output=True, text=True, check=True).stdout

    version = " ".join(ask("--version").split()[:2])
    overview = ask("--help")
    commands = [line.split()[0] for line in split_help(overview)[2]["COMMANDS"] if line.startswith("  ")]
    args.folder.mkdir(parents=True, exist_ok=True)
    pages = {"beryl": write_page("beryl", version, overview, [f"beryl-{command}" for command in commands])}
    for command in commands:
        pages[f"beryl-{command}"] = write_page(f"beryl-{command}", version, ask(command, "--help"), ["beryl"])
    for name, page in pages.items():
        (args.folder / f"{name}.1").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
