"""Numbers and names as people read them, in both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpufeed.facts.quantity import Quantity
from gpufeed.model.recommendation import FlipPoint, Reason
from gpufeed.present import words

INFINITE = float("inf")


@pytest.mark.parametrize(
    ("word", "value", "english", "simplified_chinese"),
    [
        (words.number, 0.01234, "0.0123", "0.0123"),
        (words.number, 1.0, "1", "1"),
        (words.number, 12_500, "12,500", "12,500"),
        (words.number, INFINITE, "∞", "∞"),
        (words.count, 3_007, "3,007", "3,007"),
        (words.size, 0, "0 bytes", "0 字节"),
        (words.size, 1, "1 byte", "1 字节"),
        (words.rate, 0, "0 bytes/s", "0 字节/秒"),
        (words.size, 13_500, "13.5 KB", "13.5 KB"),
        (words.size, 999_600, "1 MB", "1 MB"),
        (words.size, 1024**4, "1.1 TB", "1.1 TB"),
        (words.binary_size, 1024**4, "1 TiB", "1 TiB"),
        (words.rate, 2.4e9, "2.4 GB/s", "2.4 GB/s"),
        (words.network_rate, 1.25e9, "1.25 GB/s (10 Gbit/s)", "1.25 GB/s（10 Gbit/s）"),
        (words.duration, 0.035, "35 ms", "35 毫秒"),
        (words.duration, 12.5, "12.5 s", "12.5 秒"),
        (words.duration, 1_800, "30 min", "30 分钟"),
        (words.duration, 200, "3 min 20 s", "3 分 20 秒"),
        (words.duration, 18_600, "5 h 10 min", "5 小时 10 分"),
        (words.duration, 1_047_600, "12 d 3 h", "12 天 3 小时"),
        (words.duration, INFINITE, "without end", "没有尽头"),
        (words.share, 0, "0 %", "0%"),
        (words.share, 0.00004, "<0.1 %", "<0.1%"),
        (words.share, 0.375, "38 %", "38%"),
        (words.share, 0.9996, ">99 %", ">99%"),
        (words.share, 1, "100 %", "100%"),
    ],
)
def test_a_number_reads_the_same_way_everywhere(
    word: Callable[[float], str],
    value: float,
    english: str,
    simplified_chinese: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert word(value) == english
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert word(value) == simplified_chinese


@pytest.mark.parametrize("word", [words.number, words.count, words.size, words.rate, words.duration, words.share])
def test_what_is_not_known_is_said_and_is_never_0(word: Callable[[None], str]) -> None:
    assert word(None) == "unknown"


def test_money_names_its_currency_and_what_is_not_priced_is_said() -> None:
    assert words.money(12_345.6, "USD") == "USD 12,300"
    assert words.money(0.0234, "CNY") == "CNY 0.0234"
    assert words.money(None, "USD") == "not priced"


def test_a_part_of_one_is_never_0_beside_its_money(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = Quantity.exact(0.0000564, "1000 requests")  # 0.0564 LIST requests, at USD 0.005 per 1,000
    assert words.quantity(listing) == "<1 requests"
    assert words.money(0.0000564 * 0.005, "USD") == "USD <0.001"
    assert words.quantity(Quantity(0.0, 0.0000564, 0.002, "1000 requests")) == "<1 requests (0–2 requests)"
    assert words.quantity(Quantity(0.0000003, 0.01, 5.0, "USD")) == "USD 0.01 (USD <0.001–5)"
    assert (
        words.quantity(Quantity(1.28e-9, 1.28e-9, 0.01, "GiB-month"))
        == "<0.000001 GiB-months (<0.000001–0.01 GiB-months)"
    )
    assert words.quantity(Quantity(0.0001, 0.5, 0.9951, "share")) == "50 % (<0.1–>99 %)"
    assert (words.count(0), words.count(1.2), words.money(0, "USD")) == ("0", "1", "USD 0")
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert (words.quantity(listing), words.money(3e-7, "USD")) == ("<1 次请求", "<0.001 美元")


def test_what_is_at_least_less_than_is_shown_is_so_much_or_more() -> None:
    small, some = (Quantity(0.0000003, value, value, "USD").at_least() for value in (0.0000003, 0.00132))
    assert words.quantity(small) == "USD <0.001 or more"
    assert words.quantity(some) == "USD 0.00132 (USD <0.001 or more)"
    assert words.quantity_range(small) == "USD <0.001 or more"
    assert words.quantity(Quantity.exact(2.0, "USD").at_least()) == "at least USD 2"


def test_money_in_chinese(chinese: None) -> None:
    assert words.money(12_345.6, "USD") == "12,300 美元"
    assert words.money(1_200, "CNY") == "1,200 元人民币"
    assert words.money(None, "CNY") == "未定价"


def test_a_range_says_its_unit_once() -> None:
    assert words.quantity_range(Quantity(8e9, 12e9, 15e9, "bytes/s")) == "8–15 GB/s"
    assert words.quantity_range(Quantity(3, 4, 5, "USD")) == "USD 3–5"
    assert words.quantity_range(Quantity(9e8, 1e9, 2e9, "bytes/s")) == "900 MB/s–2 GB/s"
    assert words.quantity_range(Quantity.exact(0.5, "share")) == "50 %"
    assert words.quantity(Quantity(0.5, 0.75, 1, "share")) == "75 % (50–100 %)"
    assert words.quantity(None, "present.not-priced") == "not priced"


@pytest.mark.parametrize(
    ("unit", "one", "some", "span"),
    [
        ("instances", "1 instance", "2 instances", "1–2 instances"),
        ("requests", "1 request", "2 requests", "1–2 requests"),
        ("requests/s", "1 request/s", "2 requests/s", "1–2 requests/s"),
        ("opens/s", "1 file/s", "2 files/s", "1–2 files/s"),
        ("GiB-month", "1 GiB-month", "2 GiB-months", "1–2 GiB-months"),
        ("seconds", "1 s", "2 s", "1–2 s"),
    ],
)
def test_one_is_said_in_the_singular(unit: str, one: str, some: str, span: str) -> None:
    assert (words.in_unit(1, unit), words.in_unit(2, unit)) == (one, some)
    assert words.in_unit(1.004, unit) == one  # as it is shown
    assert words.quantity_range(Quantity(1, 1, 2, unit)) == span


def test_a_measured_number_is_stored_as_a_class_that_a_fast_machine_does_not_change() -> None:
    assert words.bucketed(400_000) == words.bucketed(45_678_901) == words.bucketed(9e9) == "100 KB/s–100 GB/s"
    assert words.bucketed(432, "requests/s") == "1–1,000,000 requests/s"
    assert words.bucketed(0) == "below 100 KB/s"
    assert words.bucketed(2e11) == "above 100 GB/s"
    assert words.bucketed(None) == "nothing measured"


def test_parameters_of_a_sentence_are_shown_by_what_they_are() -> None:
    assert words.shown(
        {
            "bytes": 13_500.0,
            "interval": 600.0,
            "option": "fsx-for-lustre",
            "limit": "network-card",
            "amount": 1_234.5,
            "currency": "USD",
            "parts": ("own-storage", "idle-gpu"),
            "frequent": True,
            "fed": Quantity(0.5, 0.75, 1, "share"),
            "region": "cn-north-1",
            "workers": 8,
            "source": None,
            "load_cost": None,
            "gone": (),
            "left": ("s3-standard", "s3-files"),
            "rules": ("multi-node",),
            "triggers": ("posix", "many-readers"),
            "types": ("SCRATCH_2",),
        }
    ) == {
        "bytes": "13.5 KB",
        "interval": "10 min",
        "option": "FSx for Lustre",
        "limit": "network card",
        "amount": "USD 1,230",
        "currency": "USD",
        "parts": "storage of the option itself, idle GPUs",
        "frequent": "yes",
        "fed": "75 % (50–100 %)",
        "region": "cn-north-1",
        "workers": "8",
        "source": "unknown",
        "load_cost": "not priced",
        "gone": "none",
        "left": "Amazon S3 Standard, S3 Files",
        "rules": "“With about 16–500 instances, FSx for Lustre comes first” (multi-node)",
        "triggers": "the need of POSIX (posix), many nodes that read at once (many-readers)",
        "types": "SCRATCH_2",
    }


def test_a_flip_point_names_the_trait_the_change_the_new_place_and_why() -> None:
    rule = Reason("flip-rule-fires", {"rules": ("multi-node",)})
    point = FlipPoint("instances", 16, 17, "training_reads", "fsx-for-lustre", "s3-standard", rule, "count")
    assert words.flip_point(point) == (
        "Training reads: Amazon S3 Standard → FSx for Lustre when Instances goes from 16 to 17. "
        "A published rule holds from there: “With about 16–500 instances, FSx for Lustre comes first” (multi-node)."
    )


def test_a_flip_point_says_where_the_value_now_is_a_default_or_not_stated() -> None:
    late = Reason("flip-restore", {"option": "s3-standard", "seconds": Quantity.exact(90, "seconds"), "interval": 60})
    no_target = FlipPoint(
        "restore_target", None, 60, "checkpoints", "fsx-for-lustre", "s3-standard", late, "seconds", False
    )
    assert words.flip_point(no_target) == (
        "Checkpoints: Amazon S3 Standard → FSx for Lustre when Restore target goes from not stated to 1 min. "
        "A restore from Amazon S3 Standard would take 1 min 30 s, longer than the target of 1 min."
    )
    at_now = FlipPoint("epochs", 90.0, 90.0, "checkpoints", "s3-files", "fsx-for-lustre", late, "count", False)
    assert words.flip_point(at_now).startswith(
        "Checkpoints: FSx for Lustre → S3 Files as soon as Epochs is stated, even as the 90 taken now."
    )
    dear = FlipPoint("gpu_hour_price", 41.5, 36.9, "scratch", "fsx-for-lustre", "instance-nvme", late, "CNY/hour")
    assert "when Price of an instance goes from CNY 41.5 per hour to CNY 36.9 per hour." in words.flip_point(dear)
    by_default = FlipPoint(
        "dataset_bytes", 1e12, 2e12, "scratch", "fsx-for-lustre", "instance-nvme", late, "bytes", False
    )
    assert "when Data set size goes from 1 TB (by default) to 2 TB." in words.flip_point(by_default)


def test_sentences_end_with_one_full_stop_each() -> None:
    assert words.sentences("A title", "Said already.", "", "1: 2 MB/s") == "A title. Said already. 1: 2 MB/s."


def test_chinese_sentences_end_with_their_own_stop(chinese: None) -> None:
    assert words.sentences("标题", "已有句号。") == "标题。已有句号。"


def test_every_unit_is_named_in_the_language(chinese: None) -> None:
    assert words.in_unit(50_000, "requests") == "50,000 次请求"
    assert words.in_unit(730, "hours/month") == "每月 730 小时"
    assert words.quantity(Quantity(2.0, 2.0, 12.0, "bytes/parameter")) == "每参数 2 字节（每参数 2–12 字节）"
    assert words.in_unit(0.023, "USD/GiB-month") == "每 GiB·月 0.023 美元"


def test_a_discounted_price_has_no_digits_of_a_float_s_own() -> None:
    assert words.list_price(Quantity.exact(0.005 * (1 - 0.3)), "USD") == "USD 0.0035"  # 0.0034999999999999996
    assert words.list_price(Quantity.exact(21.957642), "USD") == "USD 21.957642"
    assert words.list_price(Quantity.exact(3.0), "USD") == "USD 3"
    assert words.list_price(Quantity.exact(3e-8), "USD") == "USD 0.00000003"


FAILURES = Quantity(2.97 / 86_400_000, 6.5 / 86_400_000, 23.7 / 86_400_000, "failures per node-second")


def test_failures_are_said_per_thousand_days_as_they_are_published() -> None:
    # 6.5 failures in 1,000 days of a node are 0.0000000752 in a second.
    assert words.quantity(FAILURES) == "6.5 failures per thousand node-days (2.97–23.7 failures per thousand node-days)"


def test_failures_are_said_per_thousand_days_in_chinese(chinese: None) -> None:
    assert words.quantity(FAILURES) == "每千节点天 6.5 次故障（每千节点天 2.97–23.7 次故障）"
