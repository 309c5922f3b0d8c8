"""Where a prefix is, how it is reached, and what people read when it goes wrong."""

import json
from pathlib import Path

import botocore.exceptions as botocore_errors
import pytest
from botocore.exceptions import ClientError
from listing_endpoint import error_xml

from gpufeed.facts.errors import InputError
from gpufeed.facts.messages import catalogue
from gpufeed.observe.store import (
    INPUT_KINDS,
    KINDS,
    Place,
    StoreOptions,
    connect,
    credentials,
    kind_of,
    list_page,
    parse_url,
    problem,
)

CASES = Path(__file__).parents[1] / "cases"
PLACE = Place("example-train", "data/")

pytestmark = pytest.mark.usefixtures("aws_settings")


def client_error(code, **fields):
    return ClientError({"Error": {"Code": code, **fields}, "ResponseMetadata": {}}, "ListObjectsV2")


@pytest.mark.parametrize(
    ("url", "bucket", "prefix"),
    [
        ("s3://bucket/data/p000", "bucket", "data/p000"),
        ("s3://bucket", "bucket", ""),
        ("s3://bucket/", "bucket", ""),
        ("S3://bucket//a//b", "bucket", "/a//b"),
        ("s3://bucket/a%2Fb c+d?e#f ", "bucket", "a%2Fb c+d?e#f "),
        ("s3://train--use1-az4--x-s3/a/", "train--use1-az4--x-s3", "a/"),
    ],
)
def test_an_s3_url_is_taken_literally(url, bucket, prefix):
    assert parse_url(url) == Place(bucket, prefix)


@pytest.mark.parametrize(
    ("url", "message_id"),
    [
        ("arn:aws:s3:::bucket/data", "store.arn"),
        ("s3://arn:aws:s3:us-east-1:123456789012:accesspoint/x", "store.arn"),
        ("https://bucket.s3.amazonaws.com/data", "store.https"),
        ("bucket/data", "store.url"),
        ("s3:/bucket/data", "store.url"),
        ("s3://", "store.url"),
        ("s3://b_!/data", "store.url"),
        ("gs://bucket/data", "store.url"),
        ("", "store.url"),
    ],
)
def test_anything_else_is_refused_with_the_form_to_use(url, message_id):
    with pytest.raises(InputError) as raised:
        parse_url(url)
    assert raised.value.message_id == message_id
    assert "s3://bucket/prefix" in str(raised.value)


def test_the_signature_of_a_presigned_address_is_not_repeated():
    with pytest.raises(InputError) as raised:
        parse_url("https://bucket.s3.amazonaws.com/data?X-Amz-Signature=FAKEFAKE")
    assert "FAKEFAKE" not in str(raised.value)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (client_error("NoSuchBucket"), "no-such-bucket"),
        (client_error("AccessDenied"), "denied"),
        (client_error("403"), "denied"),
        (client_error("InvalidAccessKeyId"), "unknown-key"),
        (client_error("InvalidToken"), "unknown-key"),
        (client_error("SignatureDoesNotMatch"), "wrong-secret"),
        (client_error("PermanentRedirect"), "wrong-region"),
        (client_error("AuthorizationHeaderMalformed"), "wrong-region"),
        (client_error("SlowDown"), "throttled"),
        (client_error("RequestTimeTooSkewed"), "clock"),
        (client_error("InternalError"), "server"),
        (client_error("SomethingNew"), "other"),
        (botocore_errors.NoCredentialsError(), "no-credentials"),
        (botocore_errors.EndpointConnectionError(endpoint_url="http://127.0.0.1:9"), "unreachable"),
        (botocore_errors.ConnectTimeoutError(endpoint_url="http://127.0.0.1:9"), "unreachable"),
        (botocore_errors.ReadTimeoutError(endpoint_url="http://127.0.0.1:9"), "unreachable"),
        (botocore_errors.ConnectionClosedError(endpoint_url="http://127.0.0.1:9"), "unreachable"),
        (botocore_errors.SSLError(endpoint_url="https://127.0.0.1:9", error="x"), "certificate"),
        (botocore_errors.ProfileNotFound(profile="x"), "profile"),
        (botocore_errors.ParamValidationError(report="Invalid bucket name"), "bucket-name"),
        (ValueError("Invalid endpoint: http://"), "endpoint"),
        (RuntimeError("surprise"), "other"),
    ],
)
def test_each_error_has_its_kind(error, kind):
    assert kind_of(error) == kind
    assert isinstance(problem(error, PLACE), InputError) == (kind in INPUT_KINDS)


FORMS = json.loads((CASES / "010" / "expected.json").read_text())["other_error_forms"]


@pytest.mark.parametrize("name", [*FORMS, "ExpiredToken"])
def test_every_form_of_an_expired_sign_in_says_to_sign_in_again(name):
    errors = [client_error(name, Message="FAKEFAKEFAKE", **{"Token-0": "FAKEFAKEFAKE"})]
    if hasattr(botocore_errors, name):
        fields = {"provider": "sso", "error_msg": "FAKEFAKEFAKE"}
        errors.append(getattr(botocore_errors, name)(**fields))
    for error in errors:
        sentence = str(problem(error, PLACE))
        assert "aws sso login" in sentence
        assert "FAKEFAKEFAKE" not in sentence
        assert "Token-0" not in sentence


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("kind", sorted({*KINDS.values(), "other"}))
def test_each_kind_has_a_sentence_in_each_language(kind, language, monkeypatch):
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    name = next((name for name, found in KINDS.items() if found == kind), "Unheard.Of")
    sentence = str(problem(client_error(name), PLACE, "http://user:FAKEFAKE@127.0.0.1:9?token=FAKEFAKE"))
    assert sentence
    assert "FAKEFAKE" not in sentence
    assert "{" not in sentence
    assert f"store.{kind}" in catalogue(language)


def test_a_code_that_is_no_plain_name_is_not_repeated():
    assert "FAKE/" not in str(problem(client_error("FAKE/FAKE=="), PLACE))


def test_a_malformed_endpoint_is_wrong_input():
    with pytest.raises(InputError) as raised:
        connect(StoreOptions("127.0.0.1:8333"))
    assert raised.value.message_id == "store.endpoint"


def test_an_unknown_profile_is_wrong_input(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(InputError) as raised:
        connect(StoreOptions())
    assert raised.value.message_id == "store.profile"


def test_a_signed_request_carries_the_chain_s_key_and_an_anonymous_one_none(serve):
    headers = []

    def note(request, **_):
        headers.append(request.headers.get("Authorization"))

    endpoint = serve(lambda query: (403, error_xml("AccessDenied")))
    for anonymous in (False, True):
        client = connect(StoreOptions(endpoint.url, anonymous=anonymous))
        client.meta.events.register("before-send.s3.ListObjectsV2", note)
        with pytest.raises(ClientError):
            list_page(client, PLACE)
    assert b"example-key" in headers[0]
    assert headers[1] is None


def test_requester_pays_is_said_in_the_request(serve):
    sent = []
    endpoint = serve(lambda query: (403, error_xml("AccessDenied")))
    client = connect(StoreOptions(endpoint.url))
    client.meta.events.register("before-send.s3.ListObjectsV2", lambda request, **_: sent.append(request.headers))
    with pytest.raises(ClientError):
        list_page(client, PLACE, requester_pays=True)
    assert sent[0]["x-amz-request-payer"] == b"requester"


def test_the_credential_chain_serves_a_second_client(monkeypatch):
    assert credentials()() == ("example-key", "example-secret", None)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(Exception, match="No AWS credentials") as raised:
        credentials()()
    assert raised.value.message_id == "store.no-credentials"


def test_a_second_client_reads_no_service_description_again():
    from gpufeed.observe.store import _service_models

    connect(StoreOptions("http://127.0.0.1:9"))
    models = _service_models()
    first = models.load_service_model("s3", "service-2")
    connect(StoreOptions("http://127.0.0.1:9"))
    assert _service_models().load_service_model("s3", "service-2") is first
