"""A boto3 client of a control plane, and its refusals as one sentence with the next step."""

from __future__ import annotations

import os
from typing import Any

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.known import instead
from gpufeed.observe.store import CONNECT_SECONDS, INPUT_KINDS, READ_SECONDS, SAMPLE_ACCESS_KEY, kind_of

#: Kinds of problem (:data:`gpufeed.observe.store.KINDS`) that have a sentence ``aws.<kind>``; others are "other".
_SAID = frozenset(
    {
        "denied", "no-credentials", "expired", "unknown-key", "wrong-secret", "clock", "bad-region", "no-region",
        "throttled", "server", "certificate", "tls", "unreachable", "profile", "endpoint",
    }
)  # fmt: skip
_INPUT = INPUT_KINDS | {"no-region"}
#: Kinds that say nothing of AWS where the environment sends these requests somewhere else.
_OF_ANOTHER = frozenset(
    {"denied", "unknown-key", "wrong-secret", "server", "certificate", "tls", "unreachable", "other"}
)
#: Error codes of control planes that S3 does not have, or means otherwise by.
_CODES = {
    "AccessDeniedException": "denied",
    "UnauthorizedOperation": "denied",
    "InvalidClientTokenId": "unknown-key",
    "InvalidSignatureException": "wrong-secret",
    "OptInRequired": "denied",
    "ServiceUnavailableException": "server",
    "InternalServerError": "server",
    "ServiceException": "server",
    "InternalFailure": "server",
}


def connect(service: str, region: str | None) -> Any:
    """A client with boto3's own credentials and Region.

    Makes no request.  Raises GpufeedError for broken settings, and for those of the sample server, which is no AWS.
    """
    if os.environ.get("AWS_ACCESS_KEY_ID") == SAMPLE_ACCESS_KEY:
        raise InputError("aws.sample-server", service=service)
    import boto3
    from botocore.config import Config

    settings = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": 3},
    )
    try:
        return boto3.session.Session().client(service, region_name=region, config=settings)
    except Exception as error:  # noqa: BLE001 — botocore raises many kinds; all become one sentence
        raise refusal(error, service, region, "") from None


def refusal(error: BaseException, service: str, region: str | None, action: str) -> GpufeedError:
    """The sentence for what botocore raised while asking ``service`` to do ``action`` (as IAM names it).

    Nothing of the error's own text goes in: it may name an account, or hold a token.
    """
    if isinstance(error, GpufeedError):
        return error
    response = getattr(error, "response", None)
    code = str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
    kind = _CODES.get(code) or kind_of(error)
    said = {"service": service, "region": region or "…", "action": action, "instead": ""}
    if region is None and kind == "bad-region":
        kind = "no-region"
    elif kind in ("bad-region", "unreachable") and region not in regions(service):
        kind, said["instead"] = "bad-region", str(instead(region or "", regions(service)))
    said["code"] = code if code.isalnum() else type(error).__name__
    kind = kind if kind in _SAID else "other"
    variable = _sent_elsewhere(service)
    if variable is not None and kind in _OF_ANOTHER:
        return GpufeedError("aws.elsewhere", **said, variable=variable, host=_host(os.environ[variable]))
    return (InputError if kind in _INPUT else GpufeedError)(f"aws.{kind}", **said)


def _sent_elsewhere(service: str) -> str | None:
    """The variable that sends requests for a service to something that is not AWS."""
    for variable in (f"AWS_ENDPOINT_URL_{service.upper()}", "AWS_ENDPOINT_URL"):
        if address := os.environ.get(variable):
            return None if "amazonaws." in address else variable
    return None


def _host(address: str) -> str:
    """Host and port of an address alone: a user and a password may stand before them."""
    return address.rpartition("//")[2].partition("/")[0].rpartition("@")[2]


def regions(service: str) -> list[str]:
    """The Regions botocore knows a service in; a newer Region may be missing."""
    import boto3

    session = boto3.session.Session()
    return [
        region
        for partition in session.get_available_partitions()
        for region in session.get_available_regions(service, partition)
    ]
