"""A small S3 listing endpoint on a thread: canned pages and errors, or exact listings of given keys."""

from __future__ import annotations

import re
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit
from xml.sax.saxutils import escape

Query = dict[str, str]
Answer = tuple[int, str | bytes]


class Server(ThreadingHTTPServer):
    """A client that a test kills breaks its connection; saying so would land in what the next test captures."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Endpoint:
    """Answers each GET through ``answer(query)`` and keeps the queries in ``asked``, everything else in ``other``."""

    def __init__(self, answer: Callable[[Query], Answer]) -> None:
        self.asked: list[Query] = []
        self.other: list[str] = []
        lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                query = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
                with lock:
                    if query.get("list-type") != "2":
                        endpoint.other.append(self.path)
                    endpoint.asked.append(query)
                    status, body = answer(query)
                content = body.encode() if isinstance(body, str) else body
                asked_range = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if status == 200 and asked_range:
                    first, last = int(asked_range[1]), min(int(asked_range[2]), len(content) - 1)
                    status, whole, content = 206, len(content), content[first : last + 1]
                self.send_response(status)
                if status == 206:
                    self.send_header("Content-Range", f"bytes {first}-{last}/{whole}")
                self.send_header("Content-Type", "application/xml")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_HEAD(self) -> None:
                endpoint.other.append(f"HEAD {self.path}")
                self.send_response(403)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def page_xml(page: dict[str, Any]) -> str:
    """A page of ListObjectsV2 from boto3's names, URL-encoded as S3 does when boto3 asks for it."""
    rows = "".join(
        f"<Contents><Key>{quote_plus(row['Key'], safe='/:')}</Key>"
        f"<LastModified>{row.get('LastModified', '2026-11-01T00:00:00.000Z')}</LastModified>"
        f"<ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>{row['Size']}</Size>"
        f"<StorageClass>{row.get('StorageClass', 'STANDARD')}</StorageClass></Contents>"
        for row in page.get("Contents", ())
    )
    prefixes = "".join(
        f"<CommonPrefixes><Prefix>{quote_plus(prefix, safe='/:')}</Prefix></CommonPrefixes>"
        for prefix in page.get("CommonPrefixes", ())
    )
    token = page.get("NextContinuationToken")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>example-train</Name><EncodingType>url</EncodingType>"
        f"<IsTruncated>{str(page.get('IsTruncated', False)).lower()}</IsTruncated>{rows}{prefixes}"
        + (f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else "")
        + "</ListBucketResult>"
    )


def error_xml(code: str, **fields: str) -> str:
    inner = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>{inner}</Error>'


def replaying(pages: Sequence[dict[str, Any]]) -> Callable[[Query], Answer]:
    """One canned page (or error) after the other, whatever is asked; the last one again and again."""
    left = list(pages)

    def answer(_query: Query) -> Answer:
        page = left.pop(0) if len(left) > 1 else left[0]
        if "error" in page:
            fields = {name: value for name, value in page["error"].items() if name not in {"http", "Code"}}
            return page["error"]["http"], error_xml(page["error"]["Code"], **fields)
        return 200, page_xml(page)

    return answer


def listing(
    keys: Sequence[str],
    size: Callable[[str], int] = len,
    refused: Callable[[Query], bool] = lambda query: False,
    page_size: int = 1000,
) -> Callable[[Query], Answer]:
    """Lists ``keys`` exactly as S3 does, in UTF-8 byte order; ``refused`` requests get AccessDenied."""
    ordered = sorted(keys, key=str.encode)

    def answer(query: Query) -> Answer:
        if refused(query):
            return 403, error_xml("AccessDenied", Message="no")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        after = query.get("continuation-token", "")
        found = [key for key in ordered if key.startswith(prefix)]
        entries: list[tuple[str, bool]] = []
        for key in found:
            end = key.find(delimiter, len(prefix)) + 1 if delimiter else 0
            entry = (key[:end], True) if end else (key, False)
            if not entries or entries[-1] != entry:
                entries.append(entry)
        start = bisect_right([entry[0].encode() for entry in entries], after.encode()) if after else 0
        shown = entries[start : start + page_size]
        truncated = start + page_size < len(entries)
        page: dict[str, Any] = {
            "IsTruncated": truncated,
            "Contents": [{"Key": key, "Size": size(key)} for key, common in shown if not common],
            "CommonPrefixes": [key for key, common in shown if common],
        }
        if truncated:
            page["NextContinuationToken"] = shown[-1][0]
        return 200, page_xml(page)

    return answer
