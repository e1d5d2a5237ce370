"""The results that only the server writes, from a real one."""

import http.client
import json
import re
import subprocess
import tempfile
import time

# Requests, in this order.
SERVED = {
    "regions": ("GET", "/api/v1/regions"),
    "job": ("POST", "/api/v1/sweeps?model=gpt2&sweep=batch%3D1,2"),
    "job-impossible": ("POST", "/api/v1/sweeps?model=gpt2&sweep=seq%3D100000,200000"),
}


def documents(beryl, env, patience):
    """(name, status, answer, seconds) of each of SERVED, and then of the list of jobs, once they have ended."""
    def ask(method, path):
        began = time.monotonic()
        connection = http.client.HTTPConnection(place, timeout=patience)
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), time.monotonic() - began
    with tempfile.TemporaryDirectory(prefix="beryl-schemas-") as folder:
        server = subprocess.Popen([beryl, "serve", "--listen", "127.0.0.1:0", "--library", f"{folder}/library"],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
        try:
            place = next(found[1] for line in server.stderr if (found := re.search("http://([^/]*)/", line)))
            for name, request in SERVED.items():
                yield name, *ask(*request)
            for job in json.loads(ask("GET", "/api/v1/jobs")[1])["jobs"]:
                ask("GET", f"/api/v1/jobs/{job['id']}/events")  # until it has ended
            yield "jobs", *ask("GET", "/api/v1/jobs")
        finally:
            server.terminate()
            server.communicate()
