"""`beryl push` and `beryl pull` against the real server."""

import hashlib
import os
import pathlib
import subprocess

from cases import case
from client import TOKEN, certificate, token_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/data/recordings/training.beryl"
TRACES = [ROOT / "tests/golden/tensorflow-layers-json" / name for name in ("ops.json", "power.csv")]
SAYS_401 = "401: "


def client(server, *words, status=0, **environment):
    """What the program prints, and what it says."""
    done = subprocess.run([server.beryl, *map(str, words)], cwd=server.folder, text=True, capture_output=True,
                          env={**os.environ, **environment}, timeout=120, check=False)
    assert done.returncode == status, (words, done)
    return done.stdout, done.stderr


def place(server):
    return f"http://127.0.0.1:{server.ports[0]}"


@case
def pushes_a_run_and_pulls_it_back(server):
    server.start("--library", server.folder / "library")
    url, said = client(server, "push", RUN, "--to", place(server), "--tag", "paper", "--notes", "two\nlines")
    assert said.startswith("sent ") and url.startswith(place(server) + "/api/v1/runs/"), (url, said)
    run = url.strip().rsplit("/", 1)[1]
    again, said = client(server, "push", RUN, "--to", place(server) + "/")
    assert again == url and said.startswith("there already: "), (again, said)
    listed = server.ask(f"/api/v1/runs/{run}").body.decode()
    assert '"tags":["paper"]' in listed and '"name":"training"' in listed and "two\\nlines" in listed, listed
    client(server, "pull", run, "--from", place(server), "-o", "back.beryl")
    assert (server.folder / "back.beryl").read_bytes() == RUN.read_bytes()
    # Nothing is overwritten in silence.
    (server.folder / "back.beryl").write_text("mine")
    _, said = client(server, "pull", url.strip(), "-o", "back.beryl", status=2)
    assert "there is such a file" in said and "--force" in said, said
    assert (server.folder / "back.beryl").read_text() == "mine"
    client(server, "pull", url.strip(), "-o", "back.beryl", "--force")
    assert (server.folder / "back.beryl").read_bytes() == RUN.read_bytes()
    client(server, "pull", url.strip())  # under its own name
    assert (server.folder / "training.beryl").read_bytes() == RUN.read_bytes()
    with (server.folder / "piped").open("wb") as piped:
        subprocess.run([server.beryl, "pull", url.strip(), "-o", "-"], stdout=piped, check=True, timeout=120)
    assert (server.folder / "piped").read_bytes() == RUN.read_bytes()
    server.end()


@case
def pushes_traces_with_their_power(server):
    server.start("--library", server.folder / "library")
    odd = server.folder / 'ops "1"\\;ü.json'
    odd.write_bytes(TRACES[0].read_bytes())
    url, _ = client(server, "push", "--ops", odd, "--power", TRACES[1], "--to", place(server), "--accuracy", "0.9")
    _, said = client(server, "pull", url.strip(), "-o", "one", status=2)
    assert "has 2 files; name a folder" in said, said
    client(server, "pull", url.strip(), "-o", "there/")
    assert {path.name: path.read_bytes() for path in (server.folder / "there").iterdir()} == {
        odd.name: TRACES[0].read_bytes(), "power.csv": TRACES[1].read_bytes()}
    server.end()


@case
def passes_on_the_words_of_the_server(server):
    server.start("--library", server.folder / "library", "--token-file", token_file(server), "--limit-upload", "1")
    with_token = ("--token-file", server.folder / "token")
    _, said = client(server, "push", RUN, "--to", place(server), status=1)
    assert SAYS_401 in said and "(--token-file)" in said, said
    other = server.folder / "other"
    other.write_text(TOKEN[::-1])
    other.chmod(0o600)
    _, said = client(server, "push", RUN, "--to", place(server), "--token-file", other, status=1)
    assert SAYS_401 in said, said
    url, _ = client(server, "push", RUN, "--to", place(server), *with_token)
    client(server, "pull", url.strip(), *with_token, "-o", "back.beryl")
    bad = server.folder / "bad.beryl"
    bad.write_text("no run")
    _, said = client(server, "push", bad, "--to", place(server), *with_token, status=1)
    assert "422: bad.beryl: " in said, said
    # Answered before it was all sent.
    large = server.folder / "large.beryl"
    with large.open("wb") as file:
        file.truncate(64 << 20)
    _, said = client(server, "push", large, "--to", place(server), *with_token, status=1)
    assert "413: " in said, said
    _, said = client(server, "pull", "0" * 16, "--from", place(server), *with_token, status=1)
    assert "404: " in said, said
    _, said = client(server, "pull", "0" * 16, status=2)
    assert "on which server?" in said and "--from" in said, said
    _, said = client(server, "push", RUN, "--to", "box:8420", status=2)
    assert "expected http://HOST:PORT or https://HOST" in said, said
    _, said = client(server, "push", server.folder / "none.beryl", "--to", place(server), status=1)
    assert "none.beryl: No such file" in said, said
    server.end()
    _, said = client(server, "push", RUN, "--to", place(server), status=1)
    assert "Connection refused" in said, said
    assert not list(server.folder.glob("*.beryl.*")), "nothing is left"


@case
def trusts_known_certificates_only(server):
    first, key = certificate(server)
    server.start("--library", server.folder / "library", "--tls-cert", first, "--tls-key", key, "--host", "localhost")
    secure = f"https://localhost:{server.ports[0]}"
    _, said = client(server, "push", RUN, "--to", secure, status=1)
    assert "its certificate is not trusted" in said and "SSL_CERT_FILE" in said, said
    url, _ = client(server, "push", RUN, "--to", secure, SSL_CERT_FILE=str(first))
    client(server, "pull", url.strip(), "-o", "back.beryl", SSL_CERT_FILE=str(first))
    assert hashlib.sha256((server.folder / "back.beryl").read_bytes()).digest() == hashlib.sha256(RUN.read_bytes()).digest()
    # It is for another name.
    _, said = client(server, "push", RUN, "--to", f"https://127.0.0.1:{server.ports[0]}", status=1,
                     SSL_CERT_FILE=str(first))
    assert "its certificate is not trusted" in said, said
    _, said = client(server, "push", RUN, "--to", f"http://localhost:{server.ports[0]}", status=1)
    server.end()
