"""Answers as lines of plain text, for a shell: nothing here needs pandas, altair or Jupyter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gpufeed.facts.messages import text
from gpufeed.facts.quantity import Quantity
from gpufeed.model.alternatives import Alternative, what_pays
from gpufeed.model.course import Step
from gpufeed.model.file_system import READS, SAVES, Comparison, Sized
from gpufeed.model.fsx import Configuration
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import Bursts, OptionAnswer, Recommendation, Traffic
from gpufeed.model.rules import EXPRESS, FSX, S3_FILES
from gpufeed.model.small_files import SmallFiles
from gpufeed.present import tables, words
from gpufeed.present.answer import precedences
from gpufeed.present.escape import visible
from gpufeed.present.tables.file_system import compared_rows, opened, per_month, settings, size_set_by


def recommendation(plan: Recommendation) -> list[str]:
    """The plan: its answer in short, then by which rule, per role and per option, then what to know."""
    return [*short(plan), "", *_recommendation(plan)]


def short(plan: Recommendation) -> list[str]:
    """Where reads and checkpoints go, what to order, what the run costs, and what puts all of that in doubt."""
    return list(_short(plan))


def _short(plan: Recommendation) -> Iterator[str]:
    saves = plan.placements[SAVES]
    yield text(
        "shell.plan.recommended",
        option=words.system(plan.option(plan.recommended)),
        verdict=words.decided_by(plan.placements[READS].decided_by),
        fed=words.quantity(plan.fed),
    )
    yield text(
        "shell.plan.saves",
        option=words.on_bucket(saves.option, saves.lies_on),
        verdict=words.decided_by(saves.decided_by),
        share=words.quantity(plan.saving(saves.option).stall.share),
    )
    # Reads and checkpoints on one file system have one configuration.
    orders = (_configuration(place.configuration) for place in plan.placements.values() if place.option == FSX)
    for order in dict.fromkeys(order for order in orders if order):
        yield text("shell.plan.order", option=words.option(FSX), configuration=order)
    yield _bill(plan)
    grave = [warning for warning in plan.warnings if warning.grave]
    yield text(
        "shell.plan.in-doubt" if grave else "shell.plan.not-in-doubt",
        grave=words.count(len(grave)),
        others=words.count(len(plan.warnings) - len(grave)),
    )
    yield from (f"! {words.warning(warning)}" for warning in grave)


def _bill(plan: Recommendation) -> str:
    return text(
        "shell.plan.bill" if plan.bills_checkpoints else "shell.plan.bill-without-checkpoints",
        total=words.quantity(plan.cost.total, "present.not-priced"),
    )


def _recommendation(plan: Recommendation) -> Iterator[str]:
    separator = text("present.list-separator")
    rule, demand = plan.rule, plan.demand
    yield text(
        "shell.plan.rule",
        option=words.option(rule.option),
        verdict=words.verdict(rule.verdict),
        also=separator.join(words.option(option) for option in rule.also_allowed) or text("present.none"),
    )
    yield from (f"  {text('panel.rule', id=id_, sentence=words.rule(id_))}" for id_ in rule.rules)
    yield from (f"  {said}" for said in precedences(rule))
    yield text(
        "shell.plan.demand",
        rate=words.quantity(demand.read_bytes_per_s),
        requests=words.quantity(demand.read_requests_per_s),
    )
    yield from _traffic(plan.traffic)
    for gap in rule.gaps:
        yield f"  {words.gap(gap)}"
    for placed in plan.placements.values():
        yield text(
            "shell.plan.placement",
            role=words.role(placed.role),
            option=words.on_bucket(placed.option, placed.backed_by),
            decided=words.decided_by(placed.decided_by),
        )
        yield text(
            "shell.plan.opinions",
            rule=words.option(placed.rule),
            model=words.option(placed.model) if placed.model else text("present.unknown"),
            measured=words.measured(placed),
        )
        if placed.configuration:
            yield "  " + _configuration(placed.configuration)
        for reason in placed.reasons:
            yield f"  {words.reason(reason)}"
    for answer in plan.options:
        yield text(
            "shell.plan.option",
            option=words.system(answer),
            verdict=words.verdict(answer.verdict),
            rate=words.quantity(answer.supply.read_bytes_per_s),
            fed=words.quantity(answer.fed),
            cost=_money(answer.cost.beyond_base, answer.cost.currency),
        )
        if answer.supply.configuration and answer.option != plan.recommended:
            yield "  " + _configuration(answer.supply.configuration)
        for reason in answer.reasons:
            yield f"  {words.reason(reason)}"
        yield from _epochs(answer)
        yield from _bursts(answer.bursts)
    yield _bill(plan)
    for line in plan.cost.lines:
        yield "  " + text(
            "shell.plan.bill-line",
            line=words.cost_line(line),
            amount=words.quantity(line.bound(line.quantity), "present.no-amount"),
            price=words.unit_price(line.unit_price, line.unit, plan.currency),
            cost=words.quantity(line.bound(line.amount), "present.not-priced"),
        )
    for warning in plan.warnings:
        if not warning.grave:
            yield f"! {words.warning(warning)}"


def _configuration(settings_: Mapping[str, Any]) -> str:
    """What to order, a setting after the other."""
    return text("present.list-separator").join(words.setting(name, value) for name, value in settings_.items())


def _traffic(traffic: Traffic) -> Iterator[str]:
    evaluation, starts = traffic.evaluation, traffic.starts
    if evaluation is not None:
        yield text(
            "shell.plan.evaluation",
            bytes=words.quantity(evaluation.bytes),
            every=words.quantity(evaluation.every),
            rate=words.quantity(evaluation.read_bytes_per_s),
            share=words.quantity(evaluation.share_of_reads),
        )
    if starts.base_model_bytes is not None:
        yield text("shell.plan.base-model", bytes=words.quantity(starts.base_model_bytes))
    if starts.first_batches_bytes is not None:
        yield text(
            "shell.plan.first-batches",
            bytes=words.quantity(starts.first_batches_bytes),
            queues=words.quantity(starts.queue_bytes),
        )


def _bursts(bursts: Bursts) -> Iterator[str]:
    """Those that there are."""
    for id_, seconds in (
        ("base-model-time", bursts.base_model_seconds),
        ("first-batch-time", bursts.first_batch_seconds),
    ):
        if seconds is not None:
            yield "  " + text(f"shell.plan.{id_}", seconds=words.quantity(seconds))
    if bursts.evaluation_seconds is not None:
        yield "  " + text(
            "shell.plan.evaluation-time",
            seconds=words.quantity(bursts.evaluation_seconds),
            fed=words.quantity(bursts.evaluation_fed),
        )


def alternatives(plan: Recommendation, found: Iterable[Alternative]) -> list[str]:
    """What else would pay, or why that is not known."""
    return [text("alternatives.heading"), *(f"  {words.reason(reason)}" for reason in what_pays(plan, found))]


def course(steps: Iterable[Step]) -> list[str]:
    """The course of the run, a step a line."""
    return [text("course.heading"), *(f"  {_step(step)}" for step in steps)]


def _step(step: Step) -> str:
    line = text("course.line", when=text(f"course.when.{step.when}"), step=words.step(step))
    return text("course.line-and-takes", line=line, takes=words.quantity(step.seconds)) if step.timed else line


def _epochs(answer: OptionAnswer) -> Iterator[str]:
    first, later = answer.first_epoch, answer.later_epochs
    if first.seconds is None:
        return
    how = {S3_FILES: "-import", EXPRESS: "-copy"}.get(answer.lies_on, "")
    if first.loading is not None:
        yield "  " + text(f"shell.plan.loaded-before{how}", seconds=words.quantity(first.bound(first.loading)))
    whole = "first-epoch"
    if first.part is not None:
        whole = "part-read"
        yield "  " + text("shell.plan.part-of-first-epoch", part=words.quantity(first.part))
    yield "  " + text(
        f"shell.plan.{whole}-fed" if first.at_gpu_speed else f"shell.plan.{whole}",
        seconds=words.quantity(first.takes),
        fed=words.quantity(first.fed),
        limit=words.limit(first.limited_by),
    )
    if later is not None and later.served_by != answer.option:
        yield "  " + text("shell.plan.later-epochs", fed=words.quantity(later.fed), served_by=words.served_by(later))


def scan(result: Any, found: SmallFiles | None, currency: str) -> list[str]:
    """A scan (``observe.scan.ScanResult``) with its small-file verdict."""
    return list(_scan(result, found, currency))


def _scan(result: Any, found: SmallFiles | None, currency: str) -> Iterator[str]:
    profile = result.profile
    if not result.answered:
        return  # nothing was listed: the error alone says it
    if result.incomplete_because is not None:
        yield text("shell.scan.partial", reason=str(result.incomplete_because))
    yield text(
        "shell.scan.total",
        url=visible(result.place.url),
        objects=words.count(profile.objects),
        bytes=words.size(profile.bytes),
        markers=words.count(profile.folder_markers),
        zero=words.count(profile.zero_byte_objects),
    )
    if profile.objects:
        yield text(
            "shell.scan.sizes",
            median=words.size(profile.median),
            p95=words.size(profile.size_quantile(0.95)),
            max=words.size(profile.max_bytes),
        )
    listing = result.listing
    listed = {"requests": words.count(listing["requests"]), "seconds": words.duration(listing["seconds"])}
    if listing["keys_per_s"] is None:
        yield text("shell.scan.listing-of-nothing", **listed)
    else:
        yield text("shell.scan.listing", **listed, rate=words.per_second(listing["keys_per_s"], "objects"))
    if found is not None:
        yield from _small_files(found, currency)


def _small_files(found: SmallFiles, currency: str) -> Iterator[str]:
    yield text(
        "shell.scan.verdict",
        reason=text(f"small-files.{found.headline.reason}"),
        threshold=words.size(found.headline.threshold_bytes.value),
        share=words.share(found.share_of_objects),
    )
    for verdict in found.per_option:
        yield "  " + text(
            "shell.scan.option",
            option=words.option(verdict.option),
            seconds=words.quantity(verdict.epoch_seconds),
            cost=_money(verdict.request_cost, currency),
            reason=text(f"small-files.{verdict.reason}"),
        )
    plan = found.shard_plan
    if plan is not None:
        yield text(
            "shell.scan.shards",
            shards=words.count(plan.shards),
            bytes=words.size(plan.shard_bytes),
            after=words.count(plan.requests_after),
            before=words.count(plan.requests_before),
        )


def measurement(measured: Measurement) -> list[str]:
    """A measurement, one line per step of the sweep."""
    lines = [
        text(
            "shell.probe.step",
            concurrency=words.count(record.concurrency),
            rate=words.network_rate(record.bytes_per_s),
            requests=words.per_second(record.ops_per_s, "requests"),
            p50=words.duration(record.p50),
            p99=words.duration(record.p99),
            errors=words.count(record.errors),
        )
        for record in measured.sweep or measured.records
    ]
    if measured.records:
        lines.append(text(f"measure.limited-by.{measured.limited_by}"))
    return lines


def _money(amount: Quantity | None, currency: str) -> str:
    return words.money(None if amount is None else amount.value, currency)


def file_systems(sized: Sized, plan: Recommendation | None = None) -> list[str]:
    """What is needed, then every file system that would do, one a line, cheapest first."""
    found, currency = sized.found, sized.currency
    said = [*_elsewhere(plan), *tables.file_system_sentences(sized)]
    lines = [*_needed(sized), *(f"! {sentence}" for sentence in said)]
    for group, ones in (("priced", found.priced), ("unpriced", found.unpriced), ("lacking", found.lacking)):
        own = "-own-first" if group == "priced" and not _cheapest_first(ones) else ""
        lines += [text(f"fsx.heading.{group}{own}")] if ones else []
        for one in ones:
            line = text(
                "fsx.line",
                configuration=settings(one),
                read=words.quantity(one.read_bytes_per_s),
                write=words.quantity(one.write_bytes_per_s),
                opens=opened(one),
                size_set_by=size_set_by(one),
                price=per_month(one, currency),
            )
            lines += [f"  {line}", *(f"    {words.reason(reason)}" for reason in (*one.lacks, *one.notes))]
    lines += [text("fsx.heading.ruled-out")] if found.ruled_out else []
    for out in found.ruled_out:
        lines.append("  " + text("panel.rule", id=out.name, sentence=words.sentences(*map(words.reason, out.reasons))))
    return lines


def _cheapest_first(ones: Sequence[Configuration]) -> bool:
    """Not where the plan's own stands before them, which may be dearer and let the GPUs wait less."""
    prices = [one.per_month.value for one in ones if one.per_month is not None]
    return prices[:1] == [min(prices)] if prices else True


def _needed(sized: Sized) -> Iterator[str]:
    """What of the job the file system is for, and what that takes, a trait a line."""
    need, left_out = sized.need, sized.left_out
    of = "all" if left_out is None and need.saves else "checkpoints" if left_out and left_out.role == READS else "reads"
    yield text(f"fsx.needed.{of}", region=visible(sized.region))
    amounts = {
        "capacity": tables.file_system.room(need),
        "read": words.rate(need.rates["read"]),
        "write": words.rate(need.rates["write"]),
        "opens": words.per_second(need.rates["opens"], "opens"),
    }
    for trait, amount in amounts.items():
        yield "  " + text("fsx.needed-line", trait=text(f"fsx.trait.{trait}"), amount=amount)


def _elsewhere(plan: Recommendation | None) -> Iterator[str]:
    """Where the plan has reads and checkpoints, if not on a file system."""
    if plan is None:
        return
    reads, saves = (plan.placements[role] for role in (READS, SAVES))
    if FSX not in (reads.option, saves.option):
        yield text(
            "fsx.not-in-plan",
            reads=words.on_bucket(reads.option, reads.lies_on),
            saves=words.on_bucket(saves.option, saves.lies_on),
        )


def comparison(found: Comparison, currency: str, asked: Sized | None = None) -> list[str]:
    """Whether a file system is enough, trait by trait, and what to change; and for what it was not ``asked``."""
    first, *others = tables.comparison_sentences(found, currency)
    names = ("trait", "has", "needs", "verdict", "short_by", "note")
    rows = [text("fsx.compared", **dict(zip(names, row, strict=True))) for row in compared_rows(found)]
    left_out = [] if asked is None else [f"! {sentence}" for sentence in tables.left_out(asked)]
    return [first, *left_out, *(f"  {row}" for row in rows), *others]
