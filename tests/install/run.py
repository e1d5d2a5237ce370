#!/usr/bin/env python3
"""Installs a release build into folders of its own and runs it there: ./beryl install and uninstall, man pages,
completions, and the Debian packages. Ends with "N passed, N failed"."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import cases  # noqa: E402
from cases import case  # noqa: E402

CASE = ROOT / "tests/golden/pytorch-modules-json"
LIST = "share/beryl/installed-files"
COMPLETIONS = ["share/bash-completion/completions/beryl", "share/fish/vendor_completions.d/beryl.fish",
               "share/zsh/site-functions/_beryl"]
UNITS = {"monitor": ["lib/systemd/system/beryl-monitor.service", "share/systemd/user/beryl-monitor.service",
                     "share/systemd/user/beryl-monitor.service.d/user.conf"],
         "server": ["lib/systemd/system/beryl-server.service", "lib/systemd/system/beryl-server.socket"]}


class Bench:
    """One case's folder, and the build it installs."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.prefix = self.folder / "a prefix"
        self.services = [name for name in ("monitor", "server") if (build / f"beryl-{name}").exists()]

    def run(self, *words, expect=0, **options):
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **options)
        assert done.returncode == expect, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def install(self, *words, **options):
        return self.run(ROOT / "beryl", "install", "--build", self.build, "--prefix", self.prefix, *words, **options)

    def uninstall(self, *words, **options):
        return self.run(ROOT / "beryl", "uninstall", "--prefix", self.prefix, *words, **options)

    def commands(self):
        text = self.run(self.build / "beryl", "--help").stdout
        listed = text.split("\nOptions:\n")[1].split("\nEvery command")[0]
        return re.findall(r"^  ([a-z]+)\b", listed, re.MULTILINE)

    def files_of_beryl(self):
        pages = ["beryl", *(f"beryl-{command}" for command in self.commands())]
        return {"bin/beryl", "share/doc/beryl/copyright", *COMPLETIONS, *(f"share/man/man1/{page}.1" for page in pages)}

    def files_of(self, package):
        """Of "beryl", "beryl-monitor" or "beryl-server"."""
        if package == "beryl":
            return self.files_of_beryl()
        return {f"bin/{package}", f"share/doc/{package}/copyright", *UNITS[package.removeprefix("beryl-")]}

    def packages(self):
        return ["beryl", *(f"beryl-{service}" for service in self.services)]

    def all_files(self):
        return set().union(*(self.files_of(package) for package in self.packages()))

    def check_program(self, program, services):
        """Runs it where nothing of the checkout helps it."""
        away = {"cwd": self.folder, "env": {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}}
        version = self.run(program, "--version", **away).stdout
        form = r"beryl \d+\.\d+\.\d+ \(Release(, [0-9a-f]{7})?" + "".join(f", {service}" for service in services) + r"\)\n"
        assert re.fullmatch(form, version), version
        assert "where the joules went" in self.run(program, "demo", "--force", "-o", self.folder / "demo.html", **away).stdout
        account = self.run(program, "account", "--ops", CASE / "ops.json", "--power", CASE / "power.csv", **away)
        assert "closure: the parts sum to what was measured" in account.stdout, account.stdout


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def same(found, expected):
    assert found == expected, f"too many: {sorted(found - expected)}, missing: {sorted(expected - found)}"


@case
def installs_runs_and_uninstalls(bench):
    said = bench.install(env=os.environ | {"PATH": "/usr/bin:/bin"}).stdout
    expected = bench.all_files() | {LIST}
    same(files_below(bench.prefix), expected)
    listed = (bench.prefix / LIST).read_text().splitlines()
    same({path for path in listed if not path.endswith("/")}, expected)
    assert f'export PATH="{bench.prefix}/bin:$PATH"' in said, said
    bench.check_program(bench.prefix / "bin/beryl", bench.services)
    for service in bench.services:
        for unit in (unit for unit in UNITS[service] if unit.endswith(".service")):
            assert f'ExecStart="{bench.prefix}/bin/beryl-{service}"' in (bench.prefix / unit).read_text(), unit
            if not shutil.which("systemd-analyze"):
                continue
            as_user = ["--user"] if "/user/" in unit else []
            checked = bench.run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *as_user,
                                bench.prefix / unit, env=os.environ | {"XDG_RUNTIME_DIR": str(bench.folder)})
            assert f"beryl-{service}" not in checked.stderr, checked.stderr
    bench.uninstall()
    same({str(path) for path in bench.prefix.rglob("*")}, set())
    assert "nothing is installed" in bench.uninstall(expect=1).stderr


@case
def keeps_what_was_there_before(bench):
    (bench.prefix / "bin").mkdir(parents=True)
    (bench.prefix / "share/man").mkdir(parents=True)
    other = bench.prefix / "share/man/other"
    other.write_text("not Beryl's")
    bench.install()
    # A second installation replaces the first, and removes what is no longer part of it.
    old = bench.prefix / "share/beryl/old/page"
    old.parent.mkdir()
    old.write_text("")
    with (bench.prefix / LIST).open("a") as listed:
        listed.write("share/beryl/old/\nshare/beryl/old/page\n")
    said = bench.install(env=os.environ | {"PATH": f"{bench.prefix}/bin:/usr/bin:/bin"}).stdout
    assert "PATH" not in said, said
    assert not old.parent.exists()
    bench.uninstall()
    same({str(path.relative_to(bench.prefix)) for path in bench.prefix.rglob("*")},
         {"bin", "share", "share/man", "share/man/other"})
    assert other.read_text() == "not Beryl's"


@case
def overwrites_a_foreign_file_only_by_force(bench):
    foreign = bench.prefix / "bin/beryl"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("not Beryl's")
    refused = bench.install(expect=1).stderr
    assert "  bin/beryl\n" in refused and "--force" in refused, refused
    same(files_below(bench.prefix), {"bin/beryl"})
    assert foreign.read_text() == "not Beryl's"
    bench.install("--force")
    bench.check_program(foreign, bench.services)


@case
def refuses_stray_arguments_with_a_hint(bench):
    assert "did you mean --prefix /opt?" in bench.install("/opt", expect=2).stderr
    assert "unknown option '--prefx'" in bench.install("--prefx=/opt", expect=2).stderr
    assert "unknown option '--force'" in bench.uninstall("--force", expect=2).stderr
    assert "--prefix takes a folder" in bench.install("--prefix", expect=2).stderr
    assert "usage: ./beryl install" in bench.install("--help").stdout
    assert not bench.prefix.exists()


@case
def uninstall_stays_below_its_prefix(bench):
    precious = bench.folder / "precious"
    precious.write_text("")
    (bench.prefix / LIST).parent.mkdir(parents=True)
    for path in ("../precious", "bin/../../precious", str(precious)):
        (bench.prefix / LIST).write_text(path + "\n")
        assert "is not below" in bench.uninstall(expect=1).stderr
        assert precious.exists()


@case
def man_pages_can_be_read(bench):
    bench.install()
    for name in ["beryl", *(f"beryl-{command}" for command in bench.commands())]:
        page = bench.prefix / f"share/man/man1/{name}.1"
        text = page.read_text()
        assert text.startswith(f".TH {name.upper()} 1 "), page
        headings = [heading.strip('"') for heading in re.findall(r"^\.SH (.*)", text, re.MULTILINE)]
        wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES"]
        assert [heading for heading in headings if heading in wanted] == wanted, (name, headings)
        if not shutil.which("man"):
            continue
        shown = bench.run("man", "--warnings", "-l", page, env=os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        assert shown.stderr == "", shown.stderr
        # Every option that the help has.
        help_text = bench.run(bench.build / "beryl", *name.split("-")[1:], "--help").stdout
        for option in re.findall(r"^  ((?:-\w,)?--[a-z-]+)", help_text, re.MULTILINE):
            assert option in shown.stdout, (name, option)


@case
def completions_complete(bench):
    bench.install()
    script = f"""source '{bench.prefix / COMPLETIONS[0]}' || exit
        COMP_WORDS=(beryl acc) COMP_CWORD=1; _beryl; echo "${{COMPREPLY[*]}}" """
    assert bench.run("bash", "-c", script).stdout == "account\n"
    assert (bench.prefix / COMPLETIONS[2]).read_text().startswith("#compdef beryl\n")
    for shell, name in (("zsh", COMPLETIONS[2]), ("fish", COMPLETIONS[1])):
        if shutil.which(shell):
            bench.run(shell, "-n", bench.prefix / name)


def depends(bench, package):
    return bench.run("dpkg-deb", "--field", package, "Depends").stdout


def dpkg_installs_and_removes(bench, packages):
    """Into a folder with an empty package database, where the libraries are missing."""
    root = bench.folder / "root"
    database = root / "var/lib/dpkg"
    (database / "updates").mkdir(parents=True)
    (database / "info").mkdir()
    for name in ("status", "available"):
        (database / name).write_text("")
    # dpkg wants to be root, and to see ldconfig.
    dpkg = [*([] if os.geteuid() == 0 else ["fakeroot"]), "dpkg", f"--root={root}", "--log=/dev/null", "--force-depends"]
    env = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    bench.run(*dpkg, "--install", *packages.values(), env=env)
    same(files_below(root / "usr"), bench.all_files())
    bench.check_program(root / "usr/bin/beryl", bench.services)
    bench.run(*dpkg, "--remove", *reversed(packages), env=env)
    assert not (root / "usr").exists() or not files_below(root / "usr"), files_below(root / "usr")


@case
def debian_packages(bench):
    for tool in ("dpkg-deb", "dpkg", *(["fakeroot"] if os.geteuid() else [])):
        if not shutil.which(tool):
            raise AssertionError(f"{tool} is not there: the packages cannot be tested")
    packages = bench.folder / "packages"
    words = ["cpack", "--config", bench.build / "CPackConfig.cmake", "-B", packages,
             "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"]  # a test need not wait for xz
    words += ["-D", "CPACK_COMPONENTS_ALL=" + ";".join(bench.packages())]
    bench.run(*words)
    names = {path.name.split("_")[0]: path for path in packages.glob("*.deb")}
    same(set(names), set(bench.packages()))
    unpacked = bench.folder / "unpacked"
    for name, package in names.items():
        alone = bench.folder / name
        bench.run("dpkg-deb", "--extract", package, alone)
        same(files_below(alone / "usr"), bench.files_of(name))
        same({path.name for path in alone.iterdir()}, {"usr"})
        fields = bench.run("dpkg-deb", "--field", package).stdout
        assert "\nMaintainer: The Beryl project\n" in fields and f"Package: {name}\n" in fields, fields
        if shutil.which("dpkg-shlibdeps"):
            assert "libc6 (>= " in depends(bench, package) and "libstdc++6" in depends(bench, package), fields
        # All files belong to root and only root may write them.
        for line in bench.run("dpkg-deb", "--contents", package).stdout.splitlines():
            assert re.match(r".(rwx|rw-)r.[x-]r.[x-] root/root ", line), line
        shutil.copytree(alone, unpacked, dirs_exist_ok=True)
    bench.check_program(bench.folder / "beryl/usr/bin/beryl", services=[])
    dpkg_installs_and_removes(bench, names)
    version = bench.run(unpacked / "usr/bin/beryl", "--version").stdout.split()[1]
    bench.check_program(unpacked / "usr/bin/beryl", bench.services)
    for service in bench.services:
        assert f"beryl (= {version})" in depends(bench, names[f"beryl-{service}"])
        bench.run(unpacked / f"usr/bin/beryl-{service}", "--version")
        unit = (unpacked / "usr" / UNITS[service][0]).read_text()
        assert f'\nExecStart="/usr/bin/beryl-{service}"\n' in unit and "/usr/local/bin" not in unit, unit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a build folder of the preset release")
    parser.add_argument("--filter", default="", help="run only cases whose name has this in it")
    arguments = parser.parse_args()
    return cases.run("install", arguments.filter, lambda folder: Bench(arguments.build.resolve(), folder))


if __name__ == "__main__":
    sys.exit(main())
