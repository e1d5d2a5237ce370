#!/usr/bin/env python3
"""Writes a slice of the measurements that IrEne's authors published, as one CSV file of docs/data-sets.md.

    tools/make_slice.py ../shared/data/irene/device_1 tests/data/learn/measured_slice.csv.gz

Whole trees of every model at six input sizes, with five digits: what tests of accuracy need.
"""

import csv
import gzip
import pathlib
import sys

# A grid: with as few sizes chosen otherwise, IrEne's regressors, which have 14 features, fit badly.
SIZES = [(batch, seq) for batch in (8, 16, 24) for seq in (32, 128)]
LEVELS = {"model": "model", "module": "module", "ml1": "ml", "ml2": "ml-np"}
PLACE = ["level", "model_name", "level_name"]
NUMBERS = ["batch_size", "seq_len", "flops", "mem_bytes", "cpu", "mem", "gpu", "gpu_mem", "gpu_clk", "gpu_mem_clk",
           "times_mean", "gpu_energy_mean", "energy_mean"]


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    lines = [",".join(PLACE + NUMBERS)]
    for file, level in LEVELS.items():
        with open(source / f"{file}_level_features.csv", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                if (float(row["batch_size"]), float(row["seq_len"])) in SIZES:
                    numbers = [f"{float(row[name]):.5g}" for name in NUMBERS]
                    lines.append(",".join([level, row["model_name"], row["level_name"], *numbers]))
    # Without a time, so that the same data gives the same file.
    target.write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), mtime=0))


if __name__ == "__main__":
    main()
