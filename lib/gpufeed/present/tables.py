"""What the charts and panels show, as tables: the form that is read aloud, copied, and stored in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gpufeed.facts import Facts, load
from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.checkpoint_plan import (
    Ability,
    CheckpointPlan,
    Checkpoints,
    FailureEffect,
    MemoryFirst,
    Restore,
    abilities,
    lacking,
)
from gpufeed.model.file_system import Compared, Comparison, Sized
from gpufeed.model.flip import Sensitivity, Trait
from gpufeed.model.fsx import Configuration
from gpufeed.model.measurement import Measurement, concurrency_needed, gpus_fed
from gpufeed.model.observed_save import ObservedSave
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import (
    Cost,
    Demand,
    FlipPoint,
    LaterEpochs,
    OptionAnswer,
    Placement,
    Recommendation,
)
from gpufeed.model.release import Export
from gpufeed.model.release import gate as release_gate
from gpufeed.model.small_files import SmallFiles
from gpufeed.model.tally import Tally
from gpufeed.observe.scan import ScanResult
from gpufeed.present import words
from gpufeed.present.escape import visible

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN = 12


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Rows of text under translated headings (``column.<id>``)."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=[text(f"column.{name}") for name in columns])


# ---- choose ----------------------------------------------------------------------------------------------------------


def placements(recommendation: Recommendation) -> pd.DataFrame:
    """Where each data role goes, and what to order for it."""
    return table(
        ("role", "option", "configuration"),
        ((words.role(p.role), placed(p), configuration(p)) for p in recommendation.placements.values()),
    )


def opinions(recommendation: Recommendation) -> pd.DataFrame:
    """The published rule, the model and a measurement side by side per data role, and which of them decided."""
    return table(
        ("role", "rule", "model", "measured", "decided-by"),
        (
            (
                words.role(p.role),
                words.option(p.rule),
                words.option(p.model) if p.model else text("present.unknown"),
                words.measured(p),
                words.decided_by(p.decided_by),
            )
            for p in recommendation.placements.values()
        ),
    )


def why(recommendation: Recommendation) -> list[str]:
    """For each data role, why it goes where it goes."""
    return [
        text("panel.why", role=words.role(p.role), reasons=words.sentences(*(words.reason(r) for r in p.reasons)))
        for p in recommendation.placements.values()
    ]


def placed(p: Placement) -> str:
    """The option, and what backs it where it is a way onto a bucket."""
    name = words.option(p.option)
    if not p.backed_by or p.backed_by == p.option:
        return name
    return text("present.backed-by", option=name, backing=words.option(p.backed_by))


def configuration(p: Placement) -> str:
    """Settings that go with the placement: configuration, and for checkpoints mode and interval."""
    settings = [words.setting(name, value) for name, value in p.configuration.items() if value]
    if p.mode:
        settings.append(text(f"mode.{p.mode}"))
    if p.interval is not None:
        settings.append(text("present.every", duration=words.duration(p.interval)))
    return text("present.list-separator").join(settings) or "–"


def options(recommendation: Recommendation) -> pd.DataFrame:
    """The five systems: verdict, rate, how fed, what limits, and why."""
    return table(
        ("option", "verdict", "read-rate", "fed", "limited-by", "reasons"),
        (
            (
                words.option(answer.option),
                words.verdict(answer.verdict),
                words.quantity(answer.supply.read_bytes_per_s),
                words.quantity(answer.fed),
                words.limit(answer.supply.limited_by),
                " ".join(words.reason(reason) for reason in answer.reasons),
            )
            for answer in recommendation.options
        ),
    )


def epochs(recommendation: Recommendation) -> pd.DataFrame:
    """The first pass over the data on each system, apart from the later ones and what serves those."""
    return table(
        ("option", "first-epoch-time", "first-epoch-fed", "first-epoch-limit", "later-epochs-fed", "later-epochs-from"),
        (
            (
                words.option(answer.option),
                words.quantity(answer.first_epoch.seconds),
                words.quantity(answer.first_epoch.fed),
                words.limit(answer.first_epoch.limited_by),
                *_later(answer.later_epochs),
            )
            for answer in recommendation.options
        ),
    )


def _later(later: LaterEpochs | None) -> tuple[str, str]:
    if later is None:
        return "–", text("epochs.only-one")
    return words.quantity(later.fed), words.option(later.served_by)


def checkpoints(recommendation: Recommendation) -> pd.DataFrame:
    """Saving and restoring on each system: how long, what of it the GPUs wait for, and its share of the run."""
    return table(
        ("option", "save-time", "stall-time", "stall-share", "fits-interval", "restore-time"),
        (
            (
                words.option(answer.option),
                words.quantity(answer.stall.save_seconds),
                words.quantity(answer.stall.stall_seconds),
                words.quantity(answer.stall.share),
                _yes_no(answer.stall.fits_interval),
                words.quantity(answer.stall.restore_seconds),
            )
            for answer in recommendation.options
        ),
    )


def _yes_no(answer: bool | None) -> str:
    return text("present.unknown" if answer is None else "present.yes" if answer else "present.no")


def costs(recommendation: Recommendation) -> pd.DataFrame:
    """What each option costs for the run; options with a part that is not priced come last and name it."""
    parts = cost_parts(recommendation)
    return table(
        ("option", *parts, "total", "not-priced"),
        (
            (
                words.option(answer.option),
                *(amount(part_of(answer, name), answer.cost) for name in parts),
                amount(answer.cost.total, answer.cost),
                not_priced(answer),
            )
            for answer in priced_first(recommendation)
        ),
    )


#: The parts of a total, in the order they are shown: column → field of the cost.
_COST_PARTS = {
    "storage": "storage",
    "requests": "requests",
    "transfer": "transfer",
    "kms": "kms",
    "idle-gpus": "idle_gpu",
}
_ONLY_WHERE_CHARGED = ("transfer", "kms")


def cost_parts(recommendation: Recommendation) -> list[str]:
    """The parts that a total is made of here: the way to the bucket and its keys only where an option pays for them."""

    lines = {line.id for answer in recommendation.options for line in answer.cost.lines}
    return [name for name in _COST_PARTS if name not in _ONLY_WHERE_CHARGED or name in lines]


def part_of(answer: OptionAnswer, name: str) -> Quantity | None:
    part: Quantity | None = getattr(answer.cost, _COST_PARTS[name])
    return part


def bill(recommendation: Recommendation, option: str | None = None) -> pd.DataFrame:
    """The cost of the whole plan, or of one option, line by line, each an amount × a price, then the sums."""
    cost = recommendation.cost if option is None else recommendation.option(option).cost
    sources = load().sources
    rows = [
        (
            text(f"cost.{line.id}"),
            words.quantity(line.quantity, "present.no-amount"),
            words.unit_price(line.unit_price, line.unit, cost.currency),
            amount(line.amount, cost),
            words.cited(line.unit_price, sources),
        )
        for line in cost.lines
    ]
    sums = (("beyond-base", cost.beyond_base), ("total", cost.total))
    rows += [(text(f"cost-sum.{name}"), "", "", amount(sum_, cost), "") for name, sum_ in sums]
    return table(("cost-line", "billed", "unit-price", "cost", "sources"), rows)


def amount(part: Quantity | None, cost: Cost) -> str:
    """Money in the cost's currency, or "not priced"."""
    return words.quantity(part and part.named(cost.currency), "present.not-priced")


def priced_first(recommendation: Recommendation) -> list[OptionAnswer]:
    """Options by their total; those whose total is not known are ranked apart, after the others."""
    return sorted(
        recommendation.options,
        key=lambda answer: (answer.cost.total is None, answer.cost.total.value if answer.cost.total else 0),
    )


def not_priced(answer: OptionAnswer) -> str:
    return text("present.list-separator").join(text(f"cost.{part}") for part in answer.cost.not_priced)


def supplies(recommendation: Recommendation) -> pd.DataFrame:
    """What each option gives beside what the GPUs ask."""
    demand = recommendation.demand.read_bytes_per_s
    return table(
        ("option", "read-rate", "demand", "fed", "limited-by"),
        (
            (
                words.option(answer.option),
                words.quantity(answer.supply.read_bytes_per_s),
                words.quantity(demand),
                words.quantity(answer.fed),
                words.limit(answer.supply.limited_by),
            )
            for answer in recommendation.options
        ),
    )


def sensitivity(found: Sequence[Sensitivity]) -> pd.DataFrame:
    """One row per trait, the nearest flip first: its value now, and the first change on either side of it."""
    return table(
        ("trait", "today", "less", "more"),
        (
            (
                text(f"trait.{one.trait.name}"),
                today(one.trait),
                _first_change(one, one.below, one.trait.low),
                _first_change(one, one.above, one.trait.high),
            )
            for one in nearest_first(found)
        ),
    )


def nearest_first(found: Iterable[Sensitivity]) -> list[Sensitivity]:
    return sorted(found, key=lambda one: one.factor)


def today(trait: Trait) -> str:
    """Its value now; a default is called one."""
    if trait.now is None:
        return text("flip.not-stated")
    value = words.trait_value(trait.name, trait.now)
    return value if trait.stated else text("flip.by-default", value=value)


def _first_change(one: Sensitivity, flip: FlipPoint | None, end: float) -> str:
    """All roles that change there, and to what; or how far the answer stays."""
    name, now = one.trait.name, one.trait.now
    if flip is not None:
        return moved([other for other in one.flips if other.at == flip.at])
    if now == end:
        return text("flip.end")
    return text("flip.none-above" if end == one.trait.high else "flip.none-below", at=words.trait_value(name, end))


def moved(flips: Sequence[FlipPoint]) -> str:
    """Flips at one value in a few words; roles that go to the same option together."""
    options = dict.fromkeys(flip.option for flip in flips)
    separator = text("present.list-separator")
    return separator.join(
        text(
            "flip.moved",
            roles=separator.join(words.role(flip.role) for flip in flips if flip.option == option),
            option=words.option(option),
            at=words.trait_value(flips[0].trait, flips[0].at),
        )
        for option in options
    )


def flips(found: Iterable[Sensitivity]) -> list[str]:
    """A sentence for each flip, with the reason, the nearest first; one that says so where there is none."""
    said = [words.flip_point(flip) for one in nearest_first(found) for flip in one.flips]
    return said or [text("flip.nothing")]


# ---- file systems ----------------------------------------------------------------------------------------------------


def file_systems(sized: Sized) -> pd.DataFrame:
    """Every FSx for Lustre file system that would do, cheapest first; then the unpriced, those that lack something, and
    the types that are ruled out.
    """
    found, currency = sized.found, sized.currency
    groups = (("priced", found.priced), ("unpriced", found.unpriced), ("lacking", found.lacking))
    rows = [_file_system(one, group, currency) for group, ones in groups for one in ones]
    rows += [
        (out.name, text("fsx.verdict.ruled-out"), *["–"] * 5, " ".join(map(words.reason, out.reasons)))
        for out in found.ruled_out
    ]
    columns = ("configuration", "verdict", "read-rate", "write-rate", "opens", "size-set-by", "per-month", "reasons")
    return table(columns, rows)


def _file_system(one: Configuration, group: str, currency: str) -> tuple[str, ...]:
    return (
        settings(one),
        text(f"fsx.verdict.{group}"),
        words.quantity(one.read_bytes_per_s),
        words.quantity(one.write_bytes_per_s),
        words.quantity(one.opens_per_s),
        size_set_by(one),
        per_month(one, currency),
        " ".join(map(words.reason, (*one.lacks, *one.notes))) or "–",
    )


def settings(one: Configuration) -> str:
    return text("present.list-separator").join(words.setting(name, value) for name, value in one.settings.items())


def size_set_by(one: Configuration) -> str:
    """What decided the capacity, and how much it asks for."""
    asked = one.asked_gib.get(one.size_set_by)
    return text(f"fsx.size-set-by.{one.size_set_by}", gib="" if asked is None else words.number(asked))


def per_month(one: Configuration, currency: str) -> str:
    """The price; where metadata IOPS are ordered, storage and they apart as well."""
    storage, metadata = one.storage_per_month, one.metadata_per_month
    whole = amount_of(one.per_month, currency)
    if one.per_month is None or storage is None or metadata is None or not metadata.value:
        return whole
    parts = {"storage": amount_of(storage, currency), "metadata": amount_of(metadata, currency)}
    return text("fsx.per-month-in-parts", whole=whole, **parts)


def amount_of(price: Quantity | None, currency: str) -> str:
    return words.quantity(price and price.named(currency), "present.not-priced")


def compared(comparison: Comparison) -> pd.DataFrame:
    """What a file system has beside what the job needs, trait by trait."""
    return table(("trait", "has", "needs", "verdict", "short-by", "reasons"), compared_rows(comparison))


def compared_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    return [
        (
            text(f"fsx.trait.{row.id}"),
            _trait(row, row.has),
            "–" if row.needs is None else _trait(row, row.needs),
            text(f"fsx.is.{row.verdict}"),
            "–" if row.short_by is None else _trait(row, row.short_by),
            words.reason(row.note) if row.note else "–",
        )
        for row in comparison.rows
    ]


def _trait(row: Compared, value: Quantity | bool | str | None) -> str:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Quantity):
        return words.gibibytes(value.value) if row.id == "capacity" else words.quantity(value)
    return _yes_no(value)


def comparison_sentences(comparison: Comparison, currency: str) -> list[str]:
    """Whether it is enough, what binds, what to change, and what it costs then."""
    has = comparison.file_system
    enough = "unknown" if comparison.enough is None else "yes" if comparison.enough else "no"
    binds = text("present.none") if comparison.binds is None else text(f"fsx.trait.{comparison.binds}")
    said = [text(f"fsx.enough.{enough}", id=visible(has.id), region=visible(has.region), binds=binds)]
    said += [words.reason(change) for change in comparison.changes]
    if comparison.instead is not None:
        said.append(text("fsx.instead", configuration=settings(comparison.instead)))
    elif comparison.enough is False and not comparison.changes:
        said.append(text("fsx.nothing-would-do", region=visible(has.region)))
    now, then = (amount_of(price, currency) for price in (comparison.per_month_now, comparison.per_month_then))
    said.append(text("fsx.costs-now", now=now) if comparison.enough else text("fsx.costs", now=now, then=then))
    return said


def file_system_sentences(sized: Sized) -> list[str]:
    """What the table of file systems leaves out: what is not known, and whether the Region has the types."""
    said = [text("fsx.not-sized-for", trait=text(f"fsx.trait.{trait}")) for trait in sorted(sized.need.unknown)]
    if not sized.found.types_confirmed:
        said.append(text("fsx.types-not-confirmed", region=visible(sized.region)))
    return said


# ---- measure ---------------------------------------------------------------------------------------------------------


def sweep(measurement: Measurement, demand: Demand | None, *, digits: bool = True) -> pd.DataFrame:
    """One row per concurrency: rate, requests/s, latencies and errors, beside what the GPUs ask.

    Without ``digits`` only what is the same at every run: concurrencies, and rates as :func:`words.bucketed`.
    """
    rate = demand.read_bytes_per_s if demand else None
    asked = words.network_rate(rate.value if rate else None)
    records = [record for record in measurement.sweep or measurement.records if record.op == "read"]
    if not digits:
        return table(
            ("concurrency", "read-rate", "requests-per-second", "demand"),
            (
                (
                    words.count(record.concurrency),
                    words.bucketed(record.bytes_per_s),
                    words.bucketed(record.ops_per_s, "requests/s"),
                    asked,
                )
                for record in records
            ),
        )
    return table(
        ("concurrency", "read-rate", "requests-per-second", "p50", "p99", "errors", "retries", "client-cpu", "demand"),
        (
            (
                words.count(record.concurrency),
                words.network_rate(record.bytes_per_s),
                words.per_second(record.ops_per_s, "requests"),
                words.duration(record.p50),
                words.duration(record.p99),
                words.count(record.errors),
                words.count(record.retries),
                words.share(record.client_cpu_share),
                asked,
            )
            for record in records
        ),
    )


def findings(measurement: Measurement, demand: Demand | None) -> list[str]:
    """What it comes to: how many GPUs it feeds, from which concurrency, what the limit was, what was measured."""
    said = []
    rate = measurement.read_bytes_per_s
    each = demand.read_bytes_per_s_per_accelerator if demand else None
    if rate is not None and demand is not None and demand.read_bytes_per_s is not None and each is not None:
        said.append(_feeds(gpus_fed(measurement, each), words.count(demand.accelerators)))
        enough = concurrency_needed(measurement, demand.read_bytes_per_s.value)
        said.append(
            text("measure.not-fed") if enough is None else text("measure.fed-from", concurrency=words.count(enough))
        )
    if rate is not None:
        said.append(text(f"measure.limited-by.{measurement.limited_by}"))
    conditions = measurement.conditions
    if conditions.cost and conditions.currency:
        said.append(text("measure.cost", cost=words.money(conditions.cost, conditions.currency)))
    return said


def _feeds(fed: Quantity | None, of: str) -> str:
    if fed is not None and fed.high < 1.0:
        return text("measure.feeds-not-one", share=words.quantity_range(fed.named("share")), of=of)
    low, high = (text("present.unknown"),) * 2 if fed is None else (words.number(fed.low), words.number(fed.high))
    return text("measure.feeds", fed=low if low == high else words.between(low, high), of=of)


def series(points: Sequence[tuple[float, float]]) -> pd.DataFrame:
    """Rate over time, as drawn: seconds and bytes/s."""
    return table(("seconds", "bytes-per-second"), points)


# ---- inspect ---------------------------------------------------------------------------------------------------------


def scan_sentence(result: ScanResult) -> str:
    """How much was found, and where."""
    return text(
        "panel.found",
        objects=words.count(result.profile.objects),
        size=words.size(result.profile.bytes),
        url=visible(result.place.url),
    )


def sizes(profile: PrefixProfile) -> pd.DataFrame:
    """Objects and bytes by size."""
    return table(
        ("up-to", "objects", "bytes"),
        (
            (words.binary_size(row["up_to"]), words.count(row["objects"]), words.size(row["bytes"]))
            for row in profile.by_size()
        ),
    )


def small_file_sentences(found: SmallFiles) -> list[str]:
    """The verdict for S3 Standard, how much is small, and the first advice on packing."""
    headline = found.headline
    said = [
        text("inspect.verdict", verdict=text(f"small-files.{headline.reason}")),
        text(
            "inspect.share",
            objects=words.share(found.share_of_objects),
            bytes=words.share(found.share_of_bytes),
            threshold=words.quantity(headline.threshold_bytes),
            concurrency=words.number(found.concurrency),
        ),
    ]
    if plan := found.shard_plan:
        said.append(
            text(
                "inspect.shards",
                shards=words.count(plan.shards),
                size=words.size(plan.shard_bytes),
                before=words.count(plan.requests_before),
                after=words.count(plan.requests_after),
            )
        )
    return said


def small_files(found: SmallFiles, currency: str) -> pd.DataFrame:
    """Per option: whether the objects are too small for it, and what one epoch costs in time and request money."""
    return table(
        ("option", "too-small", "threshold", "epoch-time", "requests", "request-cost", "reasons"),
        (
            (
                words.option(verdict.option),
                text("present.yes" if verdict.problem else "present.no"),
                words.quantity(verdict.threshold_bytes),
                words.quantity(verdict.epoch_seconds),
                words.count(verdict.requests),
                words.quantity(verdict.request_cost and verdict.request_cost.named(currency), "present.not-priced"),
                text(f"small-files.{verdict.reason}"),
            )
            for verdict in found.per_option
        ),
    )


def prefixes(profile: PrefixProfile) -> pd.DataFrame:
    return _tally("prefix", profile.prefixes)


def extensions(profile: PrefixProfile) -> pd.DataFrame:
    return _tally("extension", profile.extensions)


def storage_classes(profile: PrefixProfile) -> pd.DataFrame:
    return _tally("storage-class", profile.storage_classes)


def largest(tally: Tally, rows: int = ROWS_SHOWN) -> list[tuple[str, int, int]]:
    """(name, objects, bytes) of the largest rows, and one last row that sums all others."""
    ordered = tally.largest_first()
    shown = [(_name(name), objects, size) for name, objects, size in ordered[:rows]]
    rest = [(objects, size) for _, objects, size in ordered[rows:]] + [(tally.other[0], tally.other[1])]
    objects, size = (sum(row[column] for row in rest) for column in (0, 1))
    return [*shown, (text("present.all-others"), objects, size)] if objects else shown


def _name(name: str | None) -> str:
    return text("present.none-given") if not name else visible(name)


def _tally(label: str, tally: Tally) -> pd.DataFrame:
    return table(
        (label, "objects", "bytes"),
        ((name, words.count(objects), words.size(size)) for name, objects, size in largest(tally)),
    )


# ---- checkpoints -----------------------------------------------------------------------------------------------------


def checkpoint_sentences(plan: CheckpointPlan) -> list[str]:
    """What is saved, by whom, how often, and where the plan puts it."""
    demand = plan.plan.demand
    if plan.size is None:
        return [text("checkpoints.size-unknown")]
    one = plan.writers == 1
    said = [
        text("checkpoints.size", size=words.quantity(plan.size)),
        text(
            "checkpoints.one-writer" if one else "checkpoints.writers",
            writers=words.count(plan.writers),
            each=words.size(plan.bytes_per_file),
            ranks=words.count(demand.accelerators),
        ),
        text(f"checkpoints.mode.{demand.checkpoint_mode}", interval=words.duration(demand.checkpoint_interval)),
    ]
    placed = plan.placed
    if placed.lost is not None:
        said.append(
            text(
                "checkpoints.placed",
                option=words.option(placed.option),
                lost=words.quantity(placed.lost.now.lost),
                best=words.duration(placed.lost.best_interval),
                then=words.quantity(placed.lost.best.lost),
            )
        )
    beyond = placed.answer.stall.beyond_seconds
    if beyond is not None and beyond.value > 0:
        said.append(text("checkpoints.beyond", option=words.option(placed.option), beyond=words.quantity(beyond)))
    return said


def saves(plan: CheckpointPlan) -> pd.DataFrame:
    """Saving on each option: what the GPUs wait, until when it is written, whether that fits, and what rules it out."""
    return table(
        ("option", "verdict", "stall-time", "save-time", "beyond", "fits-interval", "against"),
        (
            (
                words.option(option.option),
                words.verdict(option.verdict),
                words.quantity(option.answer.stall.stall_seconds),
                words.quantity(option.answer.stall.save_seconds),
                _beyond(option),
                _yes_no(option.answer.stall.fits_interval),
                words.sentences(*(words.reason(reason) for reason in (*option.cannot, *option.but))) or "–",
            )
            for option in plan.options
        ),
    )


def _beyond(option: Checkpoints) -> str:
    beyond = option.answer.stall.beyond_seconds
    return "–" if beyond is None else words.quantity(beyond)


def goodput(plan: CheckpointPlan) -> pd.DataFrame:
    """Where the time goes at the stated interval, what that costs, and the interval that wastes least."""
    return table(
        (
            "option",
            "goodput",
            "lost",
            "saving-share",
            "rework",
            "restart",
            "lost-per-hour",
            "young",
            "daly",
            "best",
            "lost-best",
        ),
        (_goodput(option) for option in plan.options),
    )


def _goodput(option: Checkpoints) -> tuple[str, ...]:
    name, lost = words.option(option.option), option.lost
    if lost is None:
        return (name, *[text("present.unknown")] * 10)
    now = lost.now
    return (
        name,
        words.share(now.goodput.value),
        words.quantity(now.lost),
        words.share(now.saving.value),
        words.share(now.rework.value),
        words.share(now.restart.value),
        words.quantity(lost.per_hour, "present.not-priced"),
        words.duration(lost.young),
        words.duration(lost.daly),
        words.duration(lost.best_interval),
        words.quantity(lost.best.lost),
    )


def failures(plan: CheckpointPlan) -> pd.DataFrame:
    """Time between failures by what each source counts as one, and what each makes of the plan; never averaged."""
    return table(
        ("counts", "published-on", "published-time", "here", "best", "lost"),
        (_failure(effect) for effect in plan.failures),
    )


def _failure(effect: FailureEffect) -> tuple[str, ...]:
    definition = effect.definition
    per_node = definition.gpus is None
    return (
        text(f"failure.counts.{definition.id}"),
        text("failure.per-node") if per_node else text("failure.gpus", gpus=words.count(definition.gpus)),
        "–" if per_node else words.quantity(definition.published),
        words.quantity(definition.here),
        words.duration(effect.best_interval),
        words.quantity(effect.lost),
    )


def restores(plan: CheckpointPlan) -> pd.DataFrame:
    """Restoring on all nodes at once, in both ways; the last column is what this job does."""
    return table(
        ("option", "restore-shards", "restore-everything", "restore-base", "restore-here"),
        (_restore(option.option, option.restore) for option in plan.options),
    )


def _restore(option: str, restore: Restore | None) -> tuple[str, ...]:
    if restore is None:
        return (words.option(option), *[text("present.unknown")] * 4)
    return (
        words.option(option),
        words.quantity(restore.shards),
        words.quantity(restore.everything),
        "–" if restore.base is None else words.quantity(restore.base),
        text("present.used-as", option=words.quantity(restore.seconds), used_as=text(f"restore.{restore.way}")),
    )


def retention(plan: CheckpointPlan) -> pd.DataFrame:
    """What is kept, and what keeping and saving cost per month of running."""
    return table(
        ("option", "kept", "gib-months", "keeping", "saving-cost", "per-month", "not-priced"),
        (_retention(option) for option in plan.options),
    )


def _retention(option: Checkpoints) -> tuple[str, ...]:
    name, kept = words.option(option.option), option.retention
    if kept is None:
        return (name, *[text("present.unknown")] * 6)
    return (
        name,
        words.quantity(kept.kept),
        words.quantity(kept.gib_months),
        *(
            words.quantity(part and part.named(kept.currency), "present.not-priced")
            for part in (kept.keeping, kept.saving, kept.total)
        ),
        text("present.list-separator").join(text(f"cost.{part}") for part in kept.not_priced) or "–",
    )


def timelines(plan: CheckpointPlan) -> pd.DataFrame:
    """One save from its begin: GPUs go on, written, in S3, and when the fast copy may go."""
    return table(
        ("option", "gpus-continue", "save-time", "in-s3", "release"),
        (
            (
                words.option(option.option),
                words.quantity(option.timeline.gpus_continue),
                words.quantity(option.timeline.written),
                words.quantity(option.timeline.in_s3),
                text(f"release.{option.timeline.release}"),
            )
            for option in plan.options
        ),
    )


def gate(export: Export) -> list[str]:
    """Whether a checkpoint may be released from FSx for Lustre, and what is missing."""
    found = release_gate(export)
    if found.open:
        return [text("gate.open")]
    return [text("gate.shut"), *(text(f"gate.{missing}") for missing in found.missing)]


_SHOWN_OPERATIONS = ("rename", "append", "overwrite", "random-write")


def file_operations(plan: CheckpointPlan | None, facts: Facts) -> pd.DataFrame:
    """What each option can do with a file; what this job and PyTorch's own file writer need and do not find there."""
    dcp = frozenset(facts.model.parts["savers"].get_value("pytorch-dcp-files"))
    needed = frozenset() if plan is None else frozenset(plan.plan.workload.file_operations)
    return table(
        ("option", *_SHOWN_OPERATIONS, "dcp-files", "job-lacks"),
        (
            (
                _ability_name(ability),
                *(_can(ability, operation) for operation in _SHOWN_OPERATIONS),
                _serves(ability, dcp),
                text("present.list-separator").join(lacking(ability, needed)) or "–",
            )
            for ability in abilities(facts)
        ),
    )


def _ability_name(ability: Ability) -> str:
    name = words.option(ability.option)
    if ability.backing is None:
        return name
    return text("present.backed-by", option=name, backing=words.option(ability.backing))


def _serves(ability: Ability, needed: frozenset[str]) -> str:
    if not ability.serves_files:
        return text("checkpoints.objects-only")
    return text("present.no" if lacking(ability, needed) else "present.yes")


def _can(ability: Ability, operation: str) -> str:
    if operation in ability.flags:
        return text("checkpoints.with-flag")
    return text("present.yes" if operation in ability.operations else "present.no")


def memory_first(found: MemoryFirst | None) -> list[str]:
    """Host memory first as a named alternative: what it costs, what it needs, and what it does not survive."""
    if found is None:
        return [text("checkpoints.size-unknown")]
    fits = "unknown" if found.fits is None else "yes" if found.fits else "no"
    holds = "unknown" if found.drives_hold is None else "yes" if found.drives_hold else "no"
    return [
        text(
            "memory-first.what",
            copy=words.quantity(found.copy_seconds),
            best=words.duration(found.best_interval),
            goodput=words.quantity(found.best.goodput),
        ),
        text(
            f"memory-first.fits.{fits}",
            needed=words.quantity(found.bytes_per_node),
            memory=words.size(found.memory_per_node),
        ),
        text("memory-first.s3", every=words.quantity(found.s3_every)),
        text("memory-first.conditions"),
        text(f"memory-first.nvme.{holds}", drives=words.size(found.drives_per_node)),
    ]


def observed_save(found: ObservedSave) -> list[str]:
    """What a watched save says: its rate, what the GPUs waited, and what the cause is or is not."""
    said = []
    if found.bytes_per_s is not None:
        said.append(text("observed.rate", rate=words.rate(found.bytes_per_s), seconds=words.duration(found.seconds)))
    if found.floor_seconds is not None:
        said.append(
            text(
                "observed.floor",
                floor=words.rate(found.floor_bytes_per_s),
                seconds=words.duration(found.floor_seconds),
                share=words.share(found.share_of_floor),
            )
        )
    if found.gpu_wait_seconds is not None:
        said.append(text("observed.gpu-wait", seconds=words.duration(found.gpu_wait_seconds)))
    return [*said, text(f"observed.cause.{found.cause}")]
