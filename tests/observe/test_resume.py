"""Going on with a scan: from any point it was left at, and from any way it ended, every key is counted once."""

import json
from pathlib import Path

import pytest
from listing_endpoint import error_xml, listing, replaying

from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.model.profile import PrefixProfile
from gpufeed.observe import scan as module
from gpufeed.observe.scan import scan
from gpufeed.observe.store import StoreOptions

CASES = Path(__file__).parents[1] / "cases"
URL = "s3://example-train/d/"

pytestmark = pytest.mark.usefixtures("aws_settings")

LAYOUTS = {
    "apart": [f"d/{c}/{s}/{n}.bin" for c in "abc" for s in "xy" for n in range(700)],
    "flat": [f"d/{n}.bin" for n in range(3100)],
    "mixed": [f"d/big/{n}" for n in range(2500)] + [f"d/{n}" for n in range(30)] + ["d//", "d//x", "d/big", "d/"],
    "tried, then flat": [f"d/a/{n:04d}" for n in range(1100)] + [f"d/f{n:03d}/x" for n in range(900)] + ["d/zz"],
    "tried, then apart": [f"d/c{c:02d}/{n:03d}" for c in range(20) for n in range(300)],
    "nested": [f"d/a/b/c/{n}" for n in range(2200)] + ["d/zz", "d/a/zz", "d/a/b/zz"],
    "more folders than a table shows": [f"d/{folder:04d}/{n}" for folder in range(300) for n in range(5)],
}


def scanned(endpoint, url=URL, **options):
    return scan(url, options=StoreOptions(endpoint.url), **options)


def profile_of(keys):
    profile = PrefixProfile("d/")
    for key in keys:
        profile.add_many([key], [len(key)], ["2026-11-01T00:00:00.000Z"], ["STANDARD"])
    return profile


def on_disk(state):
    return json.loads(json.dumps(state, allow_nan=False))


@pytest.fixture
def states(monkeypatch):
    """Every state a scan goes through, as a kill at that moment would leave it: ``checkpoint=states.append``."""
    monkeypatch.setattr(module, "KEEP_EVERY", 0.0)
    monkeypatch.setattr(module, "KEEP_SHARE", 1e9)
    seen = []

    class States(list):
        def append(self, state):
            seen.append(on_disk(state))
            super().append(seen[-1])

    return States()


def last_state(endpoint, **options):
    kept = []
    result = scanned(endpoint, checkpoint=kept.append, **options)
    return result, on_disk(kept[-1])


@pytest.mark.parametrize("name", LAYOUTS)
def test_from_every_state_of_a_scan_the_rest_gives_the_whole(serve, states, name):
    keys = LAYOUTS[name]
    endpoint = serve(listing(keys))
    whole = scanned(endpoint, concurrency=4, checkpoint=states.append)
    assert whole.complete and whole.profile == profile_of(keys)
    assert len(states) >= 2  # the one before the first request, and those between pages
    trials = [state for state in states if state["splits"]]
    assert bool(trials) == name.startswith("tried")
    for state in [*states[:: max(len(states) // 6, 1)], *trials[::6]]:
        resumed = scanned(endpoint, concurrency=4, resume_from=state)
        assert (resumed.complete, resumed.keys) == (True, len(keys))
        assert resumed.profile == whole.profile
        assert resumed.last_key == whole.last_key


def test_going_on_repeats_no_request_that_was_answered(serve, states):
    endpoint = serve(listing([f"d/{n:05d}" for n in range(9500)]))
    scanned(endpoint, checkpoint=states.append)
    middle = next(state for state in states if state["keys"] == 4000)
    endpoint.asked.clear()
    resumed = scanned(endpoint, resume_from=middle)
    assert endpoint.asked[0]["continuation-token"] == "d/03999"
    assert len(endpoint.asked) == 6  # 5,500 keys
    assert resumed.requests == 4 + 6
    assert resumed.seconds >= middle["seconds"]


@pytest.mark.parametrize("limit", [400, 1000, 1500])
@pytest.mark.parametrize("name", ["apart", "mixed", "tried, then flat"])
def test_limit_after_limit_lists_every_key_once(serve, name, limit):
    keys = LAYOUTS[name]
    endpoint = serve(listing(keys))
    state, counts = None, []
    for _ in range(len(keys)):
        kept = []
        result = scanned(endpoint, limit=limit, resume_from=state, checkpoint=kept.append)
        counts.append(result.keys)
        if result.complete:
            break
        assert result.incomplete_because.message_id == "scan.limit"
        state = on_disk(kept[-1])
    assert counts == [*range(limit, len(keys), limit), len(keys)]
    assert result.profile == profile_of(keys)


def test_after_a_limit_inside_the_first_page_the_rest_is_listed_in_parallel(serve):
    keys = LAYOUTS["tried, then apart"]
    endpoint = serve(listing(keys))
    _, state = last_state(endpoint, limit=10)
    resumed = scanned(endpoint, resume_from=state)
    assert resumed.profile == profile_of(keys)
    assert {query["prefix"] for query in endpoint.asked} >= {f"d/c{c:02d}/" for c in range(20)}


def test_an_expired_sign_in_is_gone_on_from_and_the_state_holds_no_secret(serve):
    expected = json.loads((CASES / "010" / "expected.json").read_text())
    pages = json.loads((CASES / "010" / "pages_then_error.json").read_text())
    kept = []
    first = scan("s3://example-train/p/", options=StoreOptions(serve(replaying(pages)).url), checkpoint=kept.append)
    assert first.failure.message_id == "store.expired"
    assert not [secret for secret in (*expected["must_not_contain"], "example-secret") if secret in json.dumps(kept)]
    rest = serve(replaying([{"Contents": [{"Key": "p/0100.jpg", "Size": 7}]}]))
    resumed = scan("s3://example-train/p/", options=StoreOptions(rest.url), resume_from=on_disk(kept[-1]))
    assert rest.asked[0]["continuation-token"] == pages[1]["NextContinuationToken"]
    assert (resumed.complete, resumed.keys, resumed.profile.bytes) == (True, 101, 2_000_007)
    assert resumed.last_key == "p/0100.jpg"


def test_a_refused_sub_prefix_is_all_that_is_listed_again(serve):
    keys = [f"d/{c}/{n:04d}" for c in "abc" for n in range(1500)]
    first, state = last_state(serve(listing(keys, refused=lambda query: query["prefix"] == "d/b/")))
    assert (first.complete, first.keys) == (False, 3000)
    endpoint = serve(listing(keys))
    resumed = scanned(endpoint, resume_from=state)
    assert resumed.profile == profile_of(keys)
    assert {query["prefix"] for query in endpoint.asked} == {"d/b/"}


@pytest.mark.parametrize("name", ["same_token", "truncated_without_token", "token_cycle"])
def test_a_store_that_goes_round_in_circles_counts_nothing_twice_in_a_second_scan(serve, name):
    expected = json.loads((CASES / "006" / "expected.json").read_text())[name]
    pages = json.loads((CASES / "006" / f"{name}.json").read_text())
    endpoint = serve(replaying(pages))
    kept = []
    options = StoreOptions(endpoint.url)
    first = scan("s3://example-train/p/", options=options, checkpoint=kept.append)
    second = scan("s3://example-train/p/", options=options, resume_from=on_disk(kept[-1]))
    assert first.keys == second.keys == expected["count"]


def test_a_failure_before_any_answer_keeps_what_earlier_parts_found(serve):
    _, state = last_state(serve(listing(LAYOUTS["flat"])), limit=1000)
    resumed = scanned(serve(lambda query: (403, error_xml("AccessDenied"))), resume_from=state)
    assert resumed.to_json()["objects"] == 1000
    assert resumed.failure.message_id == "store.denied"


@pytest.mark.parametrize("rows", [[], [{"Key": "d/a", "Size": 1}]])
def test_a_kill_after_the_last_page_leaves_nothing_to_ask(serve, states, rows):
    endpoint = serve(replaying([{"Contents": rows}]))
    scanned(endpoint, checkpoint=states.append)
    resumed = scanned(endpoint, resume_from=states[-1])
    assert len(endpoint.asked) == 1
    assert (resumed.complete, resumed.to_json()["objects"]) == (True, len(rows))


# ---- what is refused -----------------------------------------------------------------------------------------------


def refusal(endpoint, state, url=URL):
    with pytest.raises(InputError) as raised:
        scanned(endpoint, url, resume_from=state)
    assert endpoint.asked == []
    return raised.value


def test_the_state_of_another_url_is_refused(serve):
    _, state = last_state(serve(listing(LAYOUTS["flat"])), limit=10)
    error = refusal(serve(listing([])), state, "s3://example-train/e/")
    assert error.message_id == "scan.other-url"
    assert "s3://example-train/d/" in str(error) and "s3://example-train/e/" in str(error)


def damaged(state):
    yield from ({key: value for key, value in state.items() if key != left_out} for left_out in state)
    yield state | {"schema_version": 2}
    yield state | {"keys": state["keys"] + 1}  # the profile would belong to other cursors
    yield state | {"keys": "many"}
    yield state | {"requests": -1}
    yield state | {"seconds": float("nan")}
    yield state | {"last_key": 5}
    yield state | {"ranges": [{"prefix": "d/"}]}
    yield state | {"ranges": [state["ranges"][0] | {"prefix": 7}]}
    yield state | {"ranges": [state["ranges"][0] | {"seen": ["x"]}]}
    yield state | {"splits": [1]}
    yield state | {"profile": {key: value for key, value in state["profile"].items() if key != "sketch"}}
    yield state | {"profile": None}
    yield state["profile"]
    yield {}


def test_a_damaged_state_is_refused_before_any_request(serve):
    _, state = last_state(serve(listing(LAYOUTS["flat"])), limit=10)
    endpoint = serve(listing([]))
    found = {refusal(endpoint, document).message_id for document in damaged(state)}
    assert found <= {"scan.bad-state", "profile.unreadable", "document.wrong-kind"}


# ---- where the state cannot be kept --------------------------------------------------------------------------------


def failing_from(call):
    calls = []

    def checkpoint(state):
        calls.append(state["keys"])
        if len(calls) >= call:
            raise GpufeedError("document.not-written", path="x.json", reason="disk full")

    return checkpoint


def test_a_place_that_cannot_be_written_is_wrong_input_before_any_request(serve):
    endpoint = serve(listing([]))
    with pytest.raises(InputError, match="disk full"):
        scanned(endpoint, checkpoint=failing_from(1))
    assert endpoint.asked == []


def test_a_disk_that_fills_up_later_is_a_warning_and_the_scan_goes_on(serve, states):
    result = scanned(serve(listing(LAYOUTS["flat"])), checkpoint=failing_from(2))
    assert (result.complete, result.keys) == (True, 3100)
    assert "disk full" in str(result.warnings[0])


def test_states_are_written_seldom_and_never_twice_the_same(serve, monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock) * 0.001)
    kept = []
    scanned(serve(listing(LAYOUTS["flat"])), limit=3000, checkpoint=kept.append)
    assert [state["keys"] for state in kept] == [0, 3000]


def test_a_page_in_flight_when_it_stops_is_listed_by_the_next_scan(serve):
    from gpufeed.observe.runner import Control

    control, answer = Control(), listing(LAYOUTS["flat"])

    def stopping(query):
        if "continuation-token" in query:
            control.stopping.set()
        return answer(query)

    kept = []
    endpoint = serve(stopping)
    first = scanned(endpoint, control=control, checkpoint=kept.append)
    assert first.incomplete_because.message_id == "scan.stopped"
    resumed = scanned(endpoint, resume_from=on_disk(kept[-1]))
    assert resumed.profile == profile_of(LAYOUTS["flat"])


def test_a_scan_of_a_foreign_s3_server_goes_on_exactly():
    import boto3
    from moto.moto_server.threaded_moto_server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        options = StoreOptions(f"http://{host}:{port}")
        client = boto3.client("s3", endpoint_url=options.endpoint_url)
        client.create_bucket(Bucket="example-resumed")
        for n in range(25):
            client.put_object(Bucket="example-resumed", Key=f"d/{n % 3}/é {n}+.bin", Body=b"x" * n)
        url, state, found = "s3://example-resumed/d/", None, []
        while not found or not found[-1].complete:
            kept = []
            found.append(scan(url, options=options, limit=7, resume_from=state, checkpoint=kept.append))
            state = on_disk(kept[-1])
        assert [result.keys for result in found] == [7, 14, 21, 25]
        assert found[-1].profile == scan(url, options=options).profile
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("seconds",), 10**400),
        (("ranges", 0, "seen"), [float("inf")]),
        (("ranges", 0, "token"), "\ud800"),
        (("keys",), 10**400),
    ],
)
def test_a_state_with_numbers_or_tokens_that_cannot_be_is_refused(path, value):
    kept = []
    with pytest.raises(InputError):
        scan("s3://b-b/d/", checkpoint=lambda state: kept.append(state) or (_ for _ in ()).throw(GpufeedError("x")))
    document = kept[0]
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(InputError, match="holds no unfinished scan"):
        scan("s3://b-b/d/", resume_from=document)
