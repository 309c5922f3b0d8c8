"""What ``data/`` holds as a whole: rules, sources, China, names."""

import re

import pytest

from gpufeed.facts import Facts, NoSuchName, load
from gpufeed.facts.fact import FACT_BASES
from gpufeed.facts.messages import text
from gpufeed.facts.place import data_directory

RULES = [
    "durable-base",
    "small-cluster",
    "light-fine-tuning",
    "s3-needs-a-second-look",
    "multi-node",
    "frequent-checkpoints",
    "posix",
    "very-large-object",
    "beyond-500",
    "files-on-s3",
    "files-on-s3-but",
    "temporary",
    "reference-architecture",
]
GAPS = [
    "sixteen-instances",
    "two-to-sixteen",
    "instances-against-gpus",
    "beyond-500-collision",
    "frequent-has-no-number",
    "small-has-no-number",
    "s3-files-against-mountpoint",
]
OPTIONS = ["s3-standard", "s3-express-one-zone", "fsx-for-lustre", "s3-files", "mountpoint-s3", "instance-nvme"]
ACCELERATORS = [
    "V100",
    "A100",
    "H100",
    "H200",
    "B200",
    "B300",
    "GB200",
    "GB300",
    "A10G",
    "L4",
    "L40S",
    "Trainium1",
    "Trainium2",
]
PRESETS = [
    "mlperf-unet3d",
    "mlperf-resnet50",
    "mlperf-cosmoflow",
    "mlperf-retinanet",
    "mlperf-flux",
    "llm-text",
    "llm-text-mamba",
    "image-classification",
    "image-generation",
    "video",
    "audio",
    "multimodal",
    "lora",
]
CHINA = ["cn-north-1", "cn-northwest-1"]


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load()


def test_every_published_rule_is_there_and_no_other(facts: Facts) -> None:
    assert list(facts.rules) == RULES


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_rule_and_gap_has_its_sentence(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    sentences = [text(f"rule.{rule}") for rule in RULES] + [text(f"rule.gap.{gap}") for gap in GAPS]
    assert len(set(sentences)) == 20


def test_the_thresholds_of_the_rules(facts: Facts) -> None:
    rules = facts.rules
    assert rules["small-cluster"].known("instances_from").value == 1
    assert rules["small-cluster"].known("instances_to").value == 16
    assert rules["multi-node"].known("instances_from").value == 16
    assert rules["multi-node"].known("instances_to").value == 500
    assert rules["very-large-object"].known("gpus_from").value == 1000
    assert rules["beyond-500"].known("instances_above").value == 500
    assert rules["very-large-object"]["verdict"].value == "evaluate"
    assert all(fact.sources == ("aws-china-summit-2026",) for rule in rules.values() for fact in rule.all_facts())


def test_the_names_of_the_contract_are_there(facts: Facts) -> None:
    assert list(facts.options) == OPTIONS
    assert set(ACCELERATORS) <= set(facts.accelerators)
    assert list(facts.workloads) == [*PRESETS, "own-samples"]  # the last: what stands where only samples were stated


def test_every_instance_type_has_a_known_accelerator(facts: Facts) -> None:
    for name, instance in facts.instances.items():
        assert instance["accelerator"].value in facts.accelerators, name


def test_every_price_names_a_known_option_region_and_configuration(facts: Facts) -> None:
    for row in facts.prices:
        assert row.option in [*OPTIONS, "network", "encryption"]
        assert row.configuration is None or row.configuration in facts.fsx
        assert facts.regions[row.region]["currency"].value == row.currency


def test_bands_meet_without_gap_and_the_last_is_open(facts: Facts) -> None:
    for region in ("us-east-1", "ap-northeast-1"):
        bands = facts.price_bands("s3-standard", "storage", region)
        assert [(band.band_from, band.band_to) for band in bands] == [
            (0, 51_200),
            (51_200, 512_000),
            (512_000, None),
        ]


def test_every_number_at_run_time_has_source_basis_and_date(facts: Facts) -> None:
    for fact in facts.all_facts():
        if fact.unknown:
            assert fact.note, fact.id
            continue
        assert fact.basis in FACT_BASES, fact.id
        assert fact.sources, fact.id
        assert fact.as_of, fact.id
        assert all(source in facts.sources for source in fact.sources), fact.id
        if fact.quantity is not None:
            assert fact.quantity.sources == set(fact.sources), fact.id
            assert fact.quantity.basis == fact.basis, fact.id


def test_what_rests_on_our_assumption_is_called_assumed(facts: Facts) -> None:
    """A fact that cites us may measure with our assumption in it, but is never called published."""
    assert [
        fact.id for fact in facts.all_facts() if "gpufeed-assumption" in fact.sources and fact.basis == "published"
    ] == []


def test_every_source_is_used(facts: Facts) -> None:
    used = {source for fact in facts.all_facts() for source in fact.sources}
    used |= {source for row in facts.prices for source in row.sources}
    # Templates name theirs in their first lines.
    templates = [path for path in (data_directory() / "templates").rglob("*") if path.is_file()]
    cited = " ".join(path.read_text(encoding="utf-8") for path in templates)
    used |= {source for source in facts.sources if re.search(rf"(?<![\w-]){re.escape(source)}(?![\w-])", cited)}
    assert set(facts.sources) - used == set()


@pytest.mark.parametrize("region", CHINA)
def test_the_china_regions(facts: Facts, region: str) -> None:
    row = facts.regions[region]
    assert row["partition"].value == "aws-cn"
    assert row["currency"].value == "CNY"
    assert row["s3-standard"].value is True
    assert row["fsx-for-lustre"].value is True
    assert row["fsx_deployment_types"].value == ("PERSISTENT_1",)
    assert row["s3-express-one-zone"].value is False
    assert row["s3-files"].unknown


def test_only_persistent_1_is_offered_in_china(facts: Facts) -> None:
    offered = {name for name, row in facts.fsx.items() if row["in_china"].value}
    assert offered == {
        "PERSISTENT_1-SSD-50",
        "PERSISTENT_1-SSD-100",
        "PERSISTENT_1-SSD-200",
        "PERSISTENT_1-HDD-12",
        "PERSISTENT_1-HDD-40",
    }


def test_what_each_option_can_do(facts: Facts) -> None:
    options = facts.options
    every = {"rename", "append", "overwrite", "random-write", "lock", "hard-link"}
    assert set(options["fsx-for-lustre"]["operations"].value) == every
    assert set(options["s3-files"]["operations"].value) == every - {"hard-link"}
    assert options["mountpoint-s3"]["operations"].value == ()
    assert options["mountpoint-s3"].parts["s3-express-one-zone"]["operations"].value == ("rename", "append")
    assert options["s3-standard"]["operations"].value == ("overwrite",)


def test_the_rate_of_a_workload_without_a_source_is_unknown(facts: Facts) -> None:
    for preset in ("video", "audio", "multimodal"):
        assert facts.workloads[preset].quantity("samples_per_second") is None
        assert facts.workloads[preset].known("sample_bytes").basis == "assumed"


def test_the_speed_of_instance_nvme_is_unknown_until_probed(facts: Facts) -> None:
    assert facts.options["instance-nvme"].quantity("per_client_read") is None


def test_a_misspelt_name_gives_the_nearest(facts: Facts) -> None:
    with pytest.raises(NoSuchName) as missing:
        facts.instances["p5.48xlarg"]
    assert missing.value.nearest == "p5.48xlarge"
    with pytest.raises(NoSuchName) as missing:
        facts.options["s3-standard"].quantity("first_bite_latency")
    assert missing.value.nearest == "first_byte_latency"


def test_a_fact_that_only_other_entries_have_is_none(facts: Facts) -> None:
    assert facts.options["s3-standard"].quantity("export_quiet_window") is None
    assert facts.options["s3-standard"].get_value("backings") is None
    with pytest.raises(KeyError):
        facts.options["s3-standard"].known("export_quiet_window")


def test_facts_are_read_once(facts: Facts) -> None:
    assert load() is facts
    latency = facts.options["s3-standard"]["first_byte_latency"]
    assert latency.quantity is facts.options["s3-standard"].quantity("first_byte_latency")


def test_age_is_told_for_every_file(facts: Facts) -> None:
    ages = facts.as_of()
    assert sorted(ages) == [
        "accelerators.toml",
        "fsx.toml",
        "instances.toml",
        "model.toml",
        "options.toml",
        "prices.toml",
        "regions.toml",
        "rules.toml",
        "utilisation.toml",
        "workloads.toml",
    ]
    assert (ages["prices.toml"].oldest, ages["prices.toml"].newest) == ("2025-04", "2026-10-01")


def test_a_number_with_several_sources_says_which_gives_what() -> None:
    facts = load()
    silent = [
        fact.id
        for fact in facts.all_facts()
        if len(fact.sources) > 1
        and fact.quantity is not None
        and fact.quantity.low != fact.quantity.high
        # Fitted to the rows of all of them: tests/published/fit_utilisation.py
        and not fact.id.startswith("utilisation.")
        and not fact.note
    ]
    assert silent == []
