"""Cases that are functions: each runs in a folder of its own, for so long at most, whatever becomes of the others."""

import argparse
import concurrent.futures
import multiprocessing
import pathlib
import shutil
import signal
import tempfile
import time
import traceback

CASES = []
LIMIT_S = 300


def case(function):
    CASES.append(function)
    return function


def parser(text, program="beryl"):
    """Of the options that every suite of cases has: the program that is tested, and which cases."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(f"--{program}", required=True, type=pathlib.Path, help="the program to test")
    made.add_argument("--filter", default="", help="only cases whose name contains this")
    return made


def interrupt(*_):
    raise TimeoutError(f"still running after {LIMIT_S} s")


def run_case(number):
    """The seconds that it took, and what went wrong."""
    suite, chosen, start = run_case.of
    folder, began = tempfile.mkdtemp(prefix=f"beryl-{suite}-"), time.monotonic()
    signal.signal(signal.SIGALRM, interrupt)  # ends whatever the case waits for
    signal.alarm(LIMIT_S)
    wrong = ""
    try:
        chosen[number](start(pathlib.Path(folder)))
    except Exception:  # whatever it is, the others still run
        wrong = traceback.format_exc()
    finally:
        signal.alarm(0)
        shutil.rmtree(folder, ignore_errors=True)
    return time.monotonic() - began, wrong


def run(suite, wanted, start, at_once=1):
    """Runs the cases whose name contains `wanted`, each with what `start` makes of a folder; if several at once, then in
    processes of their own. Prints a line a case and "N passed, N failed"; returns the exit status."""
    # A script's background job starts with these ignored, and what it starts inherits that.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    failed = 0
    chosen = [one for one in CASES if wanted in one.__name__]
    run_case.of = suite, chosen, start  # processes are forked, and have it too
    with concurrent.futures.ProcessPoolExecutor(at_once, multiprocessing.get_context("fork")) as pool:
        results = (pool.map if at_once > 1 else map)(run_case, range(len(chosen)))
        for one, (seconds, wrong) in zip(chosen, results):
            failed += bool(wrong)
            print(f"FAIL {one.__name__}\n{wrong}" if wrong else f"pass {seconds:7.2f} s  {suite}/{one.__name__}",
                  flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0
