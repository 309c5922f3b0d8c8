"""Is the file system one already has enough?  What it has, what is short, what to change, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from examples import FILE_SYSTEM, LANGUAGE_MODEL, LINK

from gpufeed.facts import load
from gpufeed.facts.quantity import Quantity
from gpufeed.model.advise import recommend
from gpufeed.model.file_system import Comparison, compare, sized
from gpufeed.model.fsx import GIB, Need
from gpufeed.model.workload import Workload
from gpufeed.present import words

NEED = Need(holds_bytes=4e12, read_bytes_per_s=0.5e9, write_bytes_per_s=0.2e9, opens_per_s=10_000)


def verdicts(found: Comparison) -> dict[str, str]:
    return {row.id: row.verdict for row in found.rows}


def changes(found: Comparison) -> list[tuple[str, Any, Any]]:
    return [(c.id, c.parameters.get("before"), c.parameters.get("after")) for c in found.changes]


def against(need: Need = NEED, **settings: Any) -> Comparison:
    return compare(replace(FILE_SYSTEM, **settings), need, load())


def test_one_that_is_enough_says_what_is_tightest_and_what_it_costs() -> None:
    found = against()
    assert (found.enough, found.changes, found.instead) == (True, (), None)
    # 0.5 of 0.6 GB/s, 10,000 of 12,000 files/s, 3,725 of 4,800 GiB: reads and opens are at 83 %, capacity at 78 %.
    assert found.binds == "read"
    assert found.per_month_now is not None and found.per_month_now.value == pytest.approx(696.0)
    assert set(verdicts(found).values()) == {"enough", "not-asked"}
    assert verdicts(found)["efa"] == "not-asked"


def test_reads_that_are_short_are_said_by_how_much_and_mended_the_cheapest_way() -> None:
    found = against(replace(NEED, read_bytes_per_s=2e9))
    row = next(row for row in found.rows if row.id == "read")
    assert (found.enough, found.binds, row.verdict) == (False, "read", "short")
    assert row.short_by is not None and row.short_by.value == pytest.approx(1.4e9)
    assert row.note is not None and row.note.id == "fsx-burst-only"  # it bursts to 500 MB/s per TiB: 2.4 GB/s
    # 2 GB/s: 16,000 → 16,800 GiB at 125 for 2,436 USD, or the 4,800 GiB at 1,000 for 2,880; 250 and 500 are not priced.
    assert changes(found) == [("fsx-change-capacity", 4800.0, 16_800.0)]
    assert found.per_month_then is not None and found.per_month_then.value == pytest.approx(16_800 * 0.145)


def test_throughput_is_raised_where_that_is_cheaper_than_capacity() -> None:
    found = against(replace(NEED, read_bytes_per_s=4e9))
    # 32,000 → 33,600 GiB at 125 for 4,872 USD; 4,800 GiB at 1,000 give 4.8 GB/s for 2,880 USD.
    assert changes(found) == [("fsx-change-throughput", 125.0, 1000.0)]
    assert found.per_month_then is not None and found.per_month_then.value == pytest.approx(2880.0)


def test_with_efa_throughput_stays_and_capacity_grows_in_whole_servers() -> None:
    found = against(Need(4e12, read_bytes_per_s=13e9, efa=True), efa=True, capacity_gib=9600.0, mb_per_s_per_tib=1000.0)
    assert changes(found) == [("fsx-change-capacity", 9600.0, 14_400.0)]  # 13,000 in steps of 4,800


def test_few_clients_get_less_than_the_disks_give() -> None:
    # 4,800 GiB at 1,000 MB/s per TiB read 4.8 GB/s, but from its one server one client gets 5 Gbit/s.
    found = against(Need(1e12, read_bytes_per_s=2e9, clients=1), mb_per_s_per_tib=1000.0)
    read = next(row for row in found.rows if row.id == "read")
    assert isinstance(read.has, Quantity) and read.has.value == pytest.approx(0.625e9)
    assert changes(found) == [("fsx-change-capacity", 4800.0, 16_800.0)]  # four servers
    enough = against(Need(1e12, read_bytes_per_s=2e9, clients=4), mb_per_s_per_tib=1000.0)
    assert enough.enough is True
    # One instance saves for all: it gets no more, however many read.
    saving = against(Need(1e12, write_bytes_per_s=1e9, clients=8, writing_clients=1), mb_per_s_per_tib=1000.0)
    assert changes(saving) == [("fsx-change-capacity", 4800.0, 7200.0)]  # two servers


def test_more_clients_than_efa_connections_are_too_many_for_one_that_has_efa() -> None:
    # One connection each is 1,250 of 1,024: ceil(1,250 / 1,024) = 2 file systems, or one without EFA.
    large = {"efa": True, "capacity_gib": 144_000.0, "mb_per_s_per_tib": 1000.0, "metadata_iops": 72_000.0}
    many = Need(4e12, read_bytes_per_s=125e9, clients=1250, efa=True, efa_interfaces=8)
    found = against(many, **large)
    row = next(row for row in found.rows if row.id == "efa-connections")
    assert (found.enough, row.verdict, verdicts(found)["efa"]) == (False, "short", "not-asked")
    assert row.short_by is not None and row.short_by.value == 226
    assert row.note is not None and row.note.parameters == {"clients": 1250, "most": 1024, "file_systems": 2}
    assert found.changes == () and found.instead is not None and not found.instead.efa
    # 1,000 open 8,000 by default, which is a setting: one each is enough.
    fewer = against(replace(many, clients=1000), **large)
    row = next(row for row in fewer.rows if row.id == "efa-connections")
    assert (fewer.enough, row.verdict) == (True, "enough")
    assert row.note is not None and (row.note.id, row.note.parameters["interfaces"]) == ("efa-connections", 1)
    # Without EFA nothing can be mended that EFA would: the row says how many file systems it would take.
    without = against(many, **{**large, "efa": False})
    row = next(row for row in without.rows if row.id == "efa")
    assert (without.enough, row.verdict) == (True, "not-asked")
    assert row.note is not None and row.note.id == "fsx-efa-in-parts"


def test_a_link_that_does_not_export_keeps_no_checkpoint() -> None:
    importing = replace(LINK, exports=())
    found = against(links=(importing,))
    row = next(row for row in found.rows if row.id == "s3-export")
    assert (found.enough, row.verdict, found.binds) == (False, "short", "s3-export")
    assert [change.id for change in found.changes] == ["fsx-change-export"]
    assert found.per_month_then is not None and found.per_month_then.value == pytest.approx(696.0)
    # A save that is written over an older one is a change; deletions need not be exported.
    assert against(links=(replace(LINK, exports=("NEW",)),)).enough is False
    assert against(links=(importing, LINK)).enough is True
    # Without saves there is nothing to export.
    assert "s3-export" not in verdicts(against(replace(NEED, write_bytes_per_s=0.0), links=(importing,)))


def test_efa_cannot_be_added_so_another_is_named() -> None:
    found = against(Need(4e12, read_bytes_per_s=13e9, efa=True))
    assert verdicts(found)["efa"] == "short"
    assert found.changes == ()
    assert found.instead is not None
    assert (found.instead.name, found.instead.capacity_gib, found.instead.efa) == (
        "PERSISTENT_2-SSD-1000",
        14_400,
        True,
    )


def test_capacity_goes_to_the_next_that_aws_accepts_or_files_are_released() -> None:
    found = against(replace(NEED, holds_bytes=5000.0 * GIB))
    row = next(row for row in found.rows if row.id == "capacity")
    assert row.short_by is not None and row.short_by.value == pytest.approx(200.0 * GIB)
    assert row.note is not None and row.note.id == "fsx-release"  # what is linked can be read again from S3
    assert changes(found) == [("fsx-change-capacity", 4800.0, 7200.0)]


def test_an_increase_beyond_the_quota_says_to_ask_first() -> None:
    found = against(replace(NEED, holds_bytes=5000.0 * GIB), quota_gib=100_800.0, used_gib=100_000.0)
    assert [change.id for change in found.changes] == ["fsx-change-capacity", "fsx-change-quota"]
    assert found.changes[1].parameters == {"total": 102_400.0, "quota": 100_800.0}
    within = against(replace(NEED, holds_bytes=5000.0 * GIB), quota_gib=100_800.0, used_gib=98_400.0)
    assert [change.id for change in within.changes] == ["fsx-change-capacity"]


def test_more_opens_are_bought_as_metadata_iops() -> None:
    found = against(replace(NEED, opens_per_s=20_000))
    # 10,000 IOPS → 12,000, of which 6,000 come with 4,800 GiB: 696 + 6,000 × 0.055.
    assert (found.binds, changes(found)) == ("opens", [("fsx-change-metadata", 6000.0, 12_000.0)])
    assert found.per_month_then is not None and found.per_month_then.value == pytest.approx(696 + 330)


def test_iops_that_come_with_more_capacity_are_no_change_of_their_own() -> None:
    found = against(replace(NEED, holds_bytes=11_000.0 * GIB, opens_per_s=20_000))
    assert changes(found) == [("fsx-change-capacity", 4800.0, 12_000.0)]  # 12,000 GiB bring 12,000 IOPS


def test_without_a_metadata_configuration_the_opens_are_unknown_and_not_a_number() -> None:
    found = against(metadata_mode=None, metadata_iops=None)
    row = next(row for row in found.rows if row.id == "opens")
    assert (row.has, row.verdict) == (None, "unknown")
    assert found.enough is None
    # 6,000 IOPS and 12,000 opens/s are assumed for 4,800 GiB: for a hundredth of that no measurement is asked.
    for asked, verdict in ((120.0, "enough"), (121.0, "unknown")):
        found = against(replace(NEED, opens_per_s=asked), metadata_mode=None, metadata_iops=None)
        assert next(row for row in found.rows if row.id == "opens").verdict == verdict


@pytest.mark.parametrize(("mode", "note"), [(None, "fsx-opens-not-published"), ("AUTOMATIC", "fsx-opens-not-stated")])
def test_opens_without_metadata_iops_and_capacity_are_not_published_and_to_be_measured(
    mode: str | None, note: str
) -> None:
    grows = {"storage_type": "INTELLIGENT_TIERING", "capacity_gib": None, "mb_per_s_per_tib": None}
    found = against(**grows, throughput_mb_per_s=4000.0, metadata_mode=mode, metadata_iops=None)
    row = next(row for row in found.rows if row.id == "opens")
    assert (row.has, row.verdict, row.note and row.note.id) == (None, "unknown", note)
    assert row.note is not None
    said = words.reason(row.note)
    assert "AWS publishes" in said and "measure how many files it opens per second" in said
    # What it was bought with is stated: 6,000 IOPS open 12,000 files/s.
    stated = against(**grows, throughput_mb_per_s=4000.0, metadata_mode="USER_PROVISIONED", metadata_iops=6000.0)
    opens = next(row for row in stated.rows if row.id == "opens")
    assert isinstance(opens.has, Quantity) and opens.has.value == 12_000


def test_a_demand_that_is_not_known_is_never_called_enough() -> None:
    found = against(replace(NEED, read_bytes_per_s=0.0, unknown=frozenset({"read"})))
    assert verdicts(found)["read"] == "unknown"
    assert found.enough is None


def test_a_missing_link_is_made_and_a_broken_one_repaired() -> None:
    missing = against(links=())
    assert (missing.enough, [c.id for c in missing.changes]) == (False, ["fsx-change-link"])
    broken = against(links=(replace(LINK, lifecycle="MISCONFIGURED"),))
    assert (broken.enough, [c.id for c in broken.changes]) == (False, ["fsx-change-link-repair"])


def test_intelligent_tiering_cannot_be_linked_and_grows_by_itself() -> None:
    found = against(
        storage_type="INTELLIGENT_TIERING",
        capacity_gib=None,
        mb_per_s_per_tib=None,
        throughput_mb_per_s=4000.0,
        links=(),
    )
    assert verdicts(found) == {
        "available": "enough",
        "capacity": "enough",
        "read": "enough",  # 4 GB/s
        "write": "enough",
        "opens": "enough",
        "efa": "not-asked",
        "s3-link": "short",
        "replicated": "enough",
    }
    assert found.changes == () and found.instead is not None
    assert found.per_month_now is None  # billed by what lies on it


def test_scratch_is_never_enough_for_checkpoints() -> None:
    found = against(deployment_type="SCRATCH_2", mb_per_s_per_tib=None, metadata_mode=None, metadata_iops=None)
    assert verdicts(found)["replicated"] == "short"
    read = next(row for row in found.rows if row.id == "read")
    assert isinstance(read.has, Quantity)
    assert read.has.value == pytest.approx(0.96e9)  # 4,800 GiB × 200 MB/s per TiB
    assert found.instead is not None and found.instead.name.startswith("PERSISTENT_2")


def test_one_that_exports_too_slowly_needs_room_for_what_waits() -> None:
    # It was ordered with 600 MB/s and holds 5,154 GB: 4 TB and one more of 1.2 TB are too much for it.
    exporting = replace(NEED, until_exported_bytes=1.2e12, exported_in_time_at=600e6)
    assert verdicts(against(exporting))["capacity"] == "enough"
    late = against(replace(exporting, exported_in_time_at=601e6))
    # 5.2 TB are 4,843 GiB, for which it grows by one step.
    assert (late.binds, changes(late)) == ("capacity", [("fsx-change-capacity", 4800.0, 7200.0)])
    [row] = [row for row in late.rows if row.id == "capacity"]
    assert row.needs == Quantity.exact(5.2e12, "bytes")
    # Without its throughput nobody knows that it exports in time.
    unknown = against(exporting, deployment_type="SCRATCH_1", mb_per_s_per_tib=None, links=())
    assert verdicts(unknown)["capacity"] == "short"


def test_scratch_1_has_no_published_rate() -> None:
    found = against(deployment_type="SCRATCH_1", mb_per_s_per_tib=None, links=())
    assert verdicts(found)["read"] == verdicts(found)["write"] == "unknown"


def test_disks_keep_their_throughput_and_grow_in_their_own_steps() -> None:
    found = against(
        Need(4e12, read_bytes_per_s=0.1e9),
        deployment_type="PERSISTENT_1",
        storage_type="HDD",
        capacity_gib=6000.0,
        mb_per_s_per_tib=12.0,
        metadata_mode=None,
        metadata_iops=None,
        read_cache="READ",
    )
    read = next(row for row in found.rows if row.id == "read")
    assert read.note is not None and read.note.id == "fsx-read-cache"
    assert changes(found) == [("fsx-change-capacity", 6000.0, 12_000.0)]  # 0.1 GB/s at 12: 8,333 GiB, steps of 6,000
    assert found.per_month_then is None  # not priced


@pytest.mark.parametrize(
    ("lifecycle", "enough", "change"),
    [
        ("UPDATING", True, []),
        ("CREATING", False, ["fsx-change-wait"]),
        ("MISCONFIGURED", False, ["fsx-change-repair"]),
        ("FAILED", False, []),
    ],
)
def test_what_its_state_means(lifecycle: str, enough: bool, change: list[str]) -> None:
    found = against(lifecycle=lifecycle)
    assert (found.enough, [c.id for c in found.changes]) == (enough, change)
    assert (found.instead is not None) is (lifecycle == "FAILED")


def test_what_was_ordered_for_a_need_is_enough_for_it() -> None:
    facts = load()
    job = {"task": "pretraining", "instances": 4, "instance_type": "p5.48xlarge", "dataset_bytes": 20e12}
    plan = sized(Workload.from_mapping(job, facts), facts)
    assert plan.found.priced
    for one in plan.found.priced:
        ordered = replace(
            FILE_SYSTEM,
            capacity_gib=one.capacity_gib,
            mb_per_s_per_tib=one.settings["throughput_mb_per_s_per_tib"],
            metadata_iops=float(one.settings["metadata_iops"]),
            efa=one.efa,
        )
        found = compare(ordered, plan.need, facts)
        assert found.enough is True
        assert found.per_month_now == one.per_month


def test_a_demand_that_cannot_be_worked_out_is_named() -> None:
    facts = load()
    job = {"task": "pretraining", "instances": 4, "instance_type": "p5.48xlarge", "preset": "video"}
    assert "read" in sized(Workload.from_mapping(job, facts), facts).need.unknown


def test_what_stands_first_is_what_the_plan_takes() -> None:
    facts = load()
    stated = {"task": "pretraining", "instances": 1, "instance_type": "p5.48xlarge", "preset": "image-classification"}
    for epochs in (2, 10_000):  # memory serves the later epochs: the second plan is content with a smaller one
        job = Workload.from_mapping(stated | {"dataset_bytes": 1e11, "epochs": epochs, "interface": "posix"}, facts)
        plan = recommend(job, facts)
        first = sized(job, facts, plan=plan).found.all[0]
        assert first.settings == plan.option("fsx-for-lustre").supply.configuration


def test_one_for_checkpoints_alone_is_sized_for_them_and_not_for_the_data() -> None:
    facts = load()
    job = Workload.from_mapping(
        {
            "task": "pretraining",
            "instances": 4,
            "instance_type": "p5.48xlarge",
            "dataset_bytes": 20e12,
            "objects": 200_000,
            "checkpoint_bytes": 980e9,
            "checkpoint_interval": 1800,
            "restore_target": 24,
            "checkpoints_kept": 3,
            "interface": "s3-api",
            "region": "us-east-1",
            "run_hours": 730,
        },
        facts,
    )
    plan = recommend(job, facts)
    assert (plan.recommended, plan.placements["checkpoints"].option) == ("s3-standard", "fsx-for-lustre")
    found = sized(job, facts, plan=plan)
    assert (found.need.holds_bytes, found.need.opens_per_s) == (3 * 980e9, 0.0)
    assert found.found.all[0].settings == plan.placements["checkpoints"].configuration


def test_one_that_exists_is_held_against_the_tolerance_where_the_price_of_waiting_sized_the_plans_own() -> None:
    facts = load()
    traits = {**LANGUAGE_MODEL, "interface": "posix", "checkpoint_interval": 1800, "checkpoints_kept": 2}
    workload = Workload.from_mapping(traits, facts)
    found = sized(workload, facts, plan=recommend(workload, facts))
    # 980 GB by the end of 1,800 s, at 40 % of the rate: 1.36 GB/s, at which the GPUs wait for 38 % of the run.
    assert found.need.write_bytes_per_s == pytest.approx(980e9 / 1800 / 0.40)
    # Within 5 % of the run, at 80 %: 13.6 GB/s; the plan's own is as fast as pays, which is more.
    assert found.compared_by.write_bytes_per_s == pytest.approx(980e9 / 90 / 0.80)
    slow = replace(FILE_SYSTEM, capacity_gib=7200.0, mb_per_s_per_tib=250.0, metadata_mode="AUTOMATIC")
    rows = {row.id: row for row in compare(slow, found.compared_by, facts).rows}
    assert rows["write"].verdict == "short"


def test_what_is_slower_than_the_tolerance_is_enough_where_no_faster_one_pays() -> None:
    facts = load()
    # 5 % of 7,200 s ask for 3.4 GB/s, which cost more than they spare where an hour of the one instance costs USD 1.
    traits = {**LANGUAGE_MODEL, "instances": 1, "gpu_hour_price": 1.0, "interface": "posix"}
    traits |= {"checkpoint_interval": 7200, "checkpoints": "frequent", "dataset_bytes": 1e12, "objects": 10_000}
    workload = Workload.from_mapping(traits, facts)
    found = sized(workload, facts, plan=recommend(workload, facts))
    own = found.found.all[0].write_bytes_per_s.value
    assert own < 980e9 / 360 / 0.80
    assert found.compared_by.write_bytes_per_s == own
