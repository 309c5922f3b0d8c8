"""What packing small objects into shards is worth, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.alternatives import Alternative, alternatives
from gpufeed.model.profile import PrefixProfile, bucket_of
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present import words

FACTS = load()
#: 128 accelerators × 800 samples/s × 115 kB for 72 h: 3.05 PB, 76.3 passes over 40 TB in 347,826,087 objects.
SMALL: dict[str, Any] = {
    "task": "pretraining",
    "instances": 16,
    "instance_type": "p5.48xlarge",
    "sample_bytes": 115_000,
    "samples_per_second_per_accelerator": 800,
    "dataset_bytes": 40e12,
    "objects": 347_826_087,
    "interface": "s3-api",
    "prefixes": 64,
    "run_hours": 72,
    "gpu_hour_price": 30,
    "storage_discount": 0.15,
    "region": "us-east-1",
}
PASSES = 128 * 800 * 115_000 * 72 * 3600 / 40e12
#: 156,250 shards of 256 MB, each read in 31 GETs of 8 MiB and put in 31 parts, with 2 requests around them.
SHARDS, PARTS = 156_250, 31
GET, PUT = 0.0004 * 0.85 / 1000, 0.005 * 0.85 / 1000
PACKING = 347_826_087 * GET + SHARDS * (PARTS + 2) * PUT


def asked(profile: PrefixProfile | None = None, **more: Any) -> tuple[Recommendation, dict[str, Alternative]]:
    stated = {name: value for name, value in (SMALL | more).items() if value is not None}
    plan = recommend(Workload.from_mapping(stated, FACTS), FACTS, profile=profile)
    return plan, {one.reason.id: one for one in alternatives(plan, FACTS, profile=profile)}


def total(**more: Any) -> float:
    found = asked(**more)[0].cost.total
    assert found is not None
    return found.value


def test_packing_saves_most_of_the_requests_and_costs_one_read_of_each_object_and_the_puts_of_the_shards() -> None:
    plan, found = asked()
    now = plan.cost.total
    assert plan.recommended == "s3-express-one-zone" and now is not None and round(now.value) == 3211
    one = found["instead-packed"]
    said = one.reason.parameters
    # 118.26 for the GETs and 21.91 for the PUTs
    assert said["once"].value == pytest.approx(PACKING) == pytest.approx(140.17, abs=0.01)
    # On S3 Standard 76.3 × 156,250 × 31 GETs cost 125.67; 77 listings of 157 pages 0.05; storage is as before, 71.82.
    gets, lists = PASSES * SHARDS * PARTS * GET, PASSES * 157 * PUT
    kept = 40e12 / 2**30 * 72 / 730 * 0.023 * 0.85
    assert said["option"] == "s3-standard" and said["kept"].value == pytest.approx(kept)
    assert said["then"].value == pytest.approx(gets + lists + kept + PACKING, rel=1e-6)
    assert one.saves == pytest.approx(now.value - (gets + lists + kept + PACKING), rel=1e-6)
    # What is saved without what packing costs is spread over the passes.
    assert said["passes"].value == pytest.approx(PASSES)
    assert said["after"].value == pytest.approx(PASSES * PACKING / (one.saves + PACKING))
    assert said["shards"].value == SHARDS and said["bytes"].value == 256e6
    assert words.reason(one.reason) == (
        "Pack the 347,826,087 objects, of 115 KB on average, into 156,250 shards of 256 MB (tar files as WebDataset "
        "reads them, MDS, TFRecord, Parquet): the run would cost USD 338 and not USD 3,210 (USD 3,100–3,210), "
        "USD 2,870 less, with the training reads on Amazon S3 Standard. In that is what packing costs, USD 140 for a "
        "GET of each object and the PUTs of the shards, paid for after 3.55 of the 76.3 passes over the data set; the "
        "instance that packs is not, and it has to reach S3 from the bucket’s Region and past no NAT gateway. Who "
        "keeps the objects beside the shards pays USD 71.8 more over the run. A loader then reads whole shards and "
        "shuffles them, and samples in memory: a single sample is no longer picked at random."
    )


def test_the_job_on_shards_is_the_one_that_anybody_gets_who_states_them() -> None:
    assert asked()[1]["instead-packed"].saves == pytest.approx(total() - total(objects=SHARDS) - PACKING)


def test_data_that_is_not_in_s3_yet_is_uploaded_as_shards_and_packing_costs_no_requests() -> None:
    one = asked(data_in_s3=False)[1]["instead-uploaded-in-shards"]
    # The bill has the upload: 347,826,087 PUTs and not 156,250 × 33.
    puts = (347_826_087 - SHARDS * (PARTS + 2)) * PUT
    assert one.saves == pytest.approx(total() - total(objects=SHARDS) + puts)
    assert "once" not in one.reason.parameters


def test_every_request_of_packing_is_one_to_kms_too() -> None:
    found = asked(encryption="sse-kms")[1]["instead-packed"].reason.parameters["once"]
    calls = 347_826_087 + SHARDS * (PARTS + 2)
    assert found.value == pytest.approx(PACKING + calls * 0.03 / 10_000 * 0.85)


def test_the_objects_of_a_real_prefix_count_and_not_those_that_were_stated() -> None:
    count = 347_826_087
    real = PrefixProfile(
        objects=count, bytes=count * 115_000, max_bytes=115_000, sizes={bucket_of(115_000): [count, count * 115_000]}
    )
    # 40,000,000,005,000 bytes are one shard more.
    said = asked(real, objects=40_000)[1]["instead-packed"].reason.parameters
    assert said["objects"].value == count and said["shards"].value == SHARDS + 1
    assert said["once"].value == pytest.approx(PACKING, rel=1e-5)


def test_samples_stay_as_they_are_where_each_was_an_object() -> None:
    # The preset takes an object for a sample; in a shard of 256 MB a sample is still one of 115 kB.
    images = {"preset": "image-classification", "sample_bytes": None}
    one = asked(**images)[1]["instead-packed"]
    each = 40e12 / 347_826_087
    there = total(preset="image-classification", sample_bytes=each, objects=SHARDS)
    assert one.saves == pytest.approx(total(**images) - there - PACKING)


def test_random_reads_of_whole_objects_become_shuffled_shards() -> None:
    one = asked(reads="random")[1]["instead-packed"]
    assert one.saves == pytest.approx(total(reads="random") - total(objects=SHARDS) - PACKING)


@pytest.mark.parametrize(
    "more",
    [
        {"objects": 40_000},  # shards of 1 GB
        {"objects": 4_000_000},  # 10 MB: larger than a part
        {"objects": 10_000_000, "reads": "random"},  # samples of 115 kB inside of 4 MB
        {"objects": None},  # nobody said how the data lie
        {"dataset_bytes": None},  # nor how much there is
        {"dataset_bytes": 4e7, "objects": 10},  # fewer objects than there would be shards for so many readers
        # USD 0.35 of GETs: less than an hour of an instance
        {"dataset_bytes": 1e9, "objects": 8_696, "samples_per_second_per_accelerator": 4, "run_hours": 0.5},
    ],
)
def test_what_is_packed_or_cannot_be_or_saves_too_little_is_not_to_be_packed(more: dict[str, Any]) -> None:
    assert not {"instead-packed", "instead-uploaded-in-shards"} & asked(**more)[1].keys()
