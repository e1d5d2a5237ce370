#!/usr/bin/env python3
"""What the monitor costs while a published client watches a process of 64 threads at 4 ms.

Prints the share of one core, resident memory at the start and at the end, and the samples that came,
in one run. Needs grpcio and grpcio-tools (pip install grpcio grpcio-tools) and beryl-monitor:

    bench/monitor_cost.py --monitor build/release/beryl-monitor --seconds 20
"""

import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def stubs():
    """The published service's client, as any other client makes it from the schema."""
    import grpc_tools.protoc
    folder = tempfile.mkdtemp()
    code = grpc_tools.protoc.main(["", f"-I{ROOT}/api", f"--python_out={folder}",
                                   f"--grpc_python_out={folder}", f"{ROOT}/api/smaragdine.proto"])
    assert code == 0
    sys.path.insert(0, folder)
    return importlib.import_module("smaragdine_pb2"), importlib.import_module("smaragdine_pb2_grpc")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: int(value.split()[0]) / 1024 for key, _, value in (line.partition(":") for line in lines)
            if key in ("VmRSS", "RssAnon")}


def workload(threads):
    """A process of that many threads, a few of which do something."""
    code = ("import threading,time\n"
            f"for _ in range({threads - 1}): threading.Thread(target=time.sleep,args=(3600,),daemon=True).start()\n"
            "while True: time.sleep(0.002)\n")
    return subprocess.Popen([sys.executable, "-c", code])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--monitor", default=str(ROOT / "build/release/beryl-monitor"))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--period", type=int, default=4, help="milliseconds")
    args = parser.parse_args()
    import grpc
    messages, services = stubs()
    with tempfile.TemporaryDirectory() as folder:
        socket = f"unix:{folder}/monitor.sock"
        monitor = subprocess.Popen([args.monitor, "--listen", socket], stderr=subprocess.PIPE, text=True)
        process = workload(args.threads)
        try:
            print(monitor.stderr.readline().strip())
            threading.Thread(target=lambda: [print(line, end="") for line in monitor.stderr],
                             daemon=True).start()
            channel = grpc.insecure_channel(socket, options=[("grpc.max_receive_message_length", -1)])
            sampler = services.SamplerStub(channel)
            time.sleep(1)
            idle = memory(monitor.pid)
            sampler.Start(messages.StartRequest(pid=process.pid, period=args.period))
            time.sleep(2)
            begin, used, first = time.monotonic(), cpu_seconds(monitor.pid), memory(monitor.pid)
            time.sleep(args.seconds)
            share = (cpu_seconds(monitor.pid) - used) / (time.monotonic() - begin)
            last = memory(monitor.pid)
            sampler.Stop(messages.StopRequest())
            begin = time.monotonic()
            data = sampler.Read(messages.ReadRequest()).data
            took = time.monotonic() - begin
            after = memory(monitor.pid)
        finally:
            process.kill()
            monitor.terminate()
            code = monitor.wait()
    print(f"{share * 100:.2f} % of one core over {args.seconds:g} s, {args.threads} threads, "
          f"every {args.period} ms")
    for name, figures in (("idle", idle), ("measuring", first), ("at the end", last), ("after Read", after)):
        print(f"{name:>11}: {figures['VmRSS']:.1f} MB resident, {figures['RssAnon']:.1f} MB of it its own")
    print(f"samples: rapl {len(data.rapl)}, cpu {len(data.cpu)}, process {len(data.process)}, "
          f"nvml {len(data.nvml)}; {data.ByteSize()} bytes, read in {took * 1000:.0f} ms; exit {code}")


if __name__ == "__main__":
    main()
