"""The Price List in AWS's own shape, read into price rows; the answers beside this file say how they were made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from gpufeed.cli import main
from gpufeed.facts import Price, load, read
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.facts.place import data_directory
from gpufeed.facts.prices import as_toml
from gpufeed.observe.aws import price_list
from gpufeed.observe.aws.price_list import Refreshed, ask, changes, from_offers, in_one_file, products_of_offer

ANSWERS = Path(__file__).parent / "answers"
TODAY = date(2026, 11, 30)


def answers() -> dict[str, list[list[dict[str, Any]]]]:
    document = json.loads((ANSWERS / "get_products_tokyo.json").read_text(encoding="utf-8"))
    services: dict[str, list[list[dict[str, Any]]]] = document["services"]
    return services


class Pricing:
    """GetProducts as AWS answers it: entries as JSON text, in pages, only those that match every filter."""

    def __init__(self, services: Mapping[str, list[list[dict[str, Any]]]]) -> None:
        self.services = services
        self.asked: list[dict[str, Any]] = []

    def get_products(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        assert request["ServiceCode"] in ("AmazonS3", "AmazonFSx", "AmazonEC2", "awskms")
        assert {one["Type"] for one in request["Filters"]} == {"TERM_MATCH"}
        wanted = {one["Field"]: one["Value"] for one in request["Filters"]}
        pages = self.services[request["ServiceCode"]]
        number = int(request.get("NextToken", 0))
        entries = [json.dumps(one) for one in pages[number] if wanted.items() <= one["product"]["attributes"].items()]
        page: dict[str, Any] = {"FormatVersion": "aws_v1", "PriceList": entries}
        return page | ({"NextToken": str(number + 1)} if number + 1 < len(pages) else {})


@pytest.fixture(scope="module")
def tokyo() -> Refreshed:
    return ask("ap-northeast-1", load(), today=TODAY, client=Pricing(answers()))


def price_of(found: Refreshed, option: str, item: str, configuration: str | None = None) -> Price:
    [row] = [row for row in found.prices if (row.option, row.item, row.configuration) == (option, item, configuration)]
    return row


@pytest.mark.parametrize(
    ("option", "item", "configuration", "expected", "unit"),
    [
        # AWS states one request; we price 1,000: 0.0000047 × 1,000
        ("s3-standard", "put", None, 0.0047, "USD/1000 requests"),
        ("s3-standard", "list", None, 0.0047, "USD/1000 requests"),
        ("s3-standard", "get", None, 0.00037, "USD/1000 requests"),
        ("s3-express-one-zone", "storage", None, 0.12, "USD/GiB-month"),
        ("s3-express-one-zone", "put", None, 0.00115, "USD/1000 requests"),
        ("s3-express-one-zone", "get", None, 0.000031, "USD/1000 requests"),
        ("s3-express-one-zone", "list", None, 0.0047, "USD/1000 requests"),
        ("s3-express-one-zone", "upload", None, 0.0033, "USD/GiB"),
        ("s3-files", "storage", None, 0.36, "USD/GiB-month"),
        ("s3-files", "read", None, 0.04, "USD/GiB"),
        ("fsx-for-lustre", "storage", "SCRATCH_2", 0.168, "USD/GiB-month"),
        ("fsx-for-lustre", "storage", "PERSISTENT_1-SSD-100", 0.228, "USD/GiB-month"),
        ("fsx-for-lustre", "storage", "PERSISTENT_2-SSD-125", 0.189, "USD/GiB-month"),
        ("fsx-for-lustre", "storage", "PERSISTENT_2-SSD-1000", 0.7, "USD/GiB-month"),
        ("fsx-for-lustre", "metadata-iops", None, 0.064, "USD/IOPS-month"),
        ("network", "nat", None, 0.062, "USD/GiB"),
        ("ec2", "p5.48xlarge", None, 68.8, "USD/hour"),
    ],
)
def test_a_price_is_found_by_what_aws_says_of_its_product(
    tokyo: Refreshed, *, option: str, item: str, configuration: str | None, expected: float, unit: str
) -> None:
    row = price_of(tokyo, option, item, configuration)
    assert row.quantity is not None
    assert (row.quantity.value, row.quantity.unit, row.region) == (expected, unit, "ap-northeast-1")
    assert (row.currency, f"USD/{row.unit}") == ("USD", unit)


def test_graduated_bands_come_in_order_whatever_the_order_of_the_answer(tokyo: Refreshed) -> None:
    bands = [row for row in tokyo.prices if (row.option, row.item) == ("s3-standard", "storage")]
    assert [(row.band_from, row.band_to, row.quantity and row.quantity.value) for row in bands] == [
        (0, 51_200, 0.025),
        (51_200, 512_000, 0.024),
        (512_000, None, 0.023),
    ]


def test_a_row_carries_the_day_aws_published_it_and_where(tokyo: Refreshed) -> None:
    row = price_of(tokyo, "fsx-for-lustre", "storage", "SCRATCH_2")
    assert (row.as_of, row.sources) == ("2026-11-20", ("price-list-AmazonFSx-ap-northeast-1",))
    source = next(source for source in tokyo.sources if source.id == row.sources[0])
    assert (source.as_of, source.retrieved, source.confidence) == ("2026-11-20", "2026-11-30", "A")
    assert (
        source.url
        == "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonFSx/current/ap-northeast-1/index.json"
    )


@pytest.mark.parametrize(
    ("option", "item", "configuration", "why"),
    [
        ("s3-express-one-zone", "retrieval", None, "not-found"),
        ("s3-files", "write", None, "ambiguous"),  # data and metadata, at two prices
        ("fsx-for-lustre", "storage", "PERSISTENT_1-HDD-12", "ambiguous"),  # with and without a read cache
        ("fsx-for-lustre", "storage", "PERSISTENT_2-SSD-500", "not-found"),
        ("encryption", "kms", None, "graduated"),  # its first band is free: never "costs nothing"
        ("ec2", "p5e.48xlarge", None, "not-found"),
    ],
)
def test_what_is_not_found_or_not_clear_stays_without_a_price_and_says_why(
    tokyo: Refreshed, option: str, item: str, configuration: str | None, why: str
) -> None:
    assert [
        one.why for one in tokyo.missing if (one.option, one.item, one.configuration) == (option, item, configuration)
    ] == [why]
    assert not [
        row for row in tokyo.prices if (row.option, row.item, row.configuration) == (option, item, configuration)
    ]


def test_every_price_that_is_wanted_is_found_or_missing(tokyo: Refreshed) -> None:
    rows = {row.key for row in tokyo.prices}
    missing = {(one.option, one.item, "ap-northeast-1", one.configuration) for one in tokyo.missing}
    wanted = {(w.option, w.item, "ap-northeast-1", w.configuration) for w in price_list.wanted(load())}
    assert rows | missing == wanted and not rows & missing


def test_the_questions_are_of_one_region_and_each_is_asked_once() -> None:
    pricing = Pricing(answers())
    ask("ap-northeast-1", load(), today=TODAY, client=pricing)
    questions = [json.dumps(request, sort_keys=True) for request in pricing.asked]
    assert len(questions) == len(set(questions))
    assert all(
        {"Field": "regionCode", "Type": "TERM_MATCH", "Value": "ap-northeast-1"} in r["Filters"] for r in pricing.asked
    )
    services = [request["ServiceCode"] for request in pricing.asked]
    assert services.count("AmazonS3") == 2  # two pages of one question
    assert services.count("AmazonEC2") == len(load().instances) + 1


def test_a_token_that_comes_again_ends_the_pages() -> None:
    class Endless(Pricing):
        def get_products(self, **request: Any) -> dict[str, Any]:
            return super().get_products(**request) | {"NextToken": "1"}

    pricing = Endless({service: [*pages, []] for service, pages in answers().items()})
    found = ask("ap-northeast-1", load(), today=TODAY, client=pricing)
    assert price_of(found, "s3-standard", "get").quantity is not None


def test_the_requests_are_what_the_service_model_allows() -> None:
    """botocore checks each parameter and answer against AWS's own description of the service."""
    client = boto3.client(
        "pricing", region_name="us-east-1", aws_access_key_id="example", aws_secret_access_key="example"
    )
    with Stubber(client) as stub:
        for _ in price_list._questions(price_list.wanted(load())):
            stub.add_response("get_products", {"FormatVersion": "aws_v1", "PriceList": []})
        found = ask("us-east-1", load(), today=TODAY, client=client)
        stub.assert_no_pending_responses()
    assert found.prices == () and {one.why for one in found.missing} == {"not-found"}


@pytest.mark.parametrize(
    ("fail", "message_id"),
    [
        (lambda stub: stub.add_client_error("get_products", "AccessDeniedException"), "aws.denied"),
        (lambda stub: stub.add_client_error("get_products", "ThrottlingException"), "aws.throttled"),
        (lambda stub: stub.add_client_error("get_products", "ExpiredTokenException"), "aws.expired"),
        (lambda stub: stub.add_client_error("get_products", "InternalErrorException"), "aws.other"),
    ],
)
def test_a_refusal_is_one_sentence_with_the_next_step(fail: Callable[[Any], None], message_id: str) -> None:
    client = boto3.client(
        "pricing", region_name="us-east-1", aws_access_key_id="example", aws_secret_access_key="example"
    )
    with Stubber(client) as stub:
        fail(stub)
        with pytest.raises(GpufeedError) as refused:
            ask("us-east-1", load(), today=TODAY, client=client)
    assert (refused.value.message_id, refused.value.exit_code) == (message_id, 1)
    assert str(refused.value).count("\n") == 0


def test_no_network_is_said_as_such() -> None:
    class Unreachable:
        def get_products(self, **_: Any) -> Any:
            raise EndpointConnectionError(endpoint_url="https://api.pricing.us-east-1.amazonaws.com")

    with pytest.raises(GpufeedError) as refused:
        ask("us-east-1", load(), today=TODAY, client=Unreachable())
    assert refused.value.message_id == "aws.unreachable"


def test_a_region_that_is_not_known_is_wrong_input_before_anything_is_asked() -> None:
    with pytest.raises(InputError) as refused:
        ask("us-moon-1", load(), today=TODAY, client=None)
    assert refused.value.message_id == "prices.unknown-region"


# ---- offer files, and China -----------------------------------------------------------------------------------------


def offer() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ANSWERS / "offer_fsx_beijing.json").read_text(encoding="utf-8"))
    return document


def test_an_offer_file_of_a_region_in_china_gives_rows_in_its_currency() -> None:
    found = from_offers(products_of_offer(offer()), "cn-north-1", load(), today=TODAY)
    [row] = found.prices
    assert row.key == ("fsx-for-lustre", "storage", "cn-north-1", "PERSISTENT_1-SSD-50")
    assert row.quantity is not None and (row.quantity.value, row.quantity.unit) == (1.15, "CNY/GiB-month")
    assert row.as_of == "2026-11-20"


def test_an_offer_file_of_another_region_gives_nothing() -> None:
    assert from_offers(products_of_offer(offer()), "us-east-1", load(), today=TODAY).prices == ()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"products": [], "terms": {}},
        {"products": {"A": 1}, "terms": {}},
        {"products": {"A": {}}, "terms": {"OnDemand": 1}},
    ],
)
def test_another_kind_of_document_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        products_of_offer(document)
    assert refused.value.message_id == "prices.no-offer"


# ---- the file of one's own ------------------------------------------------------------------------------------------


def test_refreshed_prices_replace_those_of_the_snapshot_and_are_dated_apart(tokyo: Refreshed, tmp_path: Path) -> None:
    before = load()
    own = tmp_path / "prices.toml"
    own.write_text(as_toml(*in_one_file(tokyo, before), "about\nthis file"), encoding="utf-8")
    after = read(data_directory(), own)
    express = after.price("s3-express-one-zone", "storage", "ap-northeast-1")
    assert before.price("s3-express-one-zone", "storage", "ap-northeast-1") is None
    assert express is not None and express.value == 0.12
    bands = after.price_bands("s3-standard", "storage", "ap-northeast-1")
    assert [row.quantity and row.quantity.value for row in bands] == [0.025, 0.024, 0.023]
    # What was not found keeps the price it had.
    assert after.price("s3-files", "write", "ap-northeast-1") == before.price("s3-files", "write", "ap-northeast-1")
    instance = after.instance_price("p5.48xlarge", "ap-northeast-1")
    assert instance is not None and (instance.value, instance.unit) == (68.8, "USD/hour")
    assert after.instance_price("p5.48xlarge", "us-east-1") == before.instance_price("p5.48xlarge", "us-east-1")
    age = after.as_of()["refreshed prices.toml"]
    assert (age.oldest, age.newest, age.undated) == ("2026-11-20", "2026-11-27", 0)
    assert "refreshed prices.toml" not in before.as_of()


def test_what_changed_is_a_price_that_is_new_or_another(tokyo: Refreshed) -> None:
    changed = {change.now.key: change for change in changes(tokyo, load())}
    express = changed["s3-express-one-zone", "storage", "ap-northeast-1", None]
    assert express.was is None
    assert ("s3-standard", "get", "ap-northeast-1", None) not in changed  # 0.00037 then and now


def test_a_second_region_joins_the_first_in_the_file(tokyo: Refreshed, tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(as_toml(*in_one_file(tokyo, load()), ""), encoding="utf-8")
    with_tokyo = read(data_directory(), own)
    beijing = from_offers(products_of_offer(offer()), "cn-north-1", with_tokyo, today=TODAY)
    own.write_text(as_toml(*in_one_file(beijing, with_tokyo), ""), encoding="utf-8")
    both = read(data_directory(), own)
    assert {row.region for row in both.refreshed} == {"ap-northeast-1", "cn-north-1"}
    found = both.price("fsx-for-lustre", "storage", "cn-north-1", "PERSISTENT_1-SSD-50")
    assert found is not None and found.value == 1.15
    assert len(both.refreshed) == len(tokyo.prices) + 1


# ---- the shell ------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    load()  # before a file is named that is not there
    place = tmp_path / "settings" / "prices.toml"
    monkeypatch.setenv("GPUFEED_PRICES", str(place))
    return place


def test_the_shell_shows_each_price_with_its_date_and_what_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "--region", "us-east-1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "S3 Express One Zone, GET requests: USD 0.00003 per 1,000 requests" in "\n".join(lines)
    assert "FSx for Lustre PERSISTENT_2-SSD-500, storage: not priced" in lines
    assert any(line.startswith("p5.48xlarge: USD 55.04 per hour (as of 2026-07-28, ") for line in lines)


def test_a_refresh_is_kept_where_it_says_and_the_next_answer_prefers_it(
    own_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(price_list, "connect", lambda *_: Pricing(answers()))
    assert main(["prices", "--region", "ap-northeast-1", "--refresh", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["written"] == str(own_file) and own_file.is_file()
    assert document["as_of"]["price-list-AmazonFSx-ap-northeast-1"] == "2026-11-20"
    assert {"option": "s3-files", "item": "write", "configuration": None, "why": "ambiguous"} in document["missing"]
    load.cache_clear()
    try:
        assert main(["prices", "--region", "ap-northeast-1", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
    finally:
        load.cache_clear()
    [express] = [row for row in shown["prices"] if (row["option"], row["item"]) == ("s3-express-one-zone", "storage")]
    assert express["refreshed"] is True and express["price"]["value"] == 0.12
    assert shown["facts_as_of"]["refreshed prices.toml"]["newest"] == "2026-11-27"


def test_offer_files_are_read_without_asking_aws(own_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ANSWERS / "offer_fsx_beijing.json")
    assert main(["prices", "--region", "cn-north-1", "--offer", path]) == 0
    out = capsys.readouterr().out
    assert "FSx for Lustre PERSISTENT_1-SSD-50, storage: not priced → CNY 1.15 per GiB-month" in out
    assert "[[price]]" in own_file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "message_id"),
    [
        (["--region", "us-moon-1"], 2, "prices.unknown-region"),
        (["--region", "us-moon-1", "--refresh"], 2, "prices.unknown-region"),
        (["--offer", "no-such-file.json"], 2, "document.not-read"),
        (["--offer", str(ANSWERS / "offer_fsx_beijing.json")], 1, "prices.nothing-found"),  # of another Region
    ],
)
def test_what_cannot_be_answered_is_one_sentence_and_its_exit_code(
    own_file: Path, arguments: list[str], code: int, message_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prices", *arguments, "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["id"] == message_id and err.count("\n") == 1
    assert not own_file.exists()


def test_without_a_place_nothing_is_refreshed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPUFEED_PRICES", "")
    assert main(["prices", "--refresh"]) == 2
    assert "--to" in capsys.readouterr().err


@pytest.mark.parametrize(
    "said",
    [
        (
            "en",
            (
                "GPUFEED_PRICES names {file}, and there is no such file. Correct the name, let gpufeed prices "
                "--refresh write the file, or leave GPUFEED_PRICES empty: then the snapshot holds alone.\n"
            ),
        ),
        (
            "zh_CN",
            (
                "GPUFEED_PRICES 指定了 {file}，但没有这个文件。请更正名称，用 gpufeed prices --refresh 写出该文件，"
                "或将 GPUFEED_PRICES 留空：这时只用自带快照。\n"
            ),
        ),
    ],
)
@pytest.mark.parametrize("command", [["prices"], ["recommend", "job.toml"], ["scan", "s3://your-bucket/"], ["fields"]])
def test_a_named_file_of_prices_that_is_not_there_ends_the_command(
    command: list[str],
    said: tuple[str, str],
    own_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    language, sentence = said
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    (own_file.parents[1] / "job.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(own_file.parents[1])
    load.cache_clear()
    try:
        assert main(command) == 2
    finally:
        load.cache_clear()
    assert capsys.readouterr() == ("", sentence.format(file=own_file))


def test_the_file_of_prices_in_ones_settings_need_not_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUFEED_PRICES")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    load.cache_clear()
    try:
        assert main(["prices"]) == 0
    finally:
        load.cache_clear()
    assert capsys.readouterr().err == ""


def test_a_file_of_ones_own_that_is_no_price_file_is_named(own_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_file.parent.mkdir()
    own_file.write_text('[[price]]\noption = "s3-standard"\n', encoding="utf-8")
    load.cache_clear()
    try:
        assert main(["prices"]) == 2
    finally:
        load.cache_clear()
    assert "prices.toml" in capsys.readouterr().err
