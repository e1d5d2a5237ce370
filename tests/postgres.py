"""A PostgreSQL of one's own, from Debian's package."""

import ctypes
import glob
import os
import pathlib
import pwd
import signal
import subprocess
import time

PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))  # empty: it is not installed


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


class Postgres:
    """A server with a socket and no port."""

    def __init__(self, folder):
        programs = pathlib.Path(PROGRAMS[-1]).parent
        self.folder, self.programs, self.databases = folder, programs, 0
        user = {}
        if os.getuid() == 0:  # it refuses to run as root
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        subprocess.run([programs / "initdb", "-D", folder / "data", "-U", "beryl", "-A", "trust", "--no-sync", "-E",
                        "UTF8", "--locale=C.UTF-8"], check=True, stdout=subprocess.DEVNULL, **user)
        log = folder / "log"
        with log.open("w") as output:
            self.server = subprocess.Popen([programs / "postgres", "-D", folder / "data", "-k", folder, "-c",
                                            "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off"],
                                           stdout=output, stderr=output, preexec_fn=end_with_parent, **user)
        while subprocess.run([programs / "pg_isready", "-q", "-h", folder, "-U", "beryl"], check=False).returncode:
            assert self.server.poll() is None, f"PostgreSQL does not start:\n{log.read_text()}"
            time.sleep(0.02)

    def database(self):
        self.databases += 1
        name = f"t{os.getpid()}_{self.databases}"
        subprocess.run([self.programs / "createdb", "-h", self.folder, "-U", "beryl", name], check=True)
        return f"postgresql:///{name}?host={self.folder}&user=beryl"

    def end(self):
        self.server.send_signal(signal.SIGQUIT)  # at once: nothing is kept
        self.server.wait()
