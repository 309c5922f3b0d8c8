"""The decision record: run again it answers the same, and it names whatever differs, old beside new."""

from __future__ import annotations

import copy
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpufeed.facts import Facts, load, read
from gpufeed.facts.errors import InputError
from gpufeed.facts.place import data_directory
from gpufeed.model import flip
from gpufeed.model.measurement import Conditions, Measurement, Record
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.record import Change, recheck, record
from gpufeed.model.workload import Workload

JOB: dict[str, Any] = {"task": "full-fine-tuning", "instances": 8, "instance_type": "p5.48xlarge"}
JOB |= {"preset": "image-classification", "interface": "any", "run_hours": 24, "region": "us-east-1"}
JOB |= {"dataset_bytes": 150e9, "objects": 1_281_167, "checkpoints": "rare"}


@pytest.fixture(autouse=True)
def one_trait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flip points of the instances alone: the search over all traits has its own tests, and takes a second a time."""
    every = flip.traits
    monkeypatch.setattr(flip, "traits", lambda *plan: [one for one in every(*plan) if one.name == "instances"])


def made(**more: Any) -> dict[str, Any]:
    """A record as it comes back from a file; ``more`` is what was seen, or other traits of the job."""
    seen = {name: more.pop(name) for name in ("profile", "measurement") if name in more}
    back: dict[str, Any] = json.loads(_written(json.dumps(more)) if not seen else _record(JOB | more, **seen))
    return back


@cache
def _written(more: str) -> str:
    return _record(JOB | json.loads(more))


def _record(job: dict[str, Any], **seen: Any) -> str:
    workload = Workload.from_mapping(job, load())
    written = record(workload, load(), made="2026-11-30T12:00:00+00:00", version="0.1.0", **seen)
    return json.dumps(written, allow_nan=False)


@pytest.fixture
def changed_facts(tmp_path: Path) -> Facts:
    """Today's facts with a dearer FSx for Lustre (0.6 → 0.9), a faster S3 (30 → 20 ms) and a newer price list."""
    folder = copied(tmp_path)
    _replace(folder / "options.toml", "[s3-standard]\nfirst_byte_latency = { value = 30", 30, 20)
    before = "PERSISTENT_2-SSD-1000"
    price = load().price("fsx-for-lustre", "storage", "us-east-1", before)
    assert price is not None
    text = (folder / "prices.toml").read_text(encoding="utf-8")
    blocks = text.split("[[price]]")
    [found] = [b for b in blocks if f'"{before}"' in b and '"storage"' in b and 'region = "us-east-1"' in b]
    dearer = found.replace(f"value = {price.value:g}", "value = 0.9")
    assert dearer != found
    (folder / "prices.toml").write_text(text.replace(found, dearer), encoding="utf-8")
    return read(folder)


def copied(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for file in data_directory().glob("*.toml"):
        shutil.copy(file, folder)
    return folder


def _replace(file: Path, line: str, old: int, new: int) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(line) == 1
    file.write_text(text.replace(line, line.replace(f"value = {old}", f"value = {new}")), encoding="utf-8")


def test_asked_again_with_the_same_facts_nothing_has_changed() -> None:
    found = recheck(made(), load(), version="0.1.0")
    assert (found.changes, found.answer_changed) == ((), False)


def test_a_scan_and_a_measurement_are_kept_whole() -> None:
    profile = PrefixProfile("images/")
    profile.add_many([f"images/{i}.jpg" for i in range(2000)], [115_000 + i for i in range(2000)])
    seen = Record("read", 4e9, object_bytes=116_000, concurrency=64, nodes=8, cache="cold", sustained=True, seconds=60)
    measured = Measurement("gpufeed", "ok", (seen,), "storage", conditions=Conditions(option="s3-standard"))
    kept = made(profile=profile, measurement=measured)
    assert kept["answer"]["training_reads.opinion_of_measurement"] == "s3-standard"
    assert recheck(kept, load(), version="0.1.0").changes == ()
    # 2,000 objects of 115,000 + i bytes: their mean is 115,000 + 1,999 / 2
    assert kept["figures"]["demand.object_bytes"]["value"] == 115_999.5


def test_every_number_used_stands_there_with_unit_source_and_date() -> None:
    kept = made()
    latency = load().options["s3-standard"]["first_byte_latency"]
    assert latency.quantity is not None
    assert kept["facts"]["options.s3-standard.first_byte_latency"] == {
        **latency.quantity.to_json(), "unit": "seconds", "basis": "published",
        "sources": list(latency.sources), "as_of": latency.as_of,
    }  # fmt: skip
    assert kept["prices"]["s3-standard.get.us-east-1"]["value"] == 0.0004
    assert kept["prices"]["s3-standard.get.us-east-1"]["unit"] == "USD/1000 requests"
    cited = {source for row in (*kept["facts"].values(), *kept["prices"].values()) for source in row["sources"]}
    assert cited <= kept["sources"].keys()
    # What the question did not touch is not there: another machine, or another Region, but for prices by which a type
    # of file system without a price here may be cheaper.
    assert not [name for name in kept["facts"] if name.startswith("instances.") and "p5.48xlarge" not in name]
    elsewhere = {name for name in kept["prices"] if "us-east-1" not in name}
    assert "fsx-for-lustre.storage.PERSISTENT_2-SSD-250.us-west-2" in elsewhere
    assert {name.split(".PERSISTENT_")[0] for name in elsewhere} == {"fsx-for-lustre.storage"}


def test_changed_facts_prices_and_figures_are_named_with_old_and_new(changed_facts: Facts) -> None:
    found = recheck(made(), changed_facts, version="0.2.0")
    by_name = {(change.section, change.name): change for change in found.changes}
    latency = by_name["facts", "options.s3-standard.first_byte_latency"]
    assert (latency.then["value"], latency.now["value"]) == (0.03, 0.02)
    price = by_name["prices", "fsx-for-lustre.storage.PERSISTENT_2-SSD-1000.us-east-1"]
    assert (price.then["value"], price.now["value"]) == (0.6, 0.9)
    # One request of 117,080.755… bytes at 90 MB/s: 30 ms + 1.3009 ms before, 20 ms + 1.3009 ms now.
    request = by_name["figures", "options.s3-standard.supply.request_seconds"]
    size = 150e9 / 1_281_167
    assert request.then["value"] == pytest.approx(0.03 + size / 90e6)
    assert request.now["value"] == pytest.approx(0.02 + size / 90e6)
    assert (found.version_then, found.version_now) == ("0.1.0", "0.2.0")
    assert {section for section, _ in by_name} <= {"answer", "figures", "checkpoints", "flips", "facts", "prices"}


def test_the_checkpoint_plan_is_kept_with_what_it_rests_on() -> None:
    kept = made(model_parameters=70e9, checkpoint_interval=1800)
    # 70e9 parameters x 14 bytes = 980 GB, one file from each of 8 x 8 ranks.
    assert kept["checkpoints"]["size"]["value"] == 980e9
    assert (kept["checkpoints"]["writers"], kept["checkpoints"]["bytes_per_file"]) == (64, 980e9 / 64)
    # 16,384 GPUs fail every 3.09 h unexpectedly (419 interruptions in 54 days); 64 GPUs 256 times more rarely.
    published = load().model.parts["failures"].parts["llama3-16384-h100"].known("mean_time_to_failure").value
    here = kept["checkpoints"]["failures.llama3-16384-h100.definition.here"]["value"]
    assert here == pytest.approx(published * 256)
    assert "model.failures.llama3-16384-h100.mean_time_to_failure" in kept["facts"]
    assert kept["checkpoints"]["s3-standard.restore.everything"]["value"] == pytest.approx(
        8 * kept["checkpoints"]["s3-standard.restore.shards"]["value"]
    )
    kept["checkpoints"]["fsx-for-lustre.verdict"] = "ruled-out"
    [change] = recheck(kept, load(), version="0.1.0").changes
    assert (change.section, change.name, change.then) == ("checkpoints", "fsx-for-lustre.verdict", "ruled-out")


def test_a_flip_point_that_has_moved_is_named(tmp_path: Path) -> None:
    # A small cluster ends at 16 instances in the published rule; one that ended at 32 would be left at 33.
    kept, folder = made(), copied(tmp_path)
    _replace(folder / "rules.toml", 'instances_to = { value = 16, unit = "instances", basis = "published", source = '
             '"aws-china-summit-2026", note = "\'About\'; 16 is also where multi-node begins." }', 16, 32)  # fmt: skip
    then = {"at": 17.0, "option": "s3-files", "because": "flip-beside-reads"}
    assert kept["flips"]["instances.checkpoints.above"] == then
    assert kept["flips"]["instances.searched"] == [1.0, 1024.0]
    found = recheck(kept, read(folder), version="0.1.0")
    moved = Change("flips", "instances.checkpoints.above", then, {**then, "at": 33.0})
    assert (moved in found.changes, found.answer_changed) == (True, False)


def test_a_section_that_an_older_record_is_without_is_said_and_not_compared() -> None:
    kept = made()
    del kept["flips"], kept["checkpoints"]
    found = recheck(kept, load(), version="0.1.0")
    assert (found.changes, found.not_kept) == ((), ("checkpoints", "flips"))


def test_a_changed_answer_is_said_per_role() -> None:
    kept = made()
    kept["answer"]["training_reads.option"] = "s3-standard"
    now = made()["answer"]["training_reads.option"]
    found = recheck(kept, load(), version="0.1.0")
    assert found.answer_changed
    assert found.changes == (Change("answer", "training_reads.option", "s3-standard", now),)


def test_what_is_new_and_what_is_gone_have_nothing_on_the_other_side() -> None:
    kept = made()
    kept["facts"]["model.forgotten"] = {"value": 1}
    gone = kept["warnings"].popitem()
    changes = recheck(kept, load(), version="0.1.0").changes
    assert Change("facts", "model.forgotten", {"value": 1}, None) in changes
    assert Change("warnings", gone[0], None, gone[1]) in changes
    assert len(changes) == 2


def test_what_is_merely_not_looked_up_any_more_has_not_changed() -> None:
    kept = made()
    # Another Region's price and another option's fact, as they are today: no evaluation of this job looks them up.
    price = next(row for row in load().prices if row.id == "s3-standard.get.ap-northeast-1")
    row = {"value": 0.00037, "low": 0.00037, "high": 0.00037, "unit": "USD/1000 requests", "basis": "published"}
    kept["prices"][price.id] = row | {"sources": list(price.sources), "as_of": price.as_of}
    kept["prices"]["s3-standard.put.ap-northeast-1"] = row  # whose price is another
    forgotten = kept["facts"].pop("options.s3-standard.first_byte_latency")
    found = recheck(kept, load(), version="0.1.0")
    assert forgotten["value"] == 0.03
    assert found.no_longer_used == {"facts": (), "prices": ("s3-standard.get.ap-northeast-1",), "sources": ()}
    assert found.newly_used == {"facts": ("options.s3-standard.first_byte_latency",), "prices": (), "sources": ()}
    [change] = found.changes
    assert (change.section, change.name) == ("prices", "s3-standard.put.ap-northeast-1")
    assert (change.then["value"], change.now["value"]) == (0.00037, 0.0047)


@pytest.mark.parametrize(
    "damage",
    [
        {"schema_version": 2},
        {"schema_version": None},
        {"made": 5},
        {"facts": []},
        {"answer": None},
        {"workload": "x"},
        {"workload": {"task": "lora"}},
        {"profile": {}},
        {"profile": []},
        {"measurement": 5},
        {"measurement": {"tool": "none"}},
    ],
)
def test_what_is_no_record_is_refused_in_one_sentence(damage: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        recheck(copy.deepcopy(made()) | damage, load(), version="0.1.0")
    assert "\n" not in str(refused.value)


def test_the_same_question_gives_the_same_document() -> None:
    assert json.dumps(made()) == json.dumps(made())


def test_watching_what_is_looked_up_changes_no_answer() -> None:
    watched = load().watched()
    assert record(Workload.from_mapping(JOB, load()), watched, made="x", version="y") == record(
        Workload.from_mapping(JOB, load()), load(), made="x", version="y"
    )
    assert watched.options["s3-standard"].known("first_byte_latency").value == 0.03
    assert "options.s3-standard.first_byte_latency" in watched.facts_seen


def test_a_plan_that_leaves_gpus_waiting_is_kept_with_what_would_lift_that() -> None:
    job = {"task": "pretraining", "instances": 4, "instance_type": "p5.48xlarge", "preset": "mlperf-unet3d"}
    kept = json.loads(_record(job | {"interface": "s3-api", "run_hours": 10.0}))
    lifted = kept["warnings"]["not-fed-in-full"]["lifted"]
    assert lifted["id"].startswith("lifted-") and set(lifted) == {"id", "parameters"}
