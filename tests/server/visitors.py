"""Whom the server answers: names, pages from elsewhere, tokens, TLS."""

import socket
import ssl

from cases import case
from client import PREDICT, TOKEN, Connection, Server, certificate, request, tls_context, token_file


@case
def answers_only_under_its_names(server):
    server.start("--host", "beryl.example.org")
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", f"127.0.0.1:{server.ports[0]}", "[::1]:80",
                 "beryl.example.org", "Beryl.Example.Org:443"):
        assert server.ask("/healthz", host=host).status == 200, host
    for host in ("evil.example.org", "localhost.evil.org", "evil.org:127", "127.0.0.1.evil.org", "[::1]evil", "::1",
                 "127.0.0.2", "0.0.0.0", "localhost@evil.org"):
        assert server.ask("/healthz", host=host).status == 421, host
    assert server.ask("/healthz", host=None).status == 400
    assert server.ask("/healthz", host="").status == 400


@case
def lets_pages_from_elsewhere_change_nothing(server):
    server.start("--allow-origin", "https://good.example.org")
    here, config = f"127.0.0.1:{server.ports[0]}", server.ask("/api/v1/models/gpt2").body

    def post(**fields):
        return server.ask("/api/v1/describe?format=csv&level=model", "POST", config, host=here, **fields)

    assert post().status == 200  # no page at all
    assert post(origin=f"http://{here}").status == 200
    assert post(sec_fetch_site="same-origin").status == 200
    for fields in ({"origin": "https://evil.example.org"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"},
                   {"sec_fetch_site": "same-site"}, {"origin": f"http://{here}", "sec_fetch_site": "cross-site"},
                   {"origin": f"https://{here}"}, {"origin": "https://good.example.org.evil.org"}):
        assert post(**fields).status == 403, fields
        assert "access-control-allow-origin" not in post(**fields).fields
    allowed = post(origin="https://good.example.org", sec_fetch_site="cross-site")
    assert allowed.status == 200 and allowed["access-control-allow-origin"] == "https://good.example.org", allowed
    assert "origin" in server.ask("/healthz")["vary"]
    asked = server.ask("/api/v1/describe", "OPTIONS", origin="https://good.example.org",
                       access_control_request_method="POST")
    assert asked.status == 204 and "POST" in asked["access-control-allow-methods"], asked
    asked = server.ask("/api/v1/describe", "OPTIONS", origin="https://evil.example.org",
                       access_control_request_method="POST")
    assert asked.status == 405 and "access-control-allow-origin" not in asked.fields, asked
    server.end()
    server.start()
    answer = server.ask("/api/v1/models", origin="https://good.example.org")
    assert answer.status == 200 and not [name for name in answer.fields if name.startswith("access-control")], answer


@case
def wants_its_token(server):
    token = token_file(server)
    server.start("--token-file", token, "--access-log", "log")
    assert server.ask("/healthz").status == 200
    for fields in ({}, {"authorization": f"Bearer {TOKEN[:-1]}"}, {"authorization": f"Bearer {TOKEN}0"},
                   {"authorization": f"Basic {TOKEN}"}, {"authorization": "Bearer "}, {"authorization": TOKEN},
                   {"cookie": f"beryl_token={TOKEN[:-1]}0"}, {"cookie": f"other={TOKEN}"}):
        refused = server.ask("/api/v1/models", **fields)
        assert refused.status == 401 and refused["www-authenticate"].startswith("Bearer"), (fields, refused)
    assert server.ask("/api/v1/models", authorization=f"Bearer {TOKEN}").status == 200
    assert server.ask("/metrics").status == 401 and server.ask("/none").status == 401
    assert server.ask("/api/v1/login", "POST", b"wrong").status == 401
    entered = server.ask("/api/v1/login", "POST", TOKEN.encode())
    assert entered.status == 204 and "HttpOnly; SameSite=Strict" in entered["set-cookie"], entered
    cookie = entered["set-cookie"].split(";")[0]
    assert server.ask("/api/v1/models", cookie=f"a=b; {cookie}").status == 200
    assert server.ask("/api/v1/login", "POST", TOKEN.encode(), sec_fetch_site="cross-site").status == 403
    # Another token from now on.
    token_file(server, "f" * 64)
    server.hang_up()("read again")
    assert server.ask("/api/v1/models", authorization=f"Bearer {TOKEN}").status == 401
    assert server.ask("/api/v1/models", cookie=cookie).status == 401
    assert server.ask("/api/v1/models", authorization="Bearer " + "f" * 64).status == 200
    token_file(server, "short")
    server.hang_up()("the old secrets stay")
    assert server.ask("/api/v1/models", authorization="Bearer " + "f" * 64).status == 200
    server.end()
    assert TOKEN not in (server.folder / "log").read_text()


@case
def does_not_start_unsafely(server):
    status, said = server.refusal("--listen", "0.0.0.0:0")
    assert status == 2 and "other machines can reach" in said and "--token-file" in said, said
    status, said = server.refusal("--listen", "[::]:0")
    assert status == 2 and "other machines can reach" in said, said
    token = token_file(server)
    token.chmod(0o644)
    status, said = server.refusal("--token-file", token)
    assert status == 2 and "chmod 600" in said, said
    status, said = server.refusal("--token-file", "none")
    assert status == 1 and "none" in said, said
    status, said = server.refusal("--tls-cert", token)
    assert status == 2 and "belong together" in said, said
    status, said = server.refusal("--listen", "127.0.0.1:0", "--tls-cert", token, "--tls-key", token)
    assert status == 1 and "cannot be used" in said, said
    status, said = server.refusal("--head-time", "fast")
    assert status == 2 and "head-time" in said, said
    server.start()
    taken = server.ports[0]
    other = Server(server.beryl, server.folder)
    status, said = other.refusal("--listen", f"127.0.0.1:{taken}")
    assert status == 1 and str(taken) in said, said


@case
def shows_and_changes_nothing_when_read_only(server):
    server.start("--listen", "0.0.0.0:0", "--read-only")
    config = server.ask("/api/v1/models/gpt2").body
    assert server.ask("/api/v1/describe?format=csv", "POST", config).status == 200
    assert server.ask(PREDICT).status == 200
    for method in ("POST", "DELETE", "PATCH", "PUT"):
        assert server.ask("/api/v1/runs", method, b"").status == 403, method


@case
def encrypts(server):
    first, key = certificate(server)
    server.start("--tls-cert", first, "--tls-key", key, "--token-file", token_file(server))
    server.tls = tls_context(first)
    bearer = {"authorization": f"Bearer {TOKEN}"}
    kept = server.connect()
    assert kept.ask(PREDICT, **bearer).status == 200
    assert "; Secure" in server.ask("/api/v1/login", "POST", TOKEN.encode())["set-cookie"]
    assert server.ask("/healthz", "POST", b"", origin="https://localhost").status == 405
    with server.connect(tls=None) as client:
        client.send(request("/healthz") * 40)
        assert client.answer().status == 200
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with server.connect(tls=tls_context(first, version)) as client:
            assert client.ask("/healthz").status == 200
    with Connection(socket.AF_INET, ("127.0.0.1", server.ports[0])) as client:  # not TLS at all
        client.send(request("/healthz"))
        assert b"HTTP/" not in client.unread
    second, other_key = certificate(server, "second")
    second.replace(first), other_key.replace(key)
    server.hang_up()("read again")
    try:
        server.ask("/healthz")
        raise AssertionError("the old certificate is used")
    except ssl.SSLError:
        pass
    server.tls = tls_context(first)
    assert server.ask("/healthz").status == 200
    assert kept.ask("/healthz").status == 200  # it was there before
