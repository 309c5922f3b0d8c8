"""The probe: on the real embedded server, on stores that misbehave, and on files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from listing_endpoint import Answer, Endpoint, Query, error_xml, listing
from moto.server import ThreadedMotoServer

from gpufeed import demo
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.observe import machine, objects, reading, step
from gpufeed.observe import probe as module
from gpufeed.observe.budget import Ledger, RequestPrices, prices_of
from gpufeed.observe.probe import limited_by, probe
from gpufeed.observe.runner import Control
from gpufeed.observe.step import SLICES, sustained
from gpufeed.observe.store import StoreOptions

MIB = 1024 * 1024


def ids(measurement: Measurement) -> set[str]:
    return {note.message_id for note in measurement.warnings}


# ---- the real server -------------------------------------------------------------------------------------------------


def test_a_sweep_over_real_objects_is_this_machines_memory_and_never_a_tier(demo_environment: demo.Demo) -> None:
    found = probe("s3://gpufeed-sample/images/", concurrency=(1, 4), seconds=0.5)
    assert (found.tool, found.status, found.failure) == ("gpufeed", "ok", None)
    assert [record.concurrency for record in found.sweep] == [1, 4]
    assert len(found.records) == 1
    assert found.records[0] in found.sweep
    assert found.conditions.same_machine
    assert found.conditions.sampled_objects == 3000  # all images but the three empty ones
    assert {record.cache for record in found.sweep} == {"warm"}
    assert "probe.same-machine" in ids(found)
    assert found.limited_by in ("client", "unknown")
    assert found.used_as("s3-standard", found.records[0].object_bytes, 1) == "shown-only"
    assert Measurement.from_json(found.to_json()) == found


def test_each_steps_figures_agree_with_each_other(demo_environment: demo.Demo) -> None:
    (record,) = probe("s3://gpufeed-sample/images/", concurrency=(4,), seconds=0.5).records
    assert record.requests and record.ops_per_s and record.bytes_per_s and record.request_bytes and record.seconds
    assert record.latency and record.latency.count == record.requests
    assert record.seconds == 0.5
    assert record.ops_per_s == pytest.approx(record.requests / 0.5)
    assert record.bytes_per_s == pytest.approx(record.request_bytes * record.ops_per_s)
    assert len(record.series) == SLICES
    assert sum(rate for _, rate in record.series) / SLICES == pytest.approx(record.bytes_per_s)
    assert record.p50 and record.p99 and record.p50 <= record.p99
    assert (record.errors, record.throttled, record.retries, record.nodes) == (0, 0, 0, 1)
    assert record.client_cpu_seconds_per_request and record.client_cpu_seconds_per_request > 0


def test_large_objects_are_read_in_parts_of_eight_mebibytes(demo_environment: demo.Demo) -> None:
    (record,) = probe("s3://gpufeed-sample/llm-tokens/", concurrency=(2,), seconds=0.5).records
    assert record.request_bytes == 8 * MIB
    assert record.object_bytes == 16 * MIB
    assert record.working_set_bytes == 4 * 16 * MIB


def test_objects_below_sixteen_mebibytes_are_read_whole(demo_environment: demo.Demo) -> None:
    source = reading.open_target("s3://gpufeed-sample/video-shards/", StoreOptions(), 1, threading.Event())
    assert min(source.units, key=lambda unit: unit.name) == reading.Unit("video-shards/shard-000000.tar", 8 * MIB, None)
    assert len(source.units) == 16


def test_the_sample_of_a_large_prefix_comes_from_all_its_sub_prefixes_and_is_the_same_each_time(
    demo_environment: demo.Demo,
) -> None:
    first, second = (
        reading.open_target("s3://gpufeed-sample/", StoreOptions(), 7, threading.Event()) for _ in range(2)
    )
    assert first.units == second.units
    assert {unit.name.split("/")[0] for unit in first.units} == {"images", "video-shards", "llm-tokens", "checkpoints"}


def test_no_request_is_sent_that_could_pass_the_budget(
    demo_environment: demo.Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "WARM_UP_SECONDS", 0.0)  # every read counts, however fast the machine
    prices = RequestPrices(get=1 / 1024, list=2 / 1024)
    found = probe("s3://gpufeed-sample/video-shards/", concurrency=(1,), seconds=60, budget=40 / 1024, prices=prices)
    assert found.status == "partial"
    assert "probe.budget-reached" in ids(found)
    sent, cost = found.conditions.requests_sent, found.conditions.cost
    # One list, then reads until the next, with its three repeats, could pass the budget: 35 fit.
    assert sent == 1 + 35
    assert cost == (2 + 35) / 1024


def test_a_budget_of_nothing_measures_nothing(demo_environment: demo.Demo) -> None:
    prices = RequestPrices(get=0.001, list=0.0)
    found = probe("s3://gpufeed-sample/video-shards/", seconds=1, budget=0.0, prices=prices)
    assert (found.status, found.records) == ("no-measurement", ())
    assert found.failure and found.failure.message_id == "probe.budget-too-small"


def test_stop_keeps_what_was_measured_and_says_that_it_is_partial(demo_environment: demo.Demo) -> None:
    def report(done: float, total: float | None, message: str) -> None:
        assert total == 2 * (60 + 1)  # two steps with their warm-ups
        assert message == "4"
        if done > 1.5:  # half a second of counted time
            control.stopping.set()

    control = Control(report)
    found = probe("s3://gpufeed-sample/images/", concurrency=(4, 16), seconds=60, control=control)
    assert found.status == "partial"
    assert "probe.stopped" in ids(found)
    (record,) = found.records
    assert record.requests and record.seconds and record.seconds < 30
    assert not record.sustained


# ---- what cannot be measured -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "status", "failure"),
    [
        ("s3://gpufeed-sample/nothing-here/", "no-measurement", "probe.nothing-there"),
        ("s3://gpufeed-no-such-bucket/", "failed", "store.no-such-bucket"),
    ],
)
def test_a_wrong_prefix_or_bucket_says_so(target: str, status: str, failure: str, demo_environment: demo.Demo) -> None:
    found = probe(target, seconds=0.2)
    assert (found.status, found.records, found.limited_by) == (status, (), "unknown")
    assert found.failure and found.failure.message_id == failure


def test_a_wrong_secret_gives_one_sentence_without_it(
    demo_environment: demo.Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-and-private")
    found = probe("s3://gpufeed-sample/", seconds=0.2)
    assert found.status == "failed"
    assert found.failure and found.failure.message_id == "store.wrong-secret"
    assert "wrong-and-private" not in str(found.to_json())


def test_an_endpoint_where_nothing_listens_is_unreachable(aws_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FIRST_BACKOFF", 0.001)
    found = probe("s3://bucket/", StoreOptions(endpoint_url="http://127.0.0.1:9"))
    assert found.status == "failed"
    assert found.failure and found.failure.message_id == "store.unreachable"


LISTED = listing(["one", "two"])
Serve = Callable[[Callable[[Query], Answer]], Endpoint]


def test_reads_that_are_denied_fail_at_once_and_name_the_permission(aws_settings: None, serve: Serve) -> None:
    def answer(query: Query) -> Answer:
        if query.get("list-type") == "2":
            return LISTED(query)
        return 403, error_xml("AccessDenied")

    endpoint = serve(answer)
    found = probe("s3://bucket/", StoreOptions(endpoint_url=endpoint.url), concurrency=(1, 4, 16), seconds=60)
    assert found.status == "failed"
    assert found.failure and found.failure.message_id == "probe.failed.denied"
    assert "s3:GetObject" in str(found.failure)
    assert found.conditions.requests_sent == 1 + 4  # after four failures and no success one client gives up


def test_throttled_reads_are_repeated_counted_and_shown(
    aws_settings: None, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "FIRST_BACKOFF", 0.001)
    turn: Iterator[int] = iter(range(10**9))

    def answer(query: Query) -> Answer:
        if query.get("list-type") == "2":
            return LISTED(query)
        return (503, error_xml("SlowDown")) if next(turn) % 2 == 0 else (200, "12345")

    endpoint = serve(answer)
    found = probe("s3://bucket/", StoreOptions(endpoint_url=endpoint.url), concurrency=(1,), seconds=0.5)
    (record,) = found.records
    assert record.errors == 0
    assert record.requests and record.throttled == record.retries == record.requests  # each read took two requests
    assert "probe.throttled" in ids(found)


@pytest.fixture
def moto(aws_settings: None) -> Iterator[Any]:
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
    client.create_bucket(Bucket="bucket")
    yield client
    server.stop()


def test_keys_the_client_cannot_read_and_archived_objects_are_counted_not_skipped_silently(moto: Any) -> None:
    for key in ("data/plain", "data//double", "data/marker/"):
        moto.put_object(Bucket="bucket", Key=key, Body=b"12345")
    moto.put_object(Bucket="bucket", Key="data/cold", Body=b"12345", StorageClass="DEEP_ARCHIVE")
    moto.put_object(Bucket="bucket", Key="data/empty", Body=b"")
    options = StoreOptions(endpoint_url=moto.meta.endpoint_url)
    found = probe("s3://bucket/data/", options, concurrency=(1,), seconds=0.3)
    assert found.status == "ok"
    assert (found.conditions.sampled_objects, found.conditions.unreadable_keys) == (1, 2)
    assert {"probe.unreadable-keys", "probe.archived"} <= ids(found)
    for target, why in (("data//", "probe.nothing-but-unreadable"), ("data/cold", "probe.nothing-but-archived")):
        nothing = probe(f"s3://bucket/{target}", options, concurrency=(1,), seconds=0.3)
        assert nothing.status == "no-measurement"
        assert nothing.failure and nothing.failure.message_id == why


def test_a_budget_for_a_store_without_known_prices_is_refused(moto: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    moto.put_object(Bucket="bucket", Key="key", Body=b"12345")
    monkeypatch.setattr(reading, "is_this_machine", lambda _: False)
    options = StoreOptions(endpoint_url=moto.meta.endpoint_url)
    with pytest.raises(InputError) as caught:
        probe("s3://bucket/", options, seconds=0.2, budget=1.0)
    assert caught.value.message_id == "probe.not-priced"
    unpriced = probe("s3://bucket/", options, concurrency=(1,), seconds=0.2)
    assert unpriced.conditions.cost is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"concurrency": ()}, "probe.bad-concurrency"),
        ({"concurrency": (0,)}, "probe.bad-concurrency"),
        ({"concurrency": (2000,)}, "probe.bad-concurrency"),
        ({"seconds": 0}, "probe.bad-seconds"),
        ({"seconds": float("nan")}, "probe.bad-seconds"),
        ({"budget": -1}, "probe.bad-budget"),
        ({"target": "/no/such/path"}, "probe.no-path"),
        ({"target": "file://elsewhere/data"}, "probe.file-url"),
        ({"target": "https://bucket.s3.amazonaws.com/key"}, "store.https"),
        ({"target": "gs://bucket/prefix"}, "store.url"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        probe(**({"target": "/"} | wrong))
    assert caught.value.message_id == message
    assert str(caught.value)


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "with space"
    (folder / "sub").mkdir(parents=True)
    for number in range(20):
        (folder / "sub" / f"{number}.bin").write_bytes(bytes(5000))
    (folder / "empty").touch()
    (folder / "large").write_bytes(bytes(17 * MIB))
    return folder


def test_a_path_and_its_file_url_read_the_same_files(files: Path) -> None:
    for target in (str(files), f"file://{files}".replace(" ", "%20")):
        found = probe(target, concurrency=(1, 4), seconds=0.3)
        assert found.status == "ok"
        assert found.conditions.client == "pread"
        assert found.conditions.sampled_objects == 21
        assert found.records[0].target == str(files)
        assert found.records[0].working_set_bytes == 20 * 5000 + 17 * MIB
        assert found.conditions.cost == 0.0


def test_one_large_file_is_read_in_parts(files: Path) -> None:
    source = reading.open_target(str(files / "large"), StoreOptions(), 1, threading.Event())
    assert sorted((unit.start, unit.length) for unit in source.units) == [
        (0, 8 * MIB),
        (8 * MIB, 8 * MIB),
        (16 * MIB, 1 * MIB),
    ]
    assert [source.read(unit).nbytes for unit in source.units] == [unit.length for unit in source.units]


def test_a_folder_without_data_gives_no_measurement(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    found = probe(str(tmp_path))
    assert found.status == "no-measurement"
    assert found.failure and found.failure.message_id == "probe.nothing-in-path"


def test_a_file_system_in_memory_is_labelled_as_this_machines_memory(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "mount_of", lambda _: machine.Mount("tmpfs", "/", "tmpfs"))
    found = probe(str(files), concurrency=(1,), seconds=0.3)
    assert found.conditions.same_machine
    assert found.records[0].cache == "warm"
    assert "probe.same-machine" in ids(found)


def test_reads_that_the_page_cache_answers_are_warm(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "mount_of", lambda _: machine.Mount("/dev/x", "/", "ext4"))
    monkeypatch.setattr(reading._FileReader, "cached_share", lambda _: 0.5)
    found = probe(str(files), concurrency=(1,), seconds=0.3)
    assert found.records[0].cache == "warm"
    assert "probe.page-cache" in ids(found)
    assert found.used_as("instance-nvme", None, 1) == "shown-only"


# ---- evidence --------------------------------------------------------------------------------------------------------

QUIET = Record("read", 1e9, concurrency=16, client_cpu_share=0.2, client_thread_share=0.3, throttled=0)


@pytest.mark.parametrize(
    ("best", "sweep", "conditions", "limit"),
    [
        (replace(QUIET, client_cpu_share=0.9), (QUIET,), Conditions(), "client"),
        (replace(QUIET, client_thread_share=0.9), (QUIET,), Conditions(), "client"),
        (QUIET, (QUIET,), Conditions(network_bytes_per_s=1.17e9), "network"),
        (QUIET, (QUIET,), Conditions(network_bytes_per_s=1.18e9), "unknown"),
        (QUIET, (replace(QUIET, concurrency=4, bytes_per_s=0.95e9), QUIET), Conditions(), "storage"),
        (QUIET, (replace(QUIET, concurrency=4, bytes_per_s=0.5e9), QUIET), Conditions(), "unknown"),
        (replace(QUIET, throttled=3), (QUIET,), Conditions(), "storage"),
        (QUIET, (replace(QUIET, concurrency=4), QUIET), Conditions(same_machine=True), "unknown"),
    ],
)
def test_what_limited_the_rate_follows_from_the_evidence(
    best: Record, sweep: tuple[Record, ...], conditions: Conditions, limit: str
) -> None:
    assert limited_by(best, sweep, conditions) == limit


def test_a_rate_is_sustained_when_its_second_half_is_within_a_fifth_of_the_first() -> None:
    assert sustained([10, 10, 8, 8])
    assert sustained([10, 10, 12, 12])
    assert not sustained([10, 10, 7, 8])
    assert not sustained([0, 0, 5, 5])


def test_the_ledger_sets_aside_what_repeats_could_cost() -> None:
    ledger = Ledger(1.0, RequestPrices(get=0.1, list=0.05, byte=0.001), attempts=4)
    ledger.spend_lists(2)
    assert ledger.spent == pytest.approx(0.1)
    assert ledger.reserve(100)  # 4 × (0.1 + 0.1)
    assert ledger.spent == pytest.approx(0.9)
    assert not ledger.reserve(0)  # 4 × 0.1 would pass 1.0
    assert ledger.refused
    ledger.settle(100, attempts=1)
    assert ledger.spent == pytest.approx(0.3)


def test_published_prices_are_per_request() -> None:
    prices = prices_of("s3-standard", "us-east-1")
    assert prices == RequestPrices(get=0.0004 / 1000, list=0.005 / 1000, byte=0.0, currency="USD")
    assert prices_of("s3-standard", "nowhere-1") is None


def test_the_network_cards_speed_is_read_where_it_is_known(tmp_path: Path) -> None:
    routes = tmp_path / "route"
    routes.write_text("Iface\tDestination\tGateway\neth1\t000200C0\t0\neth0\t00000000\t010200C0\n")
    (tmp_path / "eth0").mkdir()
    speed = tmp_path / "eth0" / "speed"
    speed.write_text("25000\n")
    assert machine.network_bytes_per_s(routes, tmp_path) == 3.125e9
    speed.write_text("-1\n")
    assert machine.network_bytes_per_s(routes, tmp_path) is None
    assert machine.network_bytes_per_s(tmp_path / "none", tmp_path) is None


def test_a_mount_tells_which_option_it_is(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/vda / ext4 rw 0 0\n"
        "10.0.0.1@tcp:/abc /fsx lustre rw 0 0\n"
        "mountpoint-s3 /data\\040sets fuse rw 0 0\n"
        "tmpfs /memory tmpfs rw 0 0\n"
    )

    def option(path: str) -> str | None:
        mount = machine.mount_of(Path(path), mounts)
        assert mount
        return mount.option

    assert option("/fsx/a") == "fsx-for-lustre"
    assert option("/data sets/a") == "mountpoint-s3"
    assert option("/fsxother") is None
    memory = machine.mount_of(Path("/memory/a"), mounts)
    assert memory and memory.in_memory


def test_only_this_machines_addresses_are_its_own() -> None:
    assert machine.is_this_machine("http://127.0.0.1:8333")
    assert machine.is_this_machine("http://localhost")
    assert not machine.is_this_machine("http://192.0.2.1:80")  # an address for documentation, never assigned


def test_every_sentence_of_the_probe_can_be_rendered() -> None:
    parameters = {"target": "t", "keys": 1, "objects": 1, "errors": 1, "kinds": "k", "throttled": 1}
    parameters |= {"concurrency": 1, "budget": 1, "currency": "USD"}
    source = Path(module.__file__).read_text()
    for kind in ("missing", "denied", "signed-out", "region", "throttled", "unreachable", "server", "key"):
        assert str(GpufeedError(f"probe.failed.{kind}", **parameters))
    for name in ("probe.budget-too-small", "probe.stopped-early", "probe.too-short"):
        assert f'"{name}"' in source
        assert str(GpufeedError(name, **parameters))
