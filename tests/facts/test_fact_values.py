"""Published numbers arrive in base units, worked by hand from what the source writes."""

import math

import pytest

from gpufeed.facts import Facts, load
from gpufeed.facts.units import UNITS

GIB = 1_073_741_824


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load()


@pytest.mark.parametrize(
    ("number", "unit", "base", "expected"),
    [
        (30, "ms", "seconds", 0.03),
        (3, "ms", "seconds", 0.003),
        (10, "minutes", "seconds", 600),
        (2.5, "hours", "seconds", 9000),
        (54, "days", "seconds", 4_665_600),
        (90, "MB/s", "bytes/s", 90_000_000),
        (3, "GiB/s", "bytes/s", 3_221_225_472),
        (100, "Gbit/s", "bytes/s", 12_500_000_000),
        (1, "TiB", "bytes", 1_099_511_627_776),
        (1, "TB", "bytes", 1_000_000_000_000),
        (128, "KiB", "bytes", 131_072),
        (989, "TFLOP/s", "FLOP/s", 989e12),
        (99.95, "%", "share", 0.9995),
        (864, "failures per 1000 node-days", "failures per node-second", 1e-5),
        (125, "MB/s per TiB", "MB/s per TiB", 125),
        (0.11, "USD/GiB-month", "USD/GiB-month", 0.11),
    ],
)
def test_a_unit_is_turned_into_its_base(number: float, unit: str, base: str, expected: float) -> None:
    assert UNITS[unit].base == base
    assert math.isclose(UNITS[unit].to_base(number), expected, rel_tol=1e-15)


def test_decimal_and_binary_sizes_differ() -> None:
    assert UNITS["GB"].to_base(1) == 1_000_000_000
    assert UNITS["GiB"].to_base(1) == GIB


@pytest.mark.parametrize(
    ("option", "name", "low", "value", "high", "unit"),
    [
        ("s3-standard", "first_byte_latency", 0.009, 0.03, 0.03, "seconds"),
        ("s3-standard", "per_request_read", 50e6, 90e6, 107e6, "bytes/s"),
        ("s3-standard", "per_request_write", 20e6, 20e6, 45e6, "bytes/s"),
        ("s3-standard", "read_requests_per_prefix", 5500, 5500, 5500, "requests/s"),
        ("s3-standard", "write_requests_per_prefix", 3500, 3500, 3500, "requests/s"),
        ("s3-standard", "per_client_read", 12.5e9, 12.5e9, 12.5e9, "bytes/s"),
        ("s3-express-one-zone", "first_byte_latency", 0.001, 0.004, 0.009, "seconds"),
        ("s3-express-one-zone", "per_request_read", 150e6, 150e6, 150e6, "bytes/s"),
        ("s3-express-one-zone", "per_request_write", 90e6, 110e6, 110e6, "bytes/s"),
        ("s3-express-one-zone", "read_requests_per_bucket", 200_000, 200_000, 2_000_000, "requests/s"),
        ("fsx-for-lustre", "per_client_read", 12.5e9, 12.5e9, 12.5e9, "bytes/s"),
        ("fsx-for-lustre", "per_client_read_efa", 87.5e9, 87.5e9, 87.5e9, "bytes/s"),
        ("fsx-for-lustre", "per_client_read_efa_gds", 150e9, 150e9, 150e9, "bytes/s"),
        ("s3-files", "per_client_read", 3 * GIB, 3 * GIB, 3 * GIB, "bytes/s"),
        ("s3-files", "aggregate_write", GIB, GIB, 5 * GIB, "bytes/s"),
        ("s3-files", "export_quiet_window", 60, 60, 60, "seconds"),
    ],
)
def test_what_an_option_gives(
    facts: Facts, *, option: str, name: str, low: float, value: float, high: float, unit: str
) -> None:
    quantity = facts.options[option].known(name)
    assert (quantity.low, quantity.value, quantity.high, quantity.unit) == (low, value, high, unit)


@pytest.mark.parametrize(
    ("configuration", "disk_read", "disk_write", "network"),
    [
        ("SCRATCH_2", 200, 100, 200),
        ("PERSISTENT_1-SSD-50", 50, 50, 250),
        ("PERSISTENT_1-SSD-100", 100, 100, 500),
        ("PERSISTENT_1-SSD-200", 200, 200, 750),
        ("PERSISTENT_1-HDD-12", 12, 12, 40),
        ("PERSISTENT_1-HDD-40", 40, 40, 150),
        ("PERSISTENT_2-SSD-125", 125, 125, 320),
        ("PERSISTENT_2-SSD-250", 250, 250, 640),
        ("PERSISTENT_2-SSD-500", 500, 500, 1300),
        ("PERSISTENT_2-SSD-1000", 1000, 1000, 2600),
    ],
)
def test_what_an_fsx_configuration_gives(
    facts: Facts, configuration: str, disk_read: float, disk_write: float, network: float
) -> None:
    row = facts.fsx[configuration]
    assert row.known("disk_read_baseline").value == disk_read
    assert row.known("disk_write_baseline").value == disk_write
    assert row.known("network_baseline").value == network
    assert row.known("network_baseline").unit == "MB/s per TiB"


def test_fsx_capacities_are_counted_in_gib(facts: Facts) -> None:
    assert facts.fsx["PERSISTENT_2-SSD-1000"].known("minimum_capacity").value == 1200 * GIB
    assert facts.fsx["PERSISTENT_2-SSD-1000"].known("efa_capacity_step").value == 4800 * GIB
    assert facts.fsx["PERSISTENT_2-SSD-125"].known("efa_capacity_step").value == 38400 * GIB
    assert facts.fsx["PERSISTENT_1-HDD-12"].known("capacity_step").value == 6000 * GIB


@pytest.mark.parametrize(
    ("preset", "accelerator", "batch", "seconds", "samples_per_s"),
    [
        ("mlperf-unet3d", "V100", 4, 1.3604, 2.940),
        ("mlperf-unet3d", "A100", 7, 0.636, 11.006),
        ("mlperf-unet3d", "H100", 7, 0.323, 21.672),
        ("mlperf-unet3d", "B200", 7, 0.162, 43.210),
        ("mlperf-resnet50", "A100", 400, 0.435, 919.540),
        ("mlperf-resnet50", "H100", 400, 0.224, 1785.714),
        ("mlperf-cosmoflow", "H100", 1, 0.0035, 285.714),
        ("mlperf-retinanet", "B200", 24, 0.04755, 504.732),
        ("mlperf-flux", "B200", 48, 1.35, 35.556),
    ],
)
def test_mlperf_storage_steps(
    facts: Facts, *, preset: str, accelerator: str, batch: int, seconds: float, samples_per_s: float
) -> None:
    row = facts.workloads[preset].parts[accelerator]
    assert (row.known("batch_size").value, row.known("compute_seconds").value) == (batch, seconds)
    assert round((row.known("batch_size") / row.known("compute_seconds")).value, 3) == samples_per_s


def test_a_checkpoint_has_14_bytes_per_parameter(facts: Facts) -> None:
    """8,030,261,248 parameters × 14 bytes = 104.7 GiB, as MLPerf Storage states for Llama 3 8B."""
    size = facts.model.parts["checkpoints"].parts["llama3-8b"]
    bytes_per_parameter = facts.model.parts["checkpoint_bytes_per_parameter"].known("adamw")
    product = size.known("parameters") * bytes_per_parameter
    assert product.value == 112_423_657_472
    assert round(product.value / GIB, 1) == round(size.known("bytes").value / GIB, 1) == 104.7
    assert product.sources == {"mlperf-storage-checkpoints"}


def test_the_network_to_s3_spans_the_three_sources_that_disagree(facts: Facts) -> None:
    p5 = facts.instances["p5.48xlarge"].known("s3_network")
    assert (p5.low, p5.value, p5.high) == (12.5e9, 50e9, 100e9)  # 100, 400, 800 Gbit/s
    assert p5.sources == {"s3-performance", "aws-c-s3-platform", "ec2-efa-types"}


def test_the_a10g_peak_is_a_shown_assumption(facts: Facts) -> None:
    peak = facts.accelerators["A10G"].known("peak_bf16")
    assert (peak.low, peak.high, peak.basis) == (70e12, 125e12, "assumed")


@pytest.mark.parametrize(
    ("option", "item", "region", "configuration", "amount", "expected", "unit"),
    [
        ("s3-standard", "storage", "us-east-1", None, 0, 0.023, "USD/GiB-month"),
        ("s3-standard", "storage", "us-east-1", None, 51_199, 0.023, "USD/GiB-month"),
        ("s3-standard", "storage", "us-east-1", None, 51_200, 0.022, "USD/GiB-month"),
        ("s3-standard", "storage", "us-east-1", None, 10_000_000, 0.021, "USD/GiB-month"),
        ("s3-standard", "storage", "ap-northeast-1", None, 0, 0.025, "USD/GiB-month"),
        ("s3-standard", "get", "us-east-1", None, None, 0.0004, "USD/1000 requests"),
        ("s3-express-one-zone", "storage", "us-east-1", None, None, 0.11, "USD/GiB-month"),
        ("s3-express-one-zone", "put", "us-east-1", None, None, 0.00113, "USD/1000 requests"),
        ("s3-express-one-zone", "upload", "us-east-1", None, None, 0.0032, "USD/GiB"),
        ("fsx-for-lustre", "storage", "us-west-2", "PERSISTENT_2-SSD-250", None, 0.21, "USD/GiB-month"),
        ("fsx-for-lustre", "metadata-iops", "us-east-1", "PERSISTENT_2-SSD-125", None, 0.055, "USD/IOPS-month"),
        ("s3-files", "read", "ap-northeast-1", None, None, 0.04, "USD/GiB"),
    ],
)
def test_what_a_price_is(
    facts: Facts,
    *,
    option: str,
    item: str,
    region: str,
    configuration: str | None,
    amount: float | None,
    expected: float,
    unit: str,
) -> None:
    price = facts.price(option, item, region, configuration, at=amount)
    assert price is not None
    assert (price.value, price.unit) == (expected, unit)
    assert price.sources


@pytest.mark.parametrize(
    ("option", "item", "region", "configuration"),
    [
        ("fsx-for-lustre", "storage", "us-east-1", "PERSISTENT_2-SSD-500"),
        ("fsx-for-lustre", "storage", "us-east-1", "PERSISTENT_1-HDD-12"),
        ("fsx-for-lustre", "storage", "us-east-1", "INTELLIGENT_TIERING"),
        ("fsx-for-lustre", "storage", "us-east-1", "PERSISTENT_2-SSD-250"),
        ("s3-express-one-zone", "storage", "ap-northeast-1", None),
        ("s3-standard", "storage", "cn-north-1", None),
    ],
)
def test_a_price_without_a_source_is_not_priced(
    facts: Facts, option: str, item: str, region: str, configuration: str | None
) -> None:
    assert facts.price(option, item, region, configuration) is None


def test_the_price_of_an_instance(facts: Facts) -> None:
    price = facts.instance_price("p5.48xlarge", "us-east-1")
    assert price is not None
    assert (price.value, price.unit, price.sources) == (55.04, "USD/hour", {"ec2-price-list"})
    assert facts.instance_price("p5.48xlarge", "cn-north-1") is None
    assert facts.instance_price("p5e.48xlarge", "us-east-1") is None
