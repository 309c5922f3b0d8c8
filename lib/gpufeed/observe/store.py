"""The door to S3's listing side: where a prefix is, the client that lists it, one page of it, and what went wrong.

boto3 keeps its whole credential chain, endpoints, directory-bucket sessions and retries.  The only request made here is
ListObjectsV2 under the prefix that was asked for: a role that may list only that prefix can use everything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.observe.pages import EVENT, ForeignAnswer, Page, page_of, take_contents

#: The access key of the sample server (``gpufeed demo``), which no AWS account can have.
SAMPLE_ACCESS_KEY = "gpufeed-demo"
CONNECT_SECONDS = 5
READ_SECONDS = 30

_BUCKET = re.compile(r"[A-Za-z0-9._-]{3,255}")
_ARN = re.compile(r"arn:|s3://arn:", re.IGNORECASE)
MOST_BYTES = 1 << 60  # of one object: more is no size that a store can mean

# What OpenSSL says when the other side answers in plain text.
_NO_TLS = re.compile("WRONG.VERSION|RECORD.LAYER|UNKNOWN.PROTOCOL|PACKET.LENGTH", re.IGNORECASE)
_SAFE_NAME = re.compile(r"[A-Za-z0-9.]{1,64}")


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How to reach the store; None leaves it to boto3's own settings (environment, profile, instance)."""

    endpoint_url: str | None = None
    region: str | None = None
    anonymous: bool = False
    requester_pays: bool = False

    @property
    def on_aws(self) -> bool:
        """Whether requests go to AWS itself, which alone charges AWS's prices."""
        custom = self.endpoint_url or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        return not custom or "amazonaws." in custom


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket and a key prefix: a plain string prefix, so ``data/p000`` also means ``data/p000123.jpg``."""

    bucket: str
    prefix: str

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"


@dataclass(frozen=True, slots=True)
class Listed:
    """One answer of ListObjectsV2: its objects, its common prefixes, how it goes on, and the requests it took."""

    page: Page
    common_prefixes: tuple[str, ...]
    truncated: bool
    token: str | None
    requests: int


def parse_url(url: str) -> Place:
    """``s3://bucket/prefix`` taken literally: no decoding, ``//`` kept.  Raises InputError for anything else."""
    if _ARN.match(url):
        raise InputError("store.arn", url=url)
    if url.lower().startswith(("http://", "https://")):
        raise InputError("store.https", url=_without_login(url))  # a presigned address carries a signature
    scheme, separator, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    if scheme.lower() != "s3" or not separator or not _BUCKET.fullmatch(bucket) or not _is_unicode(url):
        raise InputError("store.url", url=_without_login(url))
    return Place(bucket, prefix)


def _is_unicode(text: str) -> bool:
    """False for bytes of a command line that are no UTF-8: no key holds them."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def connect(options: StoreOptions, connections: int = 16, keys: tuple[str, str] | None = None) -> Any:
    """A boto3 S3 client whose listings are read by :mod:`gpufeed.observe.pages`.  Makes no request.

    ``keys`` (access key, secret key) stand in for boto3's credential chain.  Raises InputError when the endpoint is
    no http address, and GpufeedError for broken AWS settings.
    """
    import boto3
    import botocore.session
    from botocore import UNSIGNED
    from botocore.config import Config

    endpoint = options.endpoint_url
    if endpoint is not None and not _is_address(endpoint):
        raise InputError("store.endpoint", endpoint=_without_login(endpoint))
    settings: dict[str, Any] = {
        "max_pool_connections": connections,
        "connect_timeout": CONNECT_SECONDS,
        "read_timeout": READ_SECONDS,
        # Repeats belong to the scan: it counts them, can be stopped while it waits, and slows all ranges down.
        "retries": {"mode": "standard", "total_max_attempts": 1},
    }
    if options.anonymous:
        settings["signature_version"] = UNSIGNED
    if not options.on_aws:
        settings["s3"] = {"addressing_style": "path"}  # other stores rarely have a name per bucket
    try:
        core = botocore.session.get_session()
        core.register_component("data_loader", _service_models())
        session = boto3.session.Session(*(keys or ()), botocore_session=core)
        client = session.client("s3", endpoint_url=endpoint, region_name=options.region, config=Config(**settings))
    except Exception as error:  # noqa: BLE001 — botocore raises many kinds; all become one sentence
        raise problem(error, endpoint=endpoint) from None
    client.meta.events.register_first(EVENT, take_contents)
    return client


@cache
def _service_models() -> Any:
    """botocore's description of S3, read from disk once: a second client costs a tenth of the first."""
    from botocore.loaders import create_loader

    return create_loader()


def list_page(
    client: Any,
    place: Place,
    *,
    token: str | None = None,
    delimiter: bool = False,
    requester_pays: bool = False,
) -> Listed:
    """One page under ``place``; with ``delimiter`` only what lies directly there, and the sub-prefixes.

    Raises what botocore raises: give it to :func:`problem`.
    """
    request: dict[str, Any] = {"Bucket": place.bucket, "Prefix": place.prefix}
    if token is not None:
        request["ContinuationToken"] = token
    if delimiter:
        request["Delimiter"] = "/"
    if requester_pays:
        request["RequestPayer"] = "requester"
    response = client.list_objects_v2(**request)
    page = page_of(response)
    if len(page) and not 0 <= min(page.sizes) <= max(page.sizes) <= MOST_BYTES:
        raise ForeignAnswer
    return Listed(
        page=page,
        common_prefixes=tuple(row["Prefix"] for row in response.get("CommonPrefixes", ())),
        truncated=bool(response.get("IsTruncated")),
        token=response.get("NextContinuationToken"),
        requests=1 + response["ResponseMetadata"].get("RetryAttempts", 0),  # a redirect to another region is a second
    )


def put_folder_marker(client: Any, bucket: str, key: str) -> None:
    """Write an empty object whose key ends in "/", as consoles do; the native client would drop the "/"."""
    client.put_object(Bucket=bucket, Key=key, Body=b"")


def credentials() -> Callable[[], tuple[str, str, str | None]]:
    """boto3's credential chain as a function giving (access key, secret key, token), fresh at each call.

    For a second client beside boto3.  The call raises GpufeedError when the chain finds nothing or cannot refresh.
    """
    import boto3

    try:
        found = boto3.session.Session().get_credentials()
    except Exception as error:  # noqa: BLE001 — botocore raises many kinds; all become one sentence
        raise problem(error) from None

    def keys() -> tuple[str, str, str | None]:
        if found is None:
            raise GpufeedError("store.no-credentials", **_DETAILS)
        try:
            frozen = found.get_frozen_credentials()
        except Exception as error:  # noqa: BLE001 — as above
            raise problem(error) from None
        return frozen.access_key, frozen.secret_key, frozen.token

    return keys


# ---- what went wrong -----------------------------------------------------------------------------------------------

# S3 error codes, HTTP statuses and botocore's exception names → the kind of problem, whose sentence is `store.<kind>`.
# An exception is looked up by its error code first, then by its class and the classes it derives from.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("NoSuchBucket",), "no-such-bucket"),
    **dict.fromkeys(("AccessDenied", "AllAccessDisabled", "AccountProblem", "Forbidden", "403"), "denied"),
    **dict.fromkeys(("NoCredentialsError", "PartialCredentialsError", "NoAuthTokenError"), "no-credentials"),
    **dict.fromkeys(
        (
            "ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired", "ExpiredTokenError",
            "UnauthorizedSSOTokenError", "SSOTokenLoadError", "TokenRetrievalError", "CredentialRetrievalError",
            "SSOError", "LoginError", "RefreshWithMFAUnsupportedError", "AuthorizationPendingException",
        ),
        "expired",
    ),
    **dict.fromkeys(("InvalidToken", "InvalidAccessKeyId", "UnrecognizedClientException"), "unknown-key"),
    **dict.fromkeys(("SignatureDoesNotMatch",), "wrong-secret"),
    **dict.fromkeys(("RequestTimeTooSkewed",), "clock"),
    **dict.fromkeys(
        (
            "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IncorrectEndpoint",
            "IllegalLocationConstraintException", "301", "307",
        ),
        "wrong-region",
    ),
    **dict.fromkeys(("InvalidRegionError", "NoRegionError", "UnknownRegionError"), "bad-region"),
    **dict.fromkeys(
        (
            "SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException", "RequestLimitExceeded",
            "TooManyRequests", "TooManyRequestsException", "RequestThrottled", "BandwidthLimitExceeded", "503", "429",
        ),
        "throttled",
    ),
    **dict.fromkeys(("InternalError", "InternalServerError", "OperationAborted", "500", "502", "504"), "server"),
    **dict.fromkeys(("SSLError",), "certificate"),  # or "tls": see kind_of
    **dict.fromkeys(("ProxyConnectionError", "HTTPClientError", "ConnectionError", "RequestTimeout"), "unreachable"),
    **dict.fromkeys(("ProfileNotFound", "ConfigNotFound", "ConfigParseError"), "profile"),
    **dict.fromkeys(("InvalidBucketName", "ParamValidationError"), "bucket-name"),
    **dict.fromkeys(
        (
            "ResponseParserError", "ForeignAnswer", "404", "405", "MethodNotAllowed", "NotImplemented",
            "RecursionError",  # botocore follows a redirect that never ends
        ),
        "not-s3",
    ),
    **dict.fromkeys(("UnknownEndpointError", "InvalidEndpointDiscoveryConfigurationError"), "endpoint"),
}  # fmt: skip

INPUT_KINDS = frozenset({"bucket-name", "profile", "endpoint", "bad-region"})
TRANSIENT_KINDS = frozenset({"throttled", "server", "unreachable"})

_DETAILS = {"url": "s3://…", "bucket": "…", "endpoint": "…", "code": "…"}


def kind_of(error: BaseException) -> str:
    """The kind of problem an exception of botocore stands for; "other" when it is none of them."""
    names = [_code_of(error), *(cls.__name__ for cls in type(error).__mro__)]
    kind = next((KINDS[name] for name in names if name in KINDS), "other")
    if kind == "other" and isinstance(error, ValueError) and "endpoint" in str(error).lower():
        return "endpoint"
    if kind == "certificate" and _NO_TLS.search(str(error)):
        return "tls"
    return kind


def problem(error: BaseException, place: Place | None = None, endpoint: str | None = None) -> GpufeedError:
    """The sentence for ``error``, with the next step.  Nothing of the error's own text goes in: it may hold a token."""
    if isinstance(error, GpufeedError):
        return error
    kind = kind_of(error)
    code = _code_of(error) or type(error).__name__
    details = dict(_DETAILS, code=code if _SAFE_NAME.fullmatch(code) else "…")
    if place is not None:
        details.update(url=place.url, bucket=place.bucket)
    # Where nothing was entered, the environment may name it.
    endpoint = endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    details["endpoint"] = _without_login(endpoint) if endpoint else "amazonaws.com"
    return (InputError if kind in INPUT_KINDS else GpufeedError)(f"store.{kind}", **details)


def _code_of(error: BaseException) -> str:
    response = getattr(error, "response", None)
    if not isinstance(response, dict):
        return ""
    # A proxy or a web server gives no error code of S3: then its status tells.
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return str(response.get("Error", {}).get("Code") or status or "")


def _is_address(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that stays open
        return False


def _without_login(address: str) -> str:
    """An address without ``user:password@`` and without what follows a question mark."""
    return re.sub(r"//[^/@]*@", "//", address.partition("?")[0])
