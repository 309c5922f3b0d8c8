"""Today's prices from the AWS Price List: asked of its API, or read from its offer files.

Products are found by what AWS says of them: attributes whose values a source gives, or, where none does, words that
must stand among the attributes.  What is not found, or found more than once, stays without a price of today.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from gpufeed.facts import Facts, Price, Quantity, Source
from gpufeed.facts.errors import InputError
from gpufeed.facts.known import instead
from gpufeed.facts.prices import INSTANCES
from gpufeed.model.kind import expect
from gpufeed.observe.aws.client import connect, refusal

#: Where the API answers: prices of all Regions of a partition from one.  References: botocore-models.
ENDPOINT_REGION = "us-east-1"
CHINA_ENDPOINT_REGION = "cn-northwest-1"
OFFER = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/{service}/current/{region}/index.json"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One graduated band of a product's on-demand price, as AWS states it."""

    unit: str
    begin: float
    end: float | None  # None: no upper bound
    price: float
    currency: str


@dataclass(frozen=True, slots=True)
class Product:
    """One product of a service: its attributes and what it costs on demand."""

    service: str
    family: str
    attributes: Mapping[str, str]
    dimensions: tuple[Dimension, ...]
    published: str  # day, YYYY-MM-DD


@dataclass(frozen=True, slots=True)
class Wanted:
    """A price of ours and how its product is known.

    ``exact`` attributes are asked for as they are; ``like`` are patterns that a whole value must match; each of
    ``words`` must stand somewhere among the values.  ``per`` of AWS's units make one of ours.
    """

    option: str
    item: str
    unit: str
    service: str
    aws_unit: str
    exact: Mapping[str, str] = field(default_factory=dict)
    like: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    configuration: str | None = None
    per: float = 1.0
    banded: bool = False


# A usage type begins with its Region, as APN1-TimedStorage-ByteHrs or us-east-1-KMS-Requests, or goes without.
_CODE = r"([A-Z0-9]+-|[a-z]{2}-[a-z-]+-\d-)?"
_S3, _FSX, _EC2 = "AmazonS3", "AmazonFSx", "AmazonEC2"


def _s3(option: str, item: str, usage: str, aws_unit: str, **more: Any) -> Wanted:
    unit, per = {"GB-Mo": ("GiB-month", 1.0), "GB": ("GiB", 1.0), "Requests": ("1000 requests", 1000.0)}[aws_unit]
    return Wanted(option, item, unit, _S3, aws_unit, like={"usagetype": _CODE + usage}, per=per, **more)


def _lustre(name: str, storage: str, throughput: str) -> Wanted:
    return Wanted(
        "fsx-for-lustre",
        "storage",
        "GiB-month",
        _FSX,
        "GB-Mo",
        exact={"fileSystemType": "Lustre", "storageType": storage},
        # Scratch has none; a number may carry its unit.  Backups and caches are other usage types.
        like={"throughputCapacity": throughput, "usagetype": _CODE + r"Storage(\..+)?"},
        configuration=name,
    )


#: References: s3-usage-types (usage types), and for the other attributes public records of the Price List.
WANTED = (
    _s3("s3-standard", "storage", "TimedStorage-ByteHrs", "GB-Mo", exact={"volumeType": "Standard"}, banded=True),
    _s3("s3-standard", "put", "Requests-Tier1", "Requests", exact={"group": "S3-API-Tier1"}),
    _s3("s3-standard", "list", "Requests-Tier1", "Requests", exact={"group": "S3-API-Tier1"}),
    _s3("s3-standard", "get", "Requests-Tier2", "Requests", exact={"group": "S3-API-Tier2"}),
    _s3("s3-express-one-zone", "storage", "TimedStorage-XZ-ByteHrs", "GB-Mo"),
    _s3("s3-express-one-zone", "put", "Requests-XZ-Tier1", "Requests"),
    _s3("s3-express-one-zone", "get", "Requests-XZ-Tier2", "Requests"),
    # LIST requests for all buckets count as this tier.
    _s3("s3-express-one-zone", "list", "Requests-Tier1", "Requests", exact={"group": "S3-API-Tier1"}),
    _s3("s3-express-one-zone", "upload", "Upload-XZ", "GB"),
    _s3("s3-express-one-zone", "retrieval", "Retrieval-XZ", "GB"),
    # No source gives the attributes of S3 Files: found by its name and what is done, or not at all.
    Wanted("s3-files", "storage", "GiB-month", _S3, "GB-Mo", words=("s3 files",)),
    Wanted("s3-files", "read", "GiB", _S3, "GB", words=("s3 files", "read")),
    Wanted("s3-files", "write", "GiB", _S3, "GB", words=("s3 files", "write")),
    _lustre("SCRATCH_2", "SSD", "N/A"),
    *(_lustre(f"PERSISTENT_1-SSD-{rate}", "SSD", rf"{rate}(\D.*)?") for rate in (50, 100, 200)),
    *(_lustre(f"PERSISTENT_1-HDD-{rate}", "HDD", rf"{rate}(\D.*)?") for rate in (12, 40)),
    *(_lustre(f"PERSISTENT_2-SSD-{rate}", "SSD", rf"{rate}(\D.*)?") for rate in (125, 250, 500, 1000)),
    Wanted(
        "fsx-for-lustre", "metadata-iops", "IOPS-month", _FSX, "IOPS-Mo",
        exact={"fileSystemType": "Lustre"}, words=("metadata",),
    ),
    Wanted(
        "network", "nat", "GiB", _EC2, "GB",
        exact={"group": "NGW:NatGateway"}, like={"usagetype": _CODE + "NatGateway-Bytes"},
    ),
    Wanted(
        "encryption", "kms", "1000 requests", "awskms", "Requests",
        like={"usagetype": _CODE + "KMS-Requests"}, per=1000.0,
    ),
)  # fmt: skip


def _instance(instance_type: str) -> Wanted:
    exact = {
        "instanceType": instance_type, "operatingSystem": "Linux", "tenancy": "Shared",
        "capacitystatus": "Used", "preInstalledSw": "NA",
    }  # fmt: skip
    return Wanted(INSTANCES, instance_type, "hour", _EC2, "Hrs", exact=exact)


def wanted(facts: Facts) -> tuple[Wanted, ...]:
    """Every price that an answer may need: storage, requests, ways to the bucket, and each instance type."""
    return (*WANTED, *(_instance(name) for name in facts.instances))


@dataclass(frozen=True, slots=True)
class Missing:
    """A price that today's Price List did not give: "not-found", "ambiguous" or "other-unit"."""

    option: str
    item: str
    configuration: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Today's prices of one Region, where they were read, and what was not found."""

    region: str
    prices: tuple[Price, ...]
    sources: tuple[Source, ...]
    missing: tuple[Missing, ...]


def ask(region: str, facts: Facts, *, today: date, client: Any = None) -> Refreshed:
    """Today's prices of a Region from GetProducts, service by service.

    ``client`` is a boto3 client of ``pricing``; made here where it is not given.  Raises InputError for a Region that
    is not known here, GpufeedError where AWS refuses.
    """
    _check(region, facts)
    home = CHINA_ENDPOINT_REGION if region.startswith("cn-") else ENDPOINT_REGION
    client = client or connect("pricing", home)
    products: list[Product] = []
    try:
        for service, exact in _questions(wanted(facts)):
            filters = [
                {"Type": "TERM_MATCH", "Field": name, "Value": value}
                for name, value in {"regionCode": region, **exact}.items()
            ]
            products += _products(client, service, filters)
    except Exception as error:  # noqa: BLE001 — botocore raises many kinds; all become one sentence
        raise refusal(error, "pricing", home, "pricing:GetProducts") from None
    return found(products, region, facts, today)


def from_offers(products: Iterable[Product], region: str, facts: Facts, *, today: date) -> Refreshed:
    """The same from the products of offer files that were downloaded (:func:`products_of_offer`)."""
    _check(region, facts)
    return found((p for p in products if p.attributes.get("regionCode", region) == region), region, facts, today)


def _check(region: str, facts: Facts) -> None:
    if region not in facts.regions:
        raise InputError("prices.unknown-region", region=region, instead=instead(region, facts.regions))


def _questions(prices: Iterable[Wanted]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """What to ask for, each once: prices known by patterns alone need all products of their service."""
    asked: list[tuple[str, Mapping[str, str]]] = []
    for price in prices:
        # Of S3's and KMS's products there are few hundred in a Region: one question beats one for each price.
        question = (price.service, {} if price.service in (_S3, "awskms") else dict(price.exact))
        if question not in asked:
            asked.append(question)
            yield question


def _products(client: Any, service: str, filters: list[dict[str, str]]) -> Iterator[Product]:
    """All pages of one question.  A token that comes a second time ends it: it would never end."""
    request: dict[str, Any] = {"ServiceCode": service, "Filters": filters, "FormatVersion": "aws_v1"}
    seen: set[str] = set()
    while True:
        page = client.get_products(**request)
        for entry in page.get("PriceList", ()):
            product = product_of(entry)
            if product is not None:
                yield product
        token = page.get("NextToken")
        if not token or token in seen:
            return
        seen.add(token)
        request["NextToken"] = token


# ---- AWS's own shape -------------------------------------------------------------------------------------------------


def product_of(entry: str | Mapping[str, Any]) -> Product | None:
    """One entry of ``PriceList``: JSON text with the product and its terms.  None where it is not sold on demand."""
    document = json.loads(entry) if isinstance(entry, str) else entry
    terms = document.get("terms", {}).get("OnDemand", {})
    return _product(document["product"], terms, document.get("serviceCode", ""), document.get("publicationDate", ""))


def products_of_offer(document: Mapping[str, Any]) -> list[Product]:
    """The products of one offer file (``index.json`` of a service and Region).

    Raises InputError for another kind of document.
    """
    expect(document, "offer")
    try:
        return list(_products_of_offer(document))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError("prices.no-offer") from None


def _products_of_offer(document: Mapping[str, Any]) -> Iterator[Product]:
    products, terms = document.get("products"), document.get("terms")
    if not isinstance(products, Mapping) or not isinstance(terms, Mapping):
        raise InputError("prices.no-offer")
    on_demand = terms.get("OnDemand", {})
    service, published = document.get("offerCode", ""), document.get("publicationDate", "")
    for sku, stated in products.items():
        product = _product(stated, on_demand.get(sku, {}), service, published)
        if product is not None:
            yield product


def _product(stated: Mapping[str, Any], terms: Mapping[str, Any], service: str, published: str) -> Product | None:
    attributes = {name: str(value) for name, value in stated.get("attributes", {}).items()}
    bands = [band for term in terms.values() for band in term.get("priceDimensions", {}).values()]
    dimensions = sorted(filter(None, map(_dimension, bands)), key=lambda dimension: dimension.begin)
    if not dimensions:
        return None
    service = attributes.get("servicecode") or service
    return Product(service, stated.get("productFamily", ""), attributes, tuple(dimensions), published[:10])


def _dimension(stated: Mapping[str, Any]) -> Dimension | None:
    """A band without a price in a currency we know (a free trial, another partition) is none."""
    money = stated.get("pricePerUnit", {})
    currency = next((name for name in ("USD", "CNY") if name in money), None)
    if currency is None:
        return None
    end = stated.get("endRange", "Inf")
    return Dimension(
        unit=stated.get("unit", ""),
        begin=float(stated.get("beginRange") or 0),
        end=None if end == "Inf" else float(end),
        price=float(money[currency]),
        currency=currency,
    )


# ---- from AWS's products to our rows ---------------------------------------------------------------------------------


def found(products: Iterable[Product], region: str, facts: Facts, today: date) -> Refreshed:
    """Our price rows, each from the one product that fits."""
    currency = facts.currency_of(region)
    every = [product for product in products if product.dimensions[0].currency == currency]
    sources: dict[str, Source] = {}
    rows: list[Price] = []
    missing: list[Missing] = []
    for price in wanted(facts):
        fitting = {product.dimensions: product for product in every if fits(price, product)}
        product = next(iter(fitting.values()), None)
        why = "not-found" if product is None else "ambiguous" if len(fitting) > 1 else _wrong(price, product)
        if product is None or why:
            missing.append(Missing(price.option, price.item, price.configuration, why))
            continue
        source = _source(product, region, today)
        sources[source.id] = source
        rows += _rows(price, product, region, source)
    return Refreshed(region, tuple(rows), tuple(sources.values()), tuple(missing))


def fits(price: Wanted, product: Product) -> bool:
    """Whether this is the product of that price."""
    attributes = product.attributes
    if product.service != price.service or product.dimensions[0].unit.lower() != price.aws_unit.lower():
        return False
    if any(attributes.get(name) != value for name, value in price.exact.items()):
        return False
    if any(not re.fullmatch(pattern, attributes.get(name, "")) for name, pattern in price.like.items()):
        return False
    said = " ".join((product.family, *attributes.values())).lower()
    return all(word in said for word in price.words)


def _wrong(price: Wanted, product: Product) -> str:
    """Bands where one price is used: a first, free band would read as "costs nothing"."""
    return "" if price.banded or len(product.dimensions) == 1 else "graduated"


def _rows(price: Wanted, product: Product, region: str, source: Source) -> Iterator[Price]:
    for band in product.dimensions:
        # Twelve digits: 0.0000004 a request is 0.0004 for 1,000, and not 0.00039999999999999996.
        amount, unit = float(f"{band.price * price.per:.12g}"), f"{band.currency}/{price.unit}"
        yield Price(
            option=price.option,
            item=price.item,
            region=region,
            currency=band.currency,
            unit=price.unit,
            quantity=Quantity(amount, amount, amount, unit, "published", frozenset({source.id})),
            configuration=price.configuration,
            band_from=band.begin,
            band_to=band.end,
            sources=(source.id,),
            as_of=source.as_of,
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A price of today beside the one in force before; None where there was none."""

    now: Price
    was: Price | None


def changes(refreshed: Refreshed, facts: Facts) -> list[Change]:
    """What is not as it was."""
    before = {(*row.key, row.band_from): row for row in facts.prices}
    pairs = [Change(row, before.get((*row.key, row.band_from))) for row in refreshed.prices]
    return [pair for pair in pairs if _amount(pair.was) != _amount(pair.now)]


def _amount(row: Price | None) -> float | None:
    return None if row is None or row.quantity is None else row.quantity.value


def in_one_file(refreshed: Refreshed, facts: Facts) -> tuple[list[Price], list[Source]]:
    """Today's rows, and those of other Regions that were refreshed earlier, with the sources of them all."""
    kept = [row for row in facts.refreshed if row.region != refreshed.region]
    cited = {source for row in kept for source in row.sources}
    rows = [*refreshed.prices, *kept]
    return rows, [*refreshed.sources, *(facts.sources[source] for source in sorted(cited))]


def _source(product: Product, region: str, today: date) -> Source:
    return Source(
        id=f"price-list-{product.service}-{region}",
        title=f"AWS Price List, {product.service}, {region}",
        url=OFFER.format(service=product.service, region=region),
        as_of=product.published or today.isoformat(),
        retrieved=today.isoformat(),
        confidence="A",
    )
