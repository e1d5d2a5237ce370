"""A machine of files: meters whose true energy is known, because the files are written from it."""

import os
import pathlib
import threading
import time


class Counter:
    """An energy_uj file of constant power, which shows the truth modulo `wrap_uj`, every `update_s`."""

    def __init__(self, folder, name, watts, wrap_uj=262_143_328_850, start_uj=0, update_s=0.0):
        self.folder, self.name, self.watts, self.update_s = folder, name, watts, update_s
        self.wrap_uj, self.start_uj = wrap_uj, start_uj
        self.frozen_after = self.deleted_after = None

    def make(self, root):
        self.file = root / "class/powercap" / self.folder / "energy_uj"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        (self.file.parent / "name").write_text(self.name + "\n")
        (self.file.parent / "max_energy_range_uj").write_text(f"{self.wrap_uj}\n")
        self.write(0.0)
        self.fd = os.open(self.file, os.O_WRONLY)

    def shown_uj(self, t):
        if self.frozen_after is not None:
            t = min(t, self.frozen_after)
        if self.update_s:
            t -= t % self.update_s
        return (self.start_uj + int(self.watts * t * 1e6)) % self.wrap_uj

    def write(self, t):
        self.file.write_text(f"{self.shown_uj(t)}\n")

    def update(self, t):
        if self.deleted_after is not None and t > self.deleted_after:
            self.file.unlink(missing_ok=True)
            return
        # One call for the whole text: a reader sees the old number or the new one.
        os.pwrite(self.fd, f"{self.shown_uj(t):<20}\n".encode(), 0)


class Machine:
    """Writes its counters every millisecond or so from a thread, as long as the `with` block runs."""

    def __init__(self, root, counters, cpus=4, sockets=2):
        self.root, self.counters = pathlib.Path(root), counters
        for counter in counters:
            counter.make(self.root)
        for cpu in range(cpus):
            folder = self.root / f"devices/system/cpu/cpu{cpu}/topology"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "physical_package_id").write_text(f"{cpu * sockets // cpus}\n")
        self.longest_gap_s = 0.0

    def __enter__(self):
        self.start = self.last = time.time()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.longest_gap_s = max(self.longest_gap_s, time.time() - self.last)
        for counter in self.counters:
            os.close(counter.fd)

    def run(self):
        while not self.stop.is_set():
            now = time.time()
            self.longest_gap_s = max(self.longest_gap_s, now - self.last)
            self.last = now
            for counter in self.counters:
                counter.update(now - self.start)
            time.sleep(0.001)
