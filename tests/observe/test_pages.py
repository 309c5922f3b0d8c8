"""Pages of ListObjectsV2: every legal key exactly, any element order, and botocore's own reading when in doubt."""

import json
from pathlib import Path

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from listing_endpoint import page_xml

from gpufeed.observe.pages import EVENT, SLOT, page_of, split_page, take_contents
from gpufeed.observe.store import Place, StoreOptions, connect, list_page

CASES = Path(__file__).parents[1] / "cases"
ROW = "<Contents><Key>{}</Key><LastModified>2026-11-01T00:00:00.000Z</LastModified><Size>{}</Size></Contents>"

pytestmark = pytest.mark.usefixtures("aws_settings")


def whole(inner):
    return f"<ListBucketResult>{inner}</ListBucketResult>".encode()


def taken(body):
    found = split_page(body)
    assert found is not None
    return found[0]


def test_each_key_of_a_url_encoded_page_is_decoded_exactly_once():
    expected = json.loads((CASES / "002" / "expected.json").read_text())
    page = taken((CASES / "002" / "page_url_encoded.xml").read_bytes())
    assert page.keys == expected["keys"]
    assert len(page) == expected["count"] == 8
    assert sum(page.sizes) == expected["bytes"] == 108


def test_boto3_hands_over_the_same_keys_and_sizes(serve):
    body = (CASES / "002" / "page_url_encoded.xml").read_bytes()
    endpoint = serve(lambda query: (200, body))
    listed = list_page(connect(StoreOptions(endpoint.url)), Place("example-train", ""))
    assert listed.page.keys == json.loads((CASES / "002" / "expected.json").read_text())["keys"]
    assert (listed.truncated, listed.token, listed.common_prefixes) == (False, None, ())
    assert endpoint.asked == [{"list-type": "2", "prefix": "", "encoding-type": "url"}]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), min_size=1, max_size=5))
def test_any_key_survives_the_way_through_a_page(keys):
    body = page_xml({"Contents": [{"Key": key, "Size": n} for n, key in enumerate(keys)]}).encode()
    page = taken(body)
    assert page.keys == keys
    assert page.sizes == list(range(len(keys)))


def test_dot_segments_long_keys_and_look_alikes_stay_what_they_are():
    rows = json.loads((CASES / "014" / "listing.json").read_text())
    expected = json.loads((CASES / "014" / "expected.json").read_text())
    page = taken(page_xml({"Contents": rows}).encode())
    assert page.keys == [row["Key"] for row in rows]
    assert [len(key.encode()) for key in page.keys] == expected["utf8_lengths"]
    assert len(set(page.keys)) == expected["count"] == 8


def test_references_of_xml_are_read_as_xml_reads_them():
    inner = ROW.format("a&amp;amp;b&#x1F;c&#13;d&lt;e&amp;copy=1", 1)
    assert taken(whole(inner)).keys == ["a&amp;b\x1fc\rd<e&copy=1"]


def test_without_url_encoding_plus_and_percent_are_literal():
    assert taken(whole(ROW.format("a+b%2Fc", 1))).keys == ["a+b%2Fc"]


def test_the_order_of_elements_and_white_space_between_them_do_not_matter():
    inner = (
        "<Name>b</Name>\n <Contents>\n<Size>1</Size><StorageClass>GLACIER</StorageClass><Key>x</Key>"
        "<LastModified>2026-11-01T00:00:00Z</LastModified></Contents>\n<IsTruncated>true</IsTruncated>\n"
        "<Contents><LastModified>2026-11-02T00:00:00Z</LastModified><Owner><ID>o</ID></Owner><Key>y</Key>"
        "<StorageClass>STANDARD</StorageClass><Size>22</Size></Contents><CommonPrefixes><Prefix>z/</Prefix></CommonPrefixes>"
    )
    page, skeleton = split_page(whole(inner))
    assert (page.keys, page.sizes, page.classes) == (["x", "y"], [1, 22], ["GLACIER", "STANDARD"])
    assert page.modified == ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"]
    assert b"<IsTruncated>true</IsTruncated>" in skeleton
    assert b"<Prefix>z/</Prefix>" in skeleton
    assert b"Contents" not in skeleton


def test_a_store_that_states_no_class_gives_none():
    assert taken(whole(ROW.format("a", 1))).classes is None


@pytest.mark.parametrize(
    "body",
    [
        whole(""),
        whole(ROW.format("a", 1))[:-5],
        b"<Error><Code>SlowDown</Code></Error>",
        whole(ROW.format("a", "many")),
        whole("<Contents><Key>a</Key></Contents>"),
        whole(ROW.format("a", 1) + "<Contents><Key>b</Key><Size>1</Size></Contents>"),
        whole(ROW.format("<![CDATA[a]]>", 1)),
        whole("<!-- <Contents> -->" + ROW.format("a", 1)),
        whole(ROW.format("a", 1)).replace(b"<Key>a", b"<Key>\xff"),
        whole(ROW.format("a", 1) + "<Contents x='1'><Key>b</Key></Contents>"),
    ],
    ids=["empty", "cut", "error", "size", "columns", "uneven", "cdata", "comment", "not-utf8", "attribute"],
)
def test_what_is_no_plain_whole_page_is_left_to_botocore(body):
    assert split_page(body) is None


def test_a_page_left_to_botocore_is_read_the_same(serve):
    body = whole("<!-- odd -->" + ROW.format("a&amp;b", 7))
    listed = list_page(connect(StoreOptions(serve(lambda query: (200, body)).url)), Place("bucket", ""))
    assert (listed.page.keys, listed.page.sizes) == (["a&b"], [7])
    assert listed.page.modified == ["2026-11-01T00:00:00+00:00"]
    assert listed.page.classes == [None]


def test_the_hook_runs_before_every_handler_of_botocore():
    """Behind them it would still be right, but each page would be parsed twice."""
    client = connect(StoreOptions("http://127.0.0.1:9"))
    order = client.meta.events._emitter._handlers.prefix_search("before-parse.s3.ListObjectsV2")
    assert order[0] is take_contents
    assert len(order) > 1


def test_botocore_sees_no_object_of_a_page_that_was_taken(serve):
    body = page_xml({"Contents": [{"Key": "a", "Size": 1}], "CommonPrefixes": ["p q/"]})
    client = connect(StoreOptions(serve(lambda query: (200, body)).url))
    response = client.list_objects_v2(Bucket="bucket", Prefix="")
    assert "Contents" not in response
    assert response[SLOT].keys == ["a"]
    assert response["CommonPrefixes"] == [{"Prefix": "p q/"}]


def test_without_the_hook_a_page_holds_the_same(serve):
    body = (CASES / "002" / "page_url_encoded.xml").read_bytes()
    endpoint = serve(lambda query: (200, body))
    plain = page_of(boto3.client("s3", endpoint_url=endpoint.url).list_objects_v2(Bucket="bucket", Prefix=""))
    fast = taken(body)
    assert (plain.keys, plain.sizes, plain.classes) == (fast.keys, fast.sizes, fast.classes)
    assert EVENT == "before-parse.*.ListObjectsV2"
