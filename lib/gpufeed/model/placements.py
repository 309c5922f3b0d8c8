"""Where each data role goes: the rule's, the model's and a measurement's opinion, and which of them decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpufeed.model.any_price import known_of
from gpufeed.model.checkpoint_choice import Choice
from gpufeed.model.checkpoint_reasons import why
from gpufeed.model.job import Job
from gpufeed.model.judge import used_for
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import OptionAnswer, Placement, Reason, Saving
from gpufeed.model.rules import FSX, MOUNTPOINT, NVME, S3, S3_FILES, RuleAnswer
from gpufeed.model.weigh import beats_at_any_price, best_of_rule, setting_up


def simple(role: str, option: str, *reasons: str, delete_when: str | None = None) -> Placement:
    said = tuple(Reason(reason) for reason in reasons)
    return Placement(role, option, None, {}, "rule", option, option, reasons=said, delete_when=delete_when)


def _backing(option: str, job: Job) -> str | None:
    if option == MOUNTPOINT:
        return job.load.mounted
    return S3 if option in (FSX, S3_FILES) else None


def used_as(measurement: Measurement | None, reads: str, fit: Mapping[str, OptionAnswer], job: Job) -> str | None:
    """What a measurement was good for: of the option it was taken on, or where that is not known of the chosen one.

    One of an option that is ruled out decides nothing.
    """
    if measurement is None or measurement.read_bytes_per_s is None:
        return None
    taken_on = measurement.option or reads
    if taken_on in fit and fit[taken_on].verdict == "ruled-out":
        return "shown-only"
    return used_for(measurement, taken_on, job.load)


def training_reads(
    option: str,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    *,
    used_as: str | None,
    measurement: Measurement | None,
    together: bool,
    job: Job,
) -> Placement:
    """Where the reads go; ``together``: for the checkpoints' sake, which is explained elsewhere."""
    decided_by = "rule" if option == rule.option else "model"
    if used_as == "decision":
        decided_by = "measured"
    reasons = [Reason(f"rule-{rule.verdict}", {"option": rule.option})]
    if used_as == "decision" and measurement is not None:
        reasons.append(Reason("measured-decides", {"option": measurement.option}))
    elif option != rule.option:
        reasons += _instead_of_the_rule(option, rule, fit, together=together, job=job)
    return Placement(
        role="training_reads",
        option=option,
        backed_by=_backing(option, job),
        configuration=fit[option].supply.configuration,
        decided_by=decided_by,
        rule=rule.option,
        model=option if job.demand.read_bytes_per_s is not None or decided_by == "model" else None,
        measured=None if measurement is None else measurement.option,
        measured_used_as=used_as,
        reasons=tuple(reasons),
    )


def _instead_of_the_rule(
    option: str, rule: RuleAnswer, fit: Mapping[str, OptionAnswer], *, together: bool, job: Job
) -> Iterator[Reason]:
    """Why the reads are not on the rule's option: what rules it out, and what is better than what the rule leaves."""
    base = best_of_rule(fit, rule)
    mine, theirs = fit[option], base
    if base.option != rule.option and fit[rule.option].reasons:
        because = fit[rule.option].reasons[0]
        yield Reason("model-rule-cannot", {"rule": rule.option, "because": because})
    if option == base.option or together:
        return
    found: dict[str, Any] = {"option": option, "other": base.option}
    if mine.weighed is not None and theirs.weighed is not None:
        found |= {"cost": mine.weighed, "other_cost": theirs.weighed}
        if mine.weighed.value < theirs.weighed.value:
            yield Reason("model-cheaper", found)
        else:
            worth = setting_up(base.option, "", job) - setting_up(option, "", job)
            yield Reason("model-spares-setting-up", found | {"amount": worth, "currency": job.run.currency})
    elif beats_at_any_price(mine, theirs, job):
        known = [known_of(one.cost.lines, one.cost.currency) for one in (mine, theirs)]
        found |= {"cost": known[0].amount, "other_cost": known[1].amount, "parts": known[1].parts}
        yield Reason("model-cheaper-at-any-price", found)
    else:
        yield Reason("model-feeds-better", found | {"fed": mine.fed, "other_fed": theirs.fed})


def checkpoints(
    choice: Choice,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    savings: Mapping[str, Saving],
    *,
    reads: str,
    job: Job,
) -> Placement:
    """The placement of the checkpoints, with its reasons."""
    option = choice.option
    return Placement(
        role="checkpoints",
        option=option,
        backed_by=_backing(option, job),
        configuration=savings[option].supply.configuration,
        decided_by="rule" if option == choice.rule else "model",
        rule=choice.rule,
        model=choice.model,
        reasons=tuple(why(choice, rule, fit, savings, reads=reads, job=job)),
        mode=job.demand.checkpoint_mode,
        interval=savings[option].stall.interval,
    )


def scratch(reads: str, job: Job) -> Placement:
    """Caches and intermediates: the instance's own NVMe where it has some, else the file system in use."""
    instance = job.facts.instances[job.workload.instance_type] if job.workload.instance_type else None
    has_nvme = instance is not None and instance.quantity("nvme_drives") is not None
    option = NVME if has_nvme or reads != FSX else FSX
    reason = "nvme-in-instance" if has_nvme else "nvme-unknown" if option == NVME else "scratch-on-file-system"
    return simple("scratch", option, "temporary", reason, delete_when="job-ends")
