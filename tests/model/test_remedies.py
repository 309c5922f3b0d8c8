"""What a plan names as the cure of a starved option is that of the ceiling that binds there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_paths import PHOTOS, plan, reasons

from gpufeed.facts import load
from gpufeed.facts.messages import catalogue, text
from gpufeed.model.recommendation import Reason, Recommendation, Supply
from gpufeed.model.remedies import lifts

#: 64 × 8 accelerators × 1,000 samples/s, each an object: 512,000 GET/s.
HUNGRY: dict[str, Any] = {"samples_per_second_per_accelerator": 1000, "interface": "s3-api", "prefixes": 10}
#: What a first epoch or a save may be limited by, and no supply of steady reads.
OTHERS = {"limit.hydrate", "limit.import", "limit.one-file-per-rank"}


def cure(found: Recommendation) -> Reason:
    first = found.warnings[0]
    assert first.id == "not-fed-in-full" and first.grave
    lifted = first.parameters["lifted"]
    assert isinstance(lifted, Reason)
    return lifted


def test_a_starved_directory_bucket_is_told_the_limit_of_the_bucket_and_no_prefixes() -> None:
    # 512,000 of 200,000 GET/s, whatever the prefixes: 2.56 times; AWS Support raises it to at most 2,000,000
    found = plan(**HUNGRY)
    assert found.recommended == "s3-express-one-zone"
    assert found.option(found.recommended).supply.limited_by == "request-limit"
    lifted = cure(found)
    assert lifted.id == "lifted-request-limit-of-bucket"
    assert {name: it.value for name, it in lifted.parameters.items()} == {"allowed": 200_000, "raised": 2_000_000}
    over = next(warning for warning in found.warnings if warning.id == "over-bucket-limit").parameters
    assert (over["requests"].value, over["allowed"].value, over["raised"].value) == (512_000, 200_000, 2_000_000)
    assert over["factor"] == pytest.approx(2.56)
    assert "over-request-limit" not in {warning.id for warning in found.warnings}
    assert "over-bucket-limit" in reasons(found, "s3-express-one-zone")
    # 64 × 8 × 390 = 199,680 GET/s
    assert "over-bucket-limit" not in reasons(
        plan(**HUNGRY | {"samples_per_second_per_accelerator": 390}), "s3-express-one-zone"
    )


def test_a_starved_general_purpose_bucket_is_told_what_each_prefix_gives() -> None:
    found = plan(**HUNGRY, region="eu-central-1")  # which has no directory buckets
    assert found.recommended == "s3-standard"
    lifted = cure(found)
    assert (lifted.id, lifted.parameters["each"].value) == ("lifted-request-limit-of-prefixes", 5500)


def test_a_mount_is_told_the_limit_of_the_bucket_behind_it() -> None:
    files = {"samples_per_second_per_accelerator": 1000, "interface": "file-paths", "prefixes": 10}
    assert "over-request-limit" in reasons(plan(**files), "mountpoint-s3")
    renames = reasons(plan(**files, file_operations=["rename"]), "mountpoint-s3")
    assert "over-bucket-limit" in renames and "over-request-limit" not in renames


def test_jobs_that_share_a_directory_bucket_ask_it_together() -> None:
    # 3 × 102,400 GET/s of 200,000
    one = {"samples_per_second_per_accelerator": 200, "interface": "s3-api"}
    assert "over-bucket-limit" not in reasons(plan(**one), "s3-express-one-zone")
    answer = plan(**one, jobs=3).option("s3-express-one-zone")
    over = next(reason for reason in answer.reasons if reason.id == "over-bucket-limit")
    assert (over.parameters["requests"].value, over.parameters["factor"]) == (307_200, pytest.approx(1.536))


@pytest.mark.parametrize(
    "limit",
    sorted(name.removeprefix("limit.") for name in catalogue("en") if name.startswith("limit.") and name not in OTHERS),
)
@pytest.mark.parametrize("option", ["s3-standard", "s3-express-one-zone", "s3-files", "mountpoint-s3"])
def test_prefixes_are_named_as_a_cure_where_they_are_one_alone(option: str, limit: str) -> None:
    # A million bytes: S3 Files streams them from the bucket, and meets its limit.
    lifted = lifts(
        Supply(option, {}, None, None, limit), replace(PHOTOS, object_bytes=PHOTOS.object_bytes * 10), load()
    )
    assert lifted is not None
    said = text(f"reason.{lifted.id}", **dict(lifted.parameters))
    of_prefixes = limit == "request-limit" and option != "s3-express-one-zone"
    assert ("more prefixes" in said) == of_prefixes


def test_nothing_is_lifted_where_nothing_is_known_to_bind() -> None:
    assert lifts(Supply("fsx-for-lustre", {}, None, None, None), PHOTOS, load()) is None
