"""The goals of each kind of published row, and the page that shows what is reached."""

from __future__ import annotations

import accuracy_page
import fit_utilisation
import pytest
from reproduction import (
    Compared,
    checkpoint_sizes,
    checkpoint_transfers,
    everything,
    failures,
    flops_reported,
    images,
    not_compared,
    object_rates,
    reads,
    request_times,
    score,
    tokens,
    unseen,
)

from gpufeed.facts import load
from gpufeed.facts.place import data_directory

DEFAULT, NAMED = tokens(stack=False), tokens(stack=True)
WHOLE_RUNS = "Meta model cards, whole runs"


def test_every_shared_row_is_compared_or_said_why_not() -> None:
    compared = {one.row.id for group in everything().values() for one in group}
    left = {row_id for ids in not_compared().values() for row_id in ids}
    assert (len(compared), len(left), compared & left) == (231, 18, set())


@pytest.mark.parametrize("source", [source for source in DEFAULT if source != WHOLE_RUNS])
def test_tokens_per_second_from_the_traits_alone_are_within_15_percent_of_each_source(source: str) -> None:
    reached = score(DEFAULT[source])
    assert reached.median_error <= 0.15 and reached.share_inside >= 0.85 and reached.widest <= 3.0


@pytest.mark.parametrize("source", list(NAMED))
def test_tokens_per_second_of_a_named_stack_are_within_15_percent_of_each_source(source: str) -> None:
    reached = score(NAMED[source])
    assert reached.median_error <= 0.15 and reached.share_inside >= 0.85 and reached.widest <= 3.0


def test_whole_runs_with_their_downtime_lie_inside_the_range_but_not_near_its_middle() -> None:
    # Not reached: 17 % against 15 %.  See docs/accuracy.md for what bounds it.
    reached = score(DEFAULT[WHOLE_RUNS])
    assert reached.share_inside == 1.0 and reached.widest <= 3.0
    assert 0.15 < reached.median_error < 0.19


def test_a_source_that_nothing_was_fitted_on_lies_inside_the_range() -> None:
    reached = score(unseen())
    # 22, 13 and 17 % below, 3, 36 and 40 % above: the median is between the two middle ones.
    assert reached.inside == reached.count == 6
    assert reached.median_error == pytest.approx(0.2, abs=0.03)


def test_runs_that_report_flops_only_lie_inside_the_range() -> None:
    assert score(flops_reported()).share_inside == 1.0


def test_images_and_latents_lie_inside_their_ranges() -> None:
    assert all(score(group).share_inside == 1.0 for group in images().values())


def test_reads_of_mlperf_storage_follow_from_their_utilisation() -> None:
    assert score(reads()).count == 68 and score(reads()).median_error <= 0.03


def test_checkpoint_sizes_are_within_one_percent_of_exact_byte_counts() -> None:
    found = checkpoint_sizes()
    assert len(found) == 3 and max(one.error for one in found) <= 0.01


def test_checkpoint_times_lie_inside_the_range_of_the_provisioned_rate() -> None:
    reached = score(checkpoint_transfers())
    assert reached.count == 15 and reached.share_inside >= 0.8 and reached.widest <= 4.0


@pytest.mark.parametrize("found", [object_rates(), request_times()], ids=["throughput", "time"])
def test_reads_of_objects_lie_between_the_plans_of_aws_and_the_best_published_fit(found: list[Compared]) -> None:
    reached = score(found)
    assert reached.share_inside >= 0.85 and reached.widest <= 4.0


def test_the_best_rate_of_one_request_is_the_least_squares_fit_of_published_medians() -> None:
    # (time to last byte − time to first byte) = size / rate over 4, 8 and 16 MB: Σ size² / (Σ size × time)
    timed = [one.row.inputs for one in object_rates() if "ttlb_ms_p50" in one.row.inputs]
    sizes = [inputs["object_MB"] * 2**20 for inputs in timed]
    seconds = [(inputs["ttlb_ms_p50"] - inputs["ttfb_ms_p50"]) / 1000 for inputs in timed]
    rate = sum(size**2 for size in sizes) / sum(size * time for size, time in zip(sizes, seconds, strict=True))
    assert len(timed) == 10
    assert load().options["s3-standard"].known("per_request_read").high == pytest.approx(rate, rel=0.005)


def test_published_times_between_failures_lie_inside_the_range_of_a_job_of_their_size() -> None:
    assert score(failures()).share_inside == 1.0


def test_the_committed_shares_are_what_the_fit_gives() -> None:
    committed = (data_directory() / "utilisation.toml").read_text(encoding="utf-8")
    assert committed == fit_utilisation.toml(), "run: python tests/published/fit_utilisation.py"
    share = load().model.known("mixture_of_experts_share")
    assert share.value == pytest.approx(fit_utilisation.mixture_share(), abs=0.001)


def test_the_page_says_what_the_model_does() -> None:
    written = accuracy_page.PAGE.read_text(encoding="utf-8")
    assert written == accuracy_page.page(), "run: python tests/published/accuracy_page.py"
