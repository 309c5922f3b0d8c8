"""The native client: every retry is counted, each failure has a kind, and foreign keys are refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from listing_endpoint import Server

from gpufeed import demo
from gpufeed.observe import objects as module
from gpufeed.observe.objects import Objects, Reply, RequestFailed, readable

Answer = tuple[int, bytes]


@contextmanager
def store_that_answers(answer: Callable[[str], Answer]) -> Iterator[str]:
    """A store on a free port of this machine: each GET gets what ``answer`` gives for its path and query."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Mon, 30 Nov 2026 00:00:00 GMT")
            self.send_header("ETag", '"e"')
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()


def client(endpoint: str) -> Objects:
    return Objects("bucket", endpoint_url=endpoint, keys=lambda: ("key", "secret", None))


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_BACKOFF", 0.001)


def test_a_slow_down_is_asked_again_and_counted() -> None:
    answers = iter([(503, error("SlowDown")), (500, error("InternalError")), (200, b"12345")])
    with store_that_answers(lambda _: next(answers)) as endpoint:
        assert client(endpoint).get("key") == Reply(nbytes=5, retries=2, throttled=1)


@pytest.mark.parametrize(
    ("status", "code", "kind", "requests"),
    [
        (503, "SlowDown", "throttled", 4),
        (500, "InternalError", "server", 4),
        (403, "AccessDenied", "denied", 1),
        (404, "NoSuchKey", "missing", 1),
        (301, "", "region", 1),
        (400, "ExpiredToken", "signed-out", 1),
        (403, "SignatureDoesNotMatch", "signed-out", 1),
    ],
)
def test_each_failure_has_a_kind_and_only_what_may_pass_is_asked_again(
    status: int, code: str, kind: str, requests: int
) -> None:
    asked: list[str] = []

    def answer(path: str) -> Answer:
        asked.append(path)
        return status, error(code)

    with store_that_answers(answer) as endpoint, pytest.raises(RequestFailed) as caught:
        client(endpoint).get("key")
    assert (caught.value.kind, caught.value.code, len(asked)) == (kind, code, requests)
    assert caught.value.retries == requests - 1


def test_an_endpoint_where_nothing_listens_is_unreachable() -> None:
    with pytest.raises(RequestFailed) as caught:
        client("http://127.0.0.1:9").get("key")
    assert (caught.value.kind, caught.value.retries) == ("unreachable", 3)


@pytest.mark.parametrize("key", ["a//b", "/a", "a/", "a/../b", "./a", "a\x01b"])
def test_keys_that_the_client_would_misread_are_refused(key: str) -> None:
    assert not readable(key)
    with pytest.raises(RequestFailed) as caught:
        client("http://127.0.0.1:9").get(key)
    assert caught.value.kind == "key"


@pytest.mark.parametrize("key", ["plain", "space +%2F", "ü/😀", "..a/b..", 'quote"<&>'])
def test_every_other_key_is_read_as_it_is_written(key: str, demo_server: demo.Demo) -> None:
    assert readable(key)
    objects = demo_server.objects("gpufeed-test-keys")
    objects.put(key, key.encode())
    assert objects.read_text(key) == key
    objects.delete([key])
    with pytest.raises(RequestFailed) as caught:
        objects.get(key)
    assert caught.value.kind == "missing"


def test_a_part_is_read_from_where_it_was_asked(demo_server: demo.Demo) -> None:
    objects = demo_server.objects("gpufeed-test-keys")
    objects.put("part", b"0123456789")
    assert objects.get_range("part", 3, 4) == Reply(4, 0, 0)
