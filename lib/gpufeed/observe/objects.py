"""The object data path: gets, ranged gets, puts and deletes through obstore, a native client.

A Python HTTP client tops out at a few hundred requests per second and would be measured instead of the storage.
obstore's own retries are silent, so they are switched off: retries are made here and counted, because a rate that
hides its retries is not honest.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from gpufeed.observe.machine import cores

RETRIES = 3
REQUEST_SECONDS = 30.0
FIRST_BACKOFF = 0.1  # [s], doubled at each retry
CREDENTIAL_LIFE = timedelta(minutes=15)  # asked again five minutes before, so that a chain that refreshes is followed
THROTTLED = frozenset({429, 503})
SIGNED_OUT = frozenset({"ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"})

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,64})</Code>")
# The object-store client takes a key for a path: these forms it refuses, or silently reads another key instead.
_FOREIGN = re.compile(r"^/|/$|//|(?:^|/)\.{1,2}(?:/|$)|[\x00-\x1f\x7f]")

Keys = tuple[str, str, str | None]  # access key, secret key, session token


class RequestFailed(Exception):
    """A request that failed after its retries.

    ``kind``: missing, denied, signed-out, region, throttled, unreachable, server or key.
    """

    def __init__(self, kind: str, code: str, retries: int, throttled: int) -> None:
        super().__init__(kind, code)
        self.kind = kind
        self.code = code
        self.retries = retries
        self.throttled = throttled


class Reply(NamedTuple):
    """One successful request: bytes received, repeats it took, and how many of those followed a 503 or 429."""

    nbytes: int
    retries: int
    throttled: int


@lru_cache(65_536)  # a probe asks for the same keys again and again, and every microsecond here holds up its threads
def readable(key: str) -> bool:
    """Whether this client can read the key exactly as it is written (``a//b`` and ``dir/`` it cannot)."""
    return not _FOREIGN.search(key)


class Objects:
    """The objects of one bucket.  Calls block and release the interpreter lock: call them from threads."""

    def __init__(
        self,
        bucket: str,
        *,
        endpoint_url: str | None = None,
        region: str | None = None,
        anonymous: bool = False,
        requester_pays: bool = False,
        keys: Callable[[], Keys] | None = None,
        timeout: float = REQUEST_SECONDS,
        retries: int = RETRIES,
    ) -> None:
        """``keys`` is called when credentials are needed, and again when they may have changed.

        ``timeout`` [s] bounds one request; one that failed sooner is asked again up to ``retries`` times.
        """
        # obstore's own threads beside the reading ones: with one per core they mostly wake each other.  It takes the
        # number from the environment when it first works; a number set by the user stands.
        os.environ.setdefault("TOKIO_WORKER_THREADS", str(max(1, int(cores()) // 2)))
        import obstore
        from obstore.store import S3Store

        config: dict[str, Any] = {
            "region": region or "us-east-1",
            # The long form, because a variable of that name would win over a plain `endpoint`.
            **({"aws_endpoint_url_s3": endpoint_url} if endpoint_url else {}),
            **({"request_payer": True} if requester_pays else {}),
            **({"s3_express": True} if bucket.endswith("--x-s3") else {}),
        }
        if anonymous or keys is None:
            config["skip_signature"] = True
        else:
            config["credential_provider"] = _provider(keys)
        self._obstore = obstore
        self._retries = retries
        self._timeout = timeout
        self._store = S3Store(
            bucket,
            client_options={
                "allow_http": bool(endpoint_url and endpoint_url.startswith("http://")),
                "timeout": timedelta(seconds=timeout),
                "http1_only": True,  # S3 speaks no other version; not negotiating saves client CPU
            },
            retry_config={"max_retries": 0},
            **config,
        )

    def get(self, key: str) -> Reply:
        """Read one whole object.  Raises RequestFailed."""
        get, store = self._obstore.get, self._store
        return self._counted(key, lambda: len(get(store, key).bytes()))

    def get_range(self, key: str, start: int, length: int) -> Reply:
        """Read ``length`` bytes from ``start``.  Raises RequestFailed."""
        get_range, store = self._obstore.get_range, self._store
        return self._counted(key, lambda: len(get_range(store, key, start=start, length=length)))

    def read_text(self, key: str) -> str:
        """The content of a small object as text.  Raises RequestFailed."""
        content: list[bytes] = []

        def read() -> int:
            content[:] = [bytes(self._obstore.get(self._store, key).bytes())]
            return len(content[0])

        self._counted(key, read)
        return content[0].decode()

    def put(self, key: str, content: bytes | memoryview) -> Reply:
        """Write one object in a single request.  Raises RequestFailed."""
        put, store = self._obstore.put, self._store

        def write() -> int:
            put(store, key, content, use_multipart=False)
            return len(content)

        return self._counted(key, write)

    def delete(self, keys: list[str]) -> None:
        """Delete objects.  Raises RequestFailed."""

        def remove() -> int:
            self._obstore.delete(self._store, keys)
            return 0

        self._counted(keys[0] if keys else "-", remove)

    def _counted(self, key: str, request: Callable[[], int]) -> Reply:
        if not readable(key):
            raise RequestFailed("key", "", 0, 0)
        retries = throttled = 0
        began = time.monotonic()
        while True:
            try:
                return Reply(request(), retries, throttled)
            except Exception as error:  # noqa: BLE001 — obstore raises built-in and own types; all are sorted below
                kind, code, again = _sort(error)
                throttled += kind == "throttled"
                if not again or retries == self._retries or time.monotonic() - began > self._timeout:
                    raise RequestFailed(kind, code, retries, throttled) from None
                time.sleep(FIRST_BACKOFF * 2**retries)
                retries += 1


def _sort(error: Exception) -> tuple[str, str, bool]:
    """Kind of failure, S3 error code (or status), and whether asking again can help."""
    text = str(error)
    found = _CODE.search(text)
    status = _STATUS.search(text)
    code = found.group(1) if found else status.group(1) if status else ""
    number = int(status.group(1)) if status else 0
    if isinstance(error, FileNotFoundError):
        return "missing", code, False
    if type(error).__name__ == "UnauthenticatedError" or number == 401 or code in SIGNED_OUT:
        return "signed-out", code, False
    if type(error).__name__ == "PermissionDeniedError" or number == 403:
        return "denied", code, False
    if isinstance(error, ValueError):
        return "key", code, False
    if "configured region" in text or number in {301, 307} or code == "AuthorizationHeaderMalformed":
        return "region", code, False
    if number in THROTTLED:
        return "throttled", code, True
    if number:
        return "server", code, number >= 500
    return "unreachable", code, True


def _provider(keys: Callable[[], Keys]) -> Callable[[], dict[str, Any]]:
    def provide() -> dict[str, Any]:
        access_key, secret_key, token = keys()
        return {
            "access_key_id": access_key,
            "secret_access_key": secret_key,
            "token": token,
            "expires_at": datetime.now(UTC) + CREDENTIAL_LIFE,
        }

    return provide
