"""The profile of a prefix: exact counts, quantiles within the stated error, and merging that loses nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufeed.facts.errors import InputError
from gpufeed.model import tally as module
from gpufeed.model.profile import QUANTILE_ERROR, PrefixProfile, bucket_of, largest_in, merge

CASES = Path(__file__).parents[1] / "cases"

keys = st.text(st.sampled_from("ab./é😀"), min_size=1, max_size=8)
sizes = st.one_of(st.none(), st.just(0), st.integers(0, 300), st.integers(0, 50 * 2**40))
classes = st.sampled_from(["STANDARD", "GLACIER", "DEEP_ARCHIVE", None])
entries = st.lists(
    st.tuples(keys, sizes, st.sampled_from(["2026-11-01T00:00:00.000Z", "2025-01-02T03:04:05Z"]), classes)
)


def profiled(rows, prefix="", page=3):
    profile = PrefixProfile(prefix)
    for start in range(0, len(rows), page):
        profile.add_many(*zip(*rows[start : start + page], strict=True))
    return profile


@given(entries, entries)
def test_merging_two_profiles_gives_the_profile_of_both(a, b):
    merged = merge(profiled(a), profiled(b, page=2))
    assert merged == profiled(a + b, page=1000)
    assert merged == merge(profiled(b), profiled(a))


@given(entries)
def test_a_profile_survives_its_json(rows):
    profile = profiled(rows)
    assert PrefixProfile.from_json(json.loads(json.dumps(profile.to_json()))) == profile


@given(entries)
def test_every_table_adds_up_to_the_totals(rows):
    document = profiled(rows).to_json()
    assert document["objects"] + document["folder_markers"] == len(rows)
    for table in ("by_prefix", "by_extension", "by_storage_class"):
        assert sum(row["objects"] for row in document[table]) == document["objects"]
        assert sum(row["bytes"] for row in document[table]) == document["bytes"]
    assert sum(row["objects"] for row in document["by_size"]) == document["objects"] - document["unknown_size_objects"]
    assert sum(row["bytes"] for row in document["by_size"]) == document["bytes"]


@given(st.lists(st.integers(1, 50 * 2**40), min_size=1), st.floats(0, 1))
def test_a_quantile_is_within_the_stated_error_of_the_nearest_rank(numbers, q):
    profile = PrefixProfile()
    profile.add_many([f"k{n}" for n in range(len(numbers))], numbers)
    rank = next(rank for rank in range(1, len(numbers) + 1) if rank >= q * len(numbers))
    true = sorted(numbers)[rank - 1]
    assert profile.size_quantile(q) == pytest.approx(true, rel=QUANTILE_ERROR)


def test_the_stated_quantile_error_is_below_one_percent():
    assert QUANTILE_ERROR == 0.0078125


@given(st.integers(1, 2**50))
def test_a_size_lies_within_its_bucket(size):
    bucket = bucket_of(size)
    assert (largest_in(bucket - 1) if bucket else 0) < size <= largest_in(bucket)


@pytest.mark.parametrize("size", [1, 2, 256, 1024, 4096, 2**20, 2**40])
def test_a_power_of_two_is_the_largest_size_of_its_bucket(size):
    assert largest_in(bucket_of(size)) == size


def test_equal_sizes_give_exact_quantiles():
    profile = PrefixProfile("p/")
    profile.add_many(["p/a", "p/b", "p/c"], [34_567] * 3)
    assert profile.to_json()["size_quantiles"] == {"p05": 34567, "p50": 34567, "p95": 34567, "max": 34567}
    assert (profile.median, profile.mean_bytes) == (34567, 34567)


def test_an_empty_profile_knows_no_sizes():
    document = PrefixProfile("p/").to_json()
    assert document["objects"] == document["bytes"] == 0
    assert document["size_quantiles"] == {"p05": None, "p50": None, "p95": None, "max": None}
    assert document["by_size"] == document["by_prefix"] == []
    assert document["noncurrent"] is document["delete_markers"] is None


def test_folder_markers_and_empty_files_are_counted_apart():
    rows = json.loads((CASES / "004" / "listing.json").read_text())
    expected = json.loads((CASES / "004" / "expected.json").read_text())
    profile = PrefixProfile("imgs")
    profile.add_many(*zip(*((r["Key"], r["Size"], r["LastModified"], r["StorageClass"]) for r in rows), strict=True))
    assert profile.folder_markers == len(expected["directory_markers"]) == 2
    assert profile.objects == expected["data_object_count"] == 5
    assert profile.zero_byte_objects == len(expected["zero_byte_data_objects"]) == 2
    assert profile.bytes == expected["data_bytes"] == 71168
    assert profile.median == expected["median_size_of_nonzero"] == 34816


def test_sizes_fall_into_rows_of_powers_of_four_with_inclusive_bounds():
    profile = PrefixProfile()
    profile.add_many(list("abcdef"), [0, 1, 1024, 1025, 4096, 65536])
    assert profile.by_size() == [
        {"up_to": 0, "objects": 1, "bytes": 0},
        {"up_to": 1024, "objects": 2, "bytes": 1025},
        {"up_to": 4096, "objects": 2, "bytes": 5121},
        {"up_to": 16384, "objects": 0, "bytes": 0},
        {"up_to": 65536, "objects": 1, "bytes": 65536},
    ]


def test_what_is_up_to_a_power_of_two_is_exact():
    profile = PrefixProfile()
    profile.add_many(list("abcd"), [0, 1_000_000, 1_048_576, 1_048_577])
    assert profile.up_to(1_048_576) == (2, 2_048_576)


def test_sub_prefixes_are_the_next_level_below_the_scanned_prefix():
    profile = PrefixProfile("data/p")
    profile.add_many(["data/p1/x/a.jpg", "data/p1/b.JPG", "data/p2/c.png", "data/plain"], [1, 2, 30, 400])
    assert profile.to_json()["by_prefix"] == [
        {"prefix": "data/p", "objects": 1, "bytes": 400},
        {"prefix": "data/p2/", "objects": 1, "bytes": 30},
        {"prefix": "data/p1/", "objects": 2, "bytes": 3},
    ]
    assert profile.to_json()["by_extension"] == [
        {"extension": "", "objects": 1, "bytes": 400},
        {"extension": ".png", "objects": 1, "bytes": 30},
        {"extension": ".jpg", "objects": 2, "bytes": 3},
    ]


def test_an_unsorted_page_of_one_sub_prefix_and_a_mixed_one_agree():
    names = ["d/x/9", "d/x/1", "d/x/5", "d/y/2"]
    together, apart = PrefixProfile("d/"), PrefixProfile("d/")
    together.add_many(names, [1, 2, 3, 4])
    for name, size in zip(names, [1, 2, 3, 4], strict=True):
        apart.add_many([name], [size])
    assert together == apart
    assert together.prefixes.rows == {"d/x/": [3, 6], "d/y/": [1, 4]}


def test_an_unknown_size_is_counted_and_never_taken_for_zero():
    profile = PrefixProfile()
    profile.add_many(["a", "b/", "c"], [None, None, 5])
    assert (profile.objects, profile.unknown_size_objects, profile.zero_byte_objects) == (3, 2, 0)
    assert (profile.folder_markers, profile.bytes, profile.mean_bytes) == (0, 5, 5)


def test_archived_classes_are_not_readable_now_and_instant_retrieval_is():
    profile = PrefixProfile()
    profile.add_many(
        list("abcde"), [1, 20, 300, 4000, 50000], None,
        ["STANDARD", "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR", "INTELLIGENT_TIERING"],
    )  # fmt: skip
    assert profile.not_readable_now == (2, 320)


def test_a_table_stays_bounded_and_its_total_exact(monkeypatch):
    monkeypatch.setattr(module, "KEPT_ROWS", 4)
    profile = PrefixProfile()
    for n in range(1, 101):
        profile.add_many([f"{n:03d}/x"], [n])
    assert len(profile.prefixes.rows) <= 8
    assert profile.prefixes.rows["100/"] == [1, 100]
    rows = profile.to_json()["by_prefix"]
    assert rows[-1]["prefix"] is None and rows[-1]["other"] is True
    assert sum(row["objects"] for row in rows) == 100
    assert sum(row["bytes"] for row in rows) == 5050


def test_rows_beyond_those_shown_are_summed_in_the_last_row(monkeypatch):
    monkeypatch.setattr(module, "SHOWN_ROWS", 2)
    profile = PrefixProfile()
    profile.add_many(["a/1", "b/1", "c/1", "d/1"], [1, 2, 3, 4])
    assert profile.to_json()["by_prefix"] == [
        {"prefix": "d/", "objects": 1, "bytes": 4},
        {"prefix": "c/", "objects": 1, "bytes": 3},
        {"prefix": None, "other": True, "objects": 2, "bytes": 3},
    ]


def test_profiles_of_different_prefixes_do_not_merge():
    with pytest.raises(ValueError, match="different prefixes"):
        merge(PrefixProfile("a/"), PrefixProfile("b/"))


# ---- documents that people hand over -------------------------------------------------------------------------------


def contract_keys():
    """A profile with the keys of the shell contract and no sketch: 1 empty object, 300 of 1 KB, 100 of 1 MB."""
    return {
        "objects": 401,
        "bytes": 100_300_000,
        "folder_markers": 2,
        "zero_byte_objects": 1,
        "unknown_size_objects": 0,
        "noncurrent": {"versions": 3, "bytes": 30},
        "delete_markers": None,
        "not_readable_now": {"objects": 0, "bytes": 0},
        "size_quantiles": {"p05": 1000, "p50": 1000, "p95": 1_000_000, "max": 1_000_000},
        "by_size": [
            {"up_to": 0, "objects": 1, "bytes": 0},
            {"up_to": 1024, "objects": 300, "bytes": 300_000},
            {"up_to": 1_048_576, "objects": 100, "bytes": 100_000_000},
        ],
        "by_prefix": [{"prefix": "p/", "objects": 401, "bytes": 100_300_000}],
        "by_extension": [{"extension": ".jpg", "objects": 401, "bytes": 100_300_000}],
        "by_storage_class": [{"storage_class": "STANDARD", "objects": 401, "bytes": 100_300_000}],
    }


def test_the_keys_of_the_contract_are_enough_and_quantiles_come_from_by_size():
    profile = PrefixProfile.from_json(contract_keys())
    assert (profile.objects, profile.bytes, profile.folder_markers, profile.noncurrent) == (
        401,
        100_300_000,
        2,
        (3, 30),
    )
    assert (profile.size_quantile(0.05), profile.median, profile.size_quantile(0.95)) == (1000, 1000, 1_000_000)
    assert (profile.max_bytes, profile.mean_bytes) == (1_000_000, 100_300_000 / 400)
    assert profile.up_to(65_536) == (300, 300_000)
    assert [row for row in profile.by_size() if row["objects"]] == contract_keys()["by_size"]


def test_objects_bytes_and_by_size_are_the_least():
    least = {name: contract_keys()[name] for name in ("objects", "bytes", "by_size")}
    profile = PrefixProfile.from_json(least)
    assert (profile.median, profile.zero_byte_objects, profile.max_bytes) == (1000, 1, None)
    for name in least:
        with pytest.raises(InputError, match=name):
            PrefixProfile.from_json({key: value for key, value in least.items() if key != name})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"objects": "many"}, "objects"),
        ({"objects": None}, "objects"),  # a scan that was refused knows nothing
        ({"objects": True}, "objects"),
        ({"bytes": -1}, "bytes"),
        ({"bytes": 1.5}, "bytes"),
        ({"by_size": None}, "…"),
        ({"by_size": [7]}, "…"),
        ({"by_size": [{"up_to": 0, "objects": 1}]}, "bytes"),
        ({"by_prefix": [{"prefix": 7, "objects": 1, "bytes": 1}]}, "prefix"),
        ({"size_quantiles": {"max": "large"}}, "max"),
        ({"noncurrent": {"versions": 1}}, "bytes"),
        ({"sketch": {}}, "subdivision_bits"),
        ({"sketch": {"prefix": "", "subdivision_bits": 3, "sizes": []}}, "subdivision_bits"),
        ({"sketch": {"prefix": "", "subdivision_bits": 7, "sizes": [[1, 2]]}}, "sizes"),
        ({"sketch": {"prefix": "", "subdivision_bits": 7, "sizes": [[1, "x", 2]]}}, "sizes"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_a_document_that_is_no_profile_is_refused_naming_the_field(change, field, language, monkeypatch):
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    with pytest.raises(InputError) as raised:
        PrefixProfile.from_json(contract_keys() | change)
    assert raised.value.exit_code == 2
    assert f"“{field}”" in str(raised.value)


@pytest.mark.parametrize("document", [{}, [], [1, 2], "text", None, {"records": []}])
def test_anything_else_is_refused(document):
    with pytest.raises(InputError):
        PrefixProfile.from_json(document)


def test_a_whole_profile_keeps_every_row():
    profile = PrefixProfile()
    for n in range(500):
        profile.add_many([f"{n:03d}/x"], [n])
    assert len(profile.to_json()["by_prefix"]) == module.SHOWN_ROWS + 1
    assert PrefixProfile.from_json(json.loads(json.dumps(profile.to_json(whole=True)))) == profile
