"""The read-only IAM policies in data/iam, held against the requests that the code really makes."""

from __future__ import annotations

import ast
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import boto3
import botocore.session
import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from gpufeed.facts import load
from gpufeed.facts.place import data_directory
from gpufeed.observe.aws.file_systems import file_system
from gpufeed.observe.aws.price_list import ask
from gpufeed.observe.probe import probe
from gpufeed.observe.scan import scan
from gpufeed.observe.store import StoreOptions

LIB = Path(__file__).parents[2] / "lib"

# What AWS asks for: the request, as it goes over the wire → the action that allows it.
ACTIONS = {
    ("GET", "bucket", "list-type"): "s3:ListBucket",
    ("GET", "bucket", "session"): "s3express:CreateSession",
    ("GET", "object", ""): "s3:GetObject",
}
# Actions that AWS itself takes on behalf of a request.
ON_BEHALF = {"kms:Decrypt": "s3:GetObject"}


class Request(NamedTuple):
    method: str
    bucket: str
    key: str
    query: dict[str, list[str]]

    @property
    def action(self) -> str:
        """The permission this request needs; KeyError for a kind of request that no policy foresees."""
        of = "object" if self.key else "bucket"
        kind = next((name for name in ("list-type", "session") if name in self.query), "")
        return ACTIONS[self.method, of, kind if of == "bucket" else ",".join(self.query)]

    @property
    def resource(self) -> str:
        return f"arn:aws:s3:::{self.bucket}/{self.key}" if self.key else f"arn:aws:s3:::{self.bucket}"


@contextmanager
def recording(application: Callable[..., Any]) -> Iterator[tuple[str, list[Request]]]:
    """A server on this machine that keeps what is asked of it: its address and the requests."""
    requests: list[Request] = []

    def record(environ: dict[str, Any], start_response: Any) -> Any:
        bucket, _, key = unquote(environ["RAW_URI"].partition("?")[0]).lstrip("/").partition("/")
        query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        requests.append(Request(environ["REQUEST_METHOD"], bucket, key, query))
        return application(environ, start_response)

    server = make_server("127.0.0.1", 0, record, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()
    thread.join()
    server.server_close()


def made_by_scan_and_probe(keys: dict[str, int]) -> list[Request]:
    with recording(DomainDispatcherApplication(create_backend_app)) as (url, requests):
        s3 = boto3.client("s3", endpoint_url=url)
        s3.create_bucket(Bucket="your-bucket")
        for key, size in keys.items():
            s3.put_object(Bucket="your-bucket", Key=key, Body=bytes(size))
        requests.clear()
        options = StoreOptions(endpoint_url=url)
        assert scan("s3://your-bucket/your-prefix/", options=options).complete
        assert probe("s3://your-bucket/your-prefix/", options, concurrency=(1, 2), seconds=0.2).status == "ok"
        return list(requests)


def statements(name: str) -> list[dict[str, Any]]:
    document = json.loads((data_directory() / "iam" / name).read_text(encoding="utf-8"))
    assert document["Version"] == "2012-10-17"
    found: list[dict[str, Any]] = document["Statement"]
    return found


def allowed(request: Request, policy: list[dict[str, Any]]) -> bool:
    """Whether a statement allows the request: action, resource and key prefix, as IAM compares them."""
    prefix = request.query.get("prefix", [""])[0]
    return any(
        statement["Effect"] == "Allow"
        and statement["Action"] == request.action
        and fnmatchcase(request.resource, statement["Resource"])
        and fnmatchcase(prefix, statement.get("Condition", {}).get("StringLike", {}).get("s3:prefix", "*"))
        for statement in policy
    )


@pytest.fixture
def many_small_and_one_large(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Enough to be listed in pages, by sub-prefix, and to be read whole and in parts."""
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "100")  # keys on a page
    return {f"your-prefix/{n % 3}/{n:05d}.bin": 16 for n in range(110)} | {"your-prefix/large.bin": 17 * 1024**2}


def test_scan_and_probe_need_the_policy_and_the_policy_holds_nothing_else(
    aws_settings: None, many_small_and_one_large: dict[str, int]
) -> None:
    requests = made_by_scan_and_probe(many_small_and_one_large)
    policy = statements("read-only.json")
    assert [request for request in requests if not allowed(request, policy)] == []
    needed = {request.action for request in requests}
    granted = {statement["Action"] for statement in policy}
    assert granted - needed == set(ON_BEHALF)
    assert {ON_BEHALF[action] for action in granted - needed} <= needed


def test_the_policy_allows_nothing_outside_its_prefix() -> None:
    policy = statements("read-only.json")
    listing = {"list-type": ["2"]}
    assert allowed(Request("GET", "your-bucket", "", listing | {"prefix": ["your-prefix/"]}), policy)
    assert not allowed(Request("GET", "your-bucket", "", listing | {"prefix": ["payroll/"]}), policy)
    assert not allowed(Request("GET", "your-bucket", "", listing), policy)
    assert not allowed(Request("GET", "your-bucket", "payroll/2026.csv", {}), policy)
    assert not allowed(Request("GET", "another-bucket", "your-prefix/a", {}), policy)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "HEAD"])
def test_a_request_that_is_no_read_is_not_foreseen(method: str) -> None:
    with pytest.raises(KeyError):
        _ = Request(method, "your-bucket", "your-prefix/a", {}).action


SESSION = b"""<?xml version="1.0" encoding="UTF-8"?>
<CreateSessionResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Credentials>
<AccessKeyId>example</AccessKeyId><SecretAccessKey>example</SecretAccessKey><SessionToken>example</SessionToken>
<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></CreateSessionResult>"""
EMPTY_LIST = b"""<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListBucketResult>"""


def express(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "application/xml")])
    return [SESSION if "session" in environ["QUERY_STRING"] else EMPTY_LIST]


def test_a_directory_bucket_is_listed_in_a_session_and_the_session_is_the_only_permission(aws_settings: None) -> None:
    with recording(express) as (url, requests):
        assert scan("s3://your-bucket--use1-az4--x-s3/a/", options=StoreOptions(endpoint_url=url)).complete
    asked = [request.action for request in requests]
    assert asked == ["s3express:CreateSession", "s3:ListBucket"]  # the session's own keys allow the listing
    [statement] = statements("read-only-express.json")
    assert statement["Action"] == asked[0]
    assert statement["Condition"] == {"StringEquals": {"s3express:SessionMode": "ReadOnly"}}


def test_looking_at_a_file_system_needs_its_policy_and_the_policy_holds_nothing_else(
    aws_settings: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    lustre = {"FileSystemId": "fs-01234567", "FileSystemType": "LUSTRE", "LustreConfiguration": {}}

    def control_plane(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        # The action is named by the request itself: the service in its signature's scope, the operation in its target.
        service = environ["HTTP_AUTHORIZATION"].partition("/aws4_request")[0].rpartition("/")[2]
        asked.append(f"{service}:{environ['HTTP_X_AMZ_TARGET'].rpartition('.')[2]}")
        start_response("200 OK", [("Content-Type", "application/x-amz-json-1.1")])
        return [json.dumps({"FileSystems": [lustre]} if asked[-1].endswith("FileSystems") else {}).encode()]

    with recording(control_plane) as (url, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        assert file_system("fs-01234567", "us-east-1").file_system.id == "fs-01234567"
    granted = [action for one in statements("read-only-fsx.json") for action in as_list(one["Action"])]
    assert sorted(asked) == sorted(granted)
    assert all(one["Effect"] == "Allow" for one in statements("read-only-fsx.json"))


def test_refreshing_prices_asks_for_one_action_and_the_policy_holds_nothing_else(
    aws_settings: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def control_plane(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        service = environ["HTTP_AUTHORIZATION"].partition("/aws4_request")[0].rpartition("/")[2]
        asked.append(f"{service}:{environ['HTTP_X_AMZ_TARGET'].rpartition('.')[2]}")
        start_response("200 OK", [("Content-Type", "application/x-amz-json-1.1")])
        return [b'{"FormatVersion": "aws_v1", "PriceList": []}']

    with recording(control_plane) as (url, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        assert ask("us-east-1", load(), today=date(2026, 11, 30)).prices == ()
    [statement] = statements("read-only-prices.json")
    assert set(asked) == {statement["Action"]} and statement["Effect"] == "Allow"


def as_list(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def test_what_users_run_calls_one_operation_of_s3_through_boto3() -> None:
    """The other one writes, and only the loading of the sample data into the embedded server uses it."""
    model = botocore.session.get_session().get_service_model("s3")
    operations = {botocore.xform_name(name) for name in model.operation_names}
    assert attributes() & operations == {"list_objects_v2", "put_object"}
    [marker] = [
        function.name
        for function in ast.walk(ast.parse((LIB / "gpufeed/observe/store.py").read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and "put_object" in ast.unparse(function)
    ]
    users = {path.name for path in LIB.rglob("*.py") if marker in path.read_text(encoding="utf-8")}
    assert users == {"store.py", "demo.py"}


def attributes() -> set[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in LIB.rglob("*.py")]
    return {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
