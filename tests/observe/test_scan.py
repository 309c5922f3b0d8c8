"""Scanning a prefix: exact on any store, partial results labelled, errors in one sentence without secrets."""

import json
import random
import threading
from pathlib import Path

import pytest
from listing_endpoint import error_xml, listing, page_xml, replaying

from gpufeed.facts.errors import InputError
from gpufeed.model.profile import PrefixProfile
from gpufeed.observe import ranges
from gpufeed.observe import scan as module
from gpufeed.observe.runner import Control, Run
from gpufeed.observe.scan import scan
from gpufeed.observe.store import StoreOptions
from gpufeed.sample import sample_objects

CASES = Path(__file__).parents[1] / "cases"

pytestmark = pytest.mark.usefixtures("aws_settings")


def case(number, name):
    return json.loads((CASES / number / f"{name}.json").read_text())


def scanned(endpoint, url="s3://example-train/", **options):
    return scan(url, options=StoreOptions(endpoint.url), **options)


def profile_of(keys, prefix):
    profile = PrefixProfile(prefix)
    for key in keys:
        profile.add_many([key], [len(key)], ["2026-11-01T00:00:00.000Z"], ["STANDARD"])
    return profile


# ---- exactness -----------------------------------------------------------------------------------------------------


def layouts():
    rng = random.Random(7)
    yield "deep and wide", [f"d/{c}/{s}/{n}.bin" for c in "abc" for s in "xy" for n in range(700)]
    yield "one folder", [f"d/{n}.bin" for n in range(3100)]
    yield "mixed", [f"d/big/{n}" for n in range(2500)] + [f"d/{n}" for n in range(30)] + ["d//", "d//x", "d/big", "d/"]
    yield "random", ["d/" + "".join(rng.choice("ab/😀 +%") for _ in range(rng.randint(1, 12))) for _ in range(4000)]
    yield "large and tiny", [f"d/{c}/{n}" for c in "a~" for n in range(1800)] + [f"d/f{n}/{n}" for n in range(300)]
    yield "one child below another", [f"d/a/b/c/{n}" for n in range(2200)] + ["d/zz", "d/a/zz", "d/a/b/zz"]


@pytest.mark.parametrize("keys", [pytest.param(sorted(set(keys)), id=name) for name, keys in layouts()])
@pytest.mark.parametrize("prefix", ["d/", "d", ""])
def test_a_parallel_scan_finds_every_key_once(serve, keys, prefix):
    result = scanned(serve(listing(keys)), f"s3://example-train/{prefix}", concurrency=4)
    assert result.complete
    assert result.keys == len(keys)
    assert result.profile == profile_of(keys, prefix)
    assert result.ranges == ()
    assert result.last_key == max(keys)


def test_a_scan_is_exact_whatever_the_listing_order(serve):
    """Directory buckets list in no order, some stores in the order of their tree."""
    keys = [f"d/{c}/{n}" for c in "abcd" for n in range(1500)]
    random.Random(3).shuffle(keys)

    def answer(query):
        start, prefix = int(query.get("continuation-token", 0)), query["prefix"]
        found = [key for key in keys if key.startswith(prefix)]
        if "delimiter" in query:
            entries = list(dict.fromkeys(key[: key.find("/", len(prefix)) + 1] or key for key in found))
        else:
            entries = found
        more = start + 1000 < len(entries)
        shown = entries[start : start + 1000]
        page = {"IsTruncated": more, "CommonPrefixes": [name for name in shown if name.endswith("/")]}
        page["Contents"] = [{"Key": key, "Size": len(key)} for key in shown if not key.endswith("/")]
        return 200, page_xml(page | ({"NextContinuationToken": str(start + 1000)} if more else {}))

    result = scanned(serve(answer), "s3://example-train/d/")
    assert result.complete
    assert result.profile == profile_of(keys, "d/")


@pytest.mark.parametrize("seed", range(8))
def test_splits_of_splits_lose_nothing_and_count_nothing_twice(serve, monkeypatch, seed):
    """The same decisions as on millions of keys, on pages of ten."""
    for name, value in {"FULL_PAGE": 10, "KEYS_PER_CHILD": 1 + seed % 4, "SAMPLE": 2}.items():
        monkeypatch.setattr(ranges, name, value)
    rng = random.Random(seed)
    names = ["a", "b", "é", "😀", " ", "%2F", ""]
    keys = {"d/" + "/".join(rng.choice(names) for _ in range(rng.randint(1, 5))) + str(n % 40) for n in range(600)}
    result = scanned(serve(listing(sorted(keys), page_size=10)), "s3://example-train/d/", concurrency=3)
    assert result.complete
    assert result.keys == len(keys)
    assert result.profile == profile_of(keys, "d/")


def test_large_sub_prefixes_are_listed_apart_and_no_page_twice(serve):
    keys = [f"d/{c}/{n:04d}" for c in "abcde" for n in range(2000)]
    endpoint = serve(listing(keys))
    result = scanned(endpoint, "s3://example-train/d/")
    # The first page flat, the split, then two pages for each of five sub-prefixes.
    assert result.requests == len(endpoint.asked) == 1 + 1 + 5 * 2
    assert result.profile.objects == 10_000
    assert [query["prefix"] for query in endpoint.asked].count("d/c/") == 2


def test_small_folders_are_listed_flat(serve):
    keys = [f"d/{folder:04d}/{n}" for folder in range(500) for n in range(10)]
    endpoint = serve(listing(keys))
    result = scanned(endpoint, "s3://example-train/d/")
    assert result.requests == len(endpoint.asked) == 5
    assert result.profile.objects == 5000


def test_one_large_folder_before_many_tiny_ones_does_not_cost_a_request_each(serve):
    keys = [f"d/a/{n:04d}" for n in range(1500)] + [f"d/f{n:04d}/x" for n in range(3000)] + [f"d/{n}" for n in range(9)]
    endpoint = serve(listing(keys))
    result = scanned(endpoint, "s3://example-train/d/")
    assert result.complete
    assert result.profile == profile_of(keys, "d/")
    # First page, split, sixteen sampled folders, then flat to the end: four more pages.
    assert result.requests == len(endpoint.asked) == 1 + 1 + 16 + 4


def test_many_large_folders_are_all_listed_apart(serve):
    keys = [f"d/c{c:02d}/{n:03d}" for c in range(40) for n in range(300)]
    endpoint = serve(listing(keys))
    result = scanned(endpoint, "s3://example-train/d/")
    assert result.profile == profile_of(keys, "d/")
    assert result.requests == len(endpoint.asked) == 1 + 1 + 40


def test_a_prefix_is_a_plain_string_prefix(serve):
    result = scanned(serve(listing(["data/p000123.jpg", "data/p001.jpg"])), "s3://example-train/data/p000")
    assert (result.complete, result.profile.objects) == (True, 1)


@pytest.mark.parametrize("number", ["002", "014"])
def test_every_legal_key_is_found(serve, number):
    keys = case("002", "expected")["keys"] if number == "002" else [r["Key"] for r in case("014", "listing")]
    result = scanned(serve(listing(keys)))
    assert result.complete
    assert result.profile == profile_of(keys, "")
    assert result.profile.objects == 8


def test_folder_markers_are_not_data(serve):
    expected = case("004", "expected")
    document = scanned(serve(replaying([{"Contents": case("004", "listing")}])), "s3://example-train/imgs").to_json()
    assert document["folder_markers"] == len(expected["directory_markers"]) == 2
    assert document["objects"] == expected["data_object_count"] == 5
    assert document["zero_byte_objects"] == 2
    assert document["bytes"] == expected["data_bytes"] == 71168
    assert document["size_quantiles"]["p50"] == expected["median_size_of_nonzero"] == 34816
    assert any("2 objects are empty" in warning for warning in document["warnings"])


def test_more_than_a_thousand_keys_in_a_page_are_all_counted(serve):
    result = scanned(serve(listing([f"p/{n}" for n in range(4500)], page_size=4000)), "s3://example-train/p/")
    assert (result.complete, result.profile.objects) == (True, 4500)


# ---- stores at fault -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["same_token", "truncated_without_token", "token_cycle", "empty_page_then_more"])
def test_a_faulty_token_never_loops_loses_or_counts_twice(serve, name):
    expected = case("006", "expected")[name]
    result = scanned(serve(replaying(case("006", name))), "s3://example-train/p/")
    assert result.complete == (expected["status"] == "complete")
    assert result.profile.objects == expected["count"]
    assert (result.incomplete_because is None) == result.complete
    if "bytes" in expected:
        assert result.profile.bytes == expected["bytes"]


def test_expired_credentials_keep_what_was_listed_and_leak_nothing(serve):
    expected = case("010", "expected")
    result = scanned(serve(replaying(case("010", "pages_then_error"))), "s3://example-train/p/")
    document = json.dumps(result.to_json()) + repr(result.failure) + str(result.failure)
    assert not result.complete
    assert result.profile.objects == expected["objects_seen"] == 100
    assert result.profile.bytes == expected["bytes_seen"] == 2_000_000
    assert result.last_key == expected["last_key"] == "p/0099.jpg"
    assert "aws sso login" in result.to_json()["incomplete_because"]
    assert not [secret for secret in expected["must_not_contain"] if secret in document]
    assert [(r.prefix, r.last_key) for r in result.ranges] == [("p/", "p/0099.jpg")]


def test_a_busy_store_is_asked_again_and_the_repeats_are_told(serve, monkeypatch):
    monkeypatch.setattr(module, "FIRST_BACKOFF", 0.001)
    slow = {"error": {"http": 503, "Code": "SlowDown"}}
    page = {"Contents": [{"Key": "p/a", "Size": 1}]}
    endpoint = serve(replaying([slow, slow, slow, page]))
    result = scanned(endpoint, "s3://example-train/p/")
    assert (result.complete, result.profile.objects) == (True, 1)
    assert result.requests == len(endpoint.asked) == 4
    assert result.retries == 3
    assert "3 requests had to be repeated" in str(result.warnings[0])


def test_a_store_that_stays_busy_ends_the_scan_with_a_sentence(serve, monkeypatch):
    monkeypatch.setattr(module, "FIRST_BACKOFF", 0.001)
    result = scanned(serve(lambda query: (503, error_xml("SlowDown"))), "s3://example-train/p/")
    assert result.failure.message_id == "store.throttled"
    assert "lower concurrency" in str(result.incomplete_because)


def test_an_unreachable_endpoint_is_said_at_once():
    result = scan("s3://example-train/p/", options=StoreOptions("http://127.0.0.1:9"))
    assert result.failure.message_id == "store.unreachable"
    assert "http://127.0.0.1:9" in str(result.failure)
    assert result.retries == 1


# ---- permissions ---------------------------------------------------------------------------------------------------


def only(prefix):
    return lambda query: not query.get("prefix", "").startswith(prefix)


def test_permission_below_one_prefix_is_enough(serve):
    keys = [f"team-a/{c}/{n}" for c in "ab" for n in range(1500)]
    allowed = case("012", "expected")["allowed_call"]["Prefix"]
    endpoint = serve(listing(keys, refused=only(allowed)))
    result = scanned(endpoint, case("012", "expected")["scan_of"])
    assert (result.complete, result.profile.objects) == (True, 3000)
    assert endpoint.other == []


def test_a_refused_prefix_is_access_denied_and_never_no_objects(serve):
    endpoint = serve(listing(["team-b/x"], refused=only("team-a/")))
    result = scanned(endpoint, case("012", "expected")["scan_of_2"])
    document = result.to_json()
    assert result.failure.message_id == "store.denied"
    assert document["complete"] is False
    assert "Access denied to list s3://example-shared/team-b/" in document["incomplete_because"]
    assert document["objects"] is document["bytes"] is document["folder_markers"] is None
    assert endpoint.other == []


def test_a_sub_prefix_refused_half_way_leaves_a_result_marked_incomplete(serve):
    keys = [f"team-a/{c}/{n:04d}" for c in "abc" for n in range(1500)]
    endpoint = serve(listing(keys, refused=lambda query: query["prefix"] == "team-a/b/"))
    result = scanned(endpoint, "s3://example-shared/team-a/")
    assert not result.complete
    assert "s3://example-shared/team-a/b/" in str(result.incomplete_because)
    assert result.profile.objects == 3000
    assert [r.prefix for r in result.ranges] == ["team-a/b/"]


def test_a_flat_listing_refused_half_way_keeps_its_pages(serve):
    keys = [f"team-a/{n:04d}" for n in range(2500)]
    endpoint = serve(listing(keys, refused=lambda query: "continuation-token" in query))
    result = scanned(endpoint, "s3://example-shared/team-a/")
    assert (result.complete, result.profile.objects, result.last_key) == (False, 1000, "team-a/0999")
    assert result.failure.message_id == "store.denied"


def test_a_policy_that_allows_only_the_flat_listing_is_enough(serve):
    keys = [f"team-a/{c}/{n:04d}" for c in "abc" for n in range(1500)]
    endpoint = serve(listing(keys, refused=lambda query: "delimiter" in query))
    result = scanned(endpoint, "s3://example-shared/team-a/")
    assert result.complete
    assert result.profile == profile_of(keys, "team-a/")


# ---- nothing there, limits, Stop -----------------------------------------------------------------------------------


def test_an_empty_prefix_is_complete_and_warned_of(serve):
    result = scanned(serve(listing([])), "s3://example-train/nowhere/")
    document = result.to_json()
    assert (document["complete"], document["objects"], document["bytes"], document["last_key"]) == (True, 0, 0, None)
    assert len(document["warnings"]) == 1
    assert document["warnings"][0].startswith("Nothing under this prefix: s3://example-train/nowhere/.")


@pytest.mark.parametrize(("limit", "complete"), [(1, False), (1000, False), (1500, False), (2500, True), (9999, True)])
def test_a_limit_ends_exactly_there_with_its_reason(serve, limit, complete):
    keys = [f"p/{c}/{n:04d}" for c in "abcde" for n in range(500)]
    result = scanned(serve(listing(keys)), "s3://example-train/p/", limit=limit)
    assert result.profile.objects == min(limit, 2500)
    assert result.complete is complete
    assert result.failure is None
    assert result.last_key == keys[min(limit, 2500) - 1]
    assert complete or f"limit of {limit:,} keys" in str(result.incomplete_because)


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": -5}, {"concurrency": 0}])
def test_numbers_below_one_are_wrong_input(options):
    with pytest.raises(InputError, match=r"must be 1 or more|from 1 to 1024"):
        scan("s3://example-train/", **options)


def test_a_billion_requests_at_once_are_wrong_input():
    with pytest.raises(InputError, match="from 1 to 1024, not 1000000000"):
        scan("s3://example-train/", concurrency=10**9)


def test_stop_in_the_middle_of_a_request_keeps_whole_pages(serve):
    asked, release = threading.Event(), threading.Event()
    pages = replaying(
        [
            {"IsTruncated": True, "NextContinuationToken": "1", "Contents": [{"Key": "p/a", "Size": 5}]},
            {"Contents": [{"Key": "p/b", "Size": 7}]},
        ]
    )

    def answer(query):
        if "continuation-token" in query:
            asked.set()
            release.wait(20)
        return pages(query)

    endpoint = serve(answer)
    run = Run(lambda control: scanned(endpoint, "s3://example-train/p/", control=control)).start()
    assert asked.wait(10)
    run.stop()
    result = run.result(2)
    release.set()
    assert run.stopped
    assert (result.complete, result.profile.objects, result.profile.bytes) == (False, 1, 5)
    assert "Stopped after 1 keys" in str(result.incomplete_because)
    assert result.ranges[0].token == "1"


def test_progress_counts_the_keys_listed(serve):
    seen = []
    control = Control(lambda done, total, message: seen.append((done, total)))
    scanned(serve(listing([f"p/{n}" for n in range(2500)])), "s3://example-train/p/", control=control)
    assert {(1000, None), (2000, None), (2500, None)} <= set(seen)
    assert seen[-1] == (2500, None)


# ---- what it hands on ----------------------------------------------------------------------------------------------


def test_the_json_of_a_scan_gives_its_profile_back(serve):
    keys = [f"p/{c}/{n}.jpg" for c in "ab" for n in range(10)]
    result = scanned(serve(listing(keys)), "s3://example-train/p/")
    document = json.loads(json.dumps(result.to_json()))
    assert PrefixProfile.from_json(document) == result.profile
    assert document["url"] == "s3://example-train/p/"
    assert document["listing"]["requests"] == 1
    assert document["listing"]["cost"] is None


def test_archived_objects_and_tiering_are_pointed_out(serve):
    rows = [{"Key": f"a/{name}", "Size": 5, "StorageClass": name} for name in ("GLACIER", "INTELLIGENT_TIERING")]
    result = scanned(serve(replaying([{"Contents": rows}])), "s3://example-train/a/")
    assert result.to_json()["not_readable_now"] == {"objects": 1, "bytes": 5}
    assert [warning.message_id for warning in result.warnings] == ["scan.archived", "scan.intelligent-tiering"]


def test_the_sample_of_the_embedded_server_is_counted_exactly(demo_environment):
    objects = list(sample_objects())
    for url, prefix in zip(demo_environment.urls, ("", *demo_environment.prefixes), strict=True):
        result = scan(url, options=StoreOptions(demo_environment.endpoint_url))
        below = [item.size for item in objects if item.key.startswith(prefix)]
        assert result.complete
        assert (result.profile.objects, result.profile.bytes) == (len(below), sum(below))


@pytest.fixture(scope="module")
def moto():
    from moto.moto_server.threaded_moto_server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_a_scan_of_a_foreign_s3_server_is_exact(moto):
    import boto3

    client = boto3.client("s3", endpoint_url=moto)
    client.create_bucket(Bucket="example-train")
    keys = [*case("002", "expected")["keys"], *(row["Key"] for row in case("014", "listing")), "a//b", "/x", "d/"]
    # An HTTP client removes dot segments from its own URL, and this server routes no line breaks.
    keys = [key for key in keys if "\n" not in key and not {".", ".."} & set(key.split("/"))]
    for key in keys:
        client.put_object(Bucket="example-train", Key=key, Body=b"x" * len(key))
    result = scan("s3://example-train/", options=StoreOptions(moto))
    assert result.complete
    assert result.keys == len(keys)
    assert result.profile.bytes == sum(len(key) for key in keys)
    missing = scan("s3://no-such-bucket-here/", options=StoreOptions(moto))
    assert missing.failure.message_id == "store.no-such-bucket"
    assert missing.to_json()["objects"] is None
