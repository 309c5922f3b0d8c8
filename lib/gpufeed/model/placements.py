"""Where each data role goes: the rule's, the model's and a measurement's opinion, and which of them decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpufeed.model.checkpoint import best_intervals
from gpufeed.model.demand import stall_tolerance
from gpufeed.model.job import Job
from gpufeed.model.judge import NOT_AGAINST, against
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import OptionAnswer, Placement, Reason
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, NVME, S3, S3_FILES, SYSTEMS, RuleAnswer
from gpufeed.model.supply import mountpoint_backing


def simple(role: str, option: str, *reasons: str) -> Placement:
    return Placement(
        role, option, None, {}, "rule", option, option, reasons=tuple(Reason(reason) for reason in reasons)
    )


def _backing(option: str, job: Job) -> str | None:
    if option == MOUNTPOINT:
        return mountpoint_backing(job.load.operations)
    return S3 if option in (FSX, S3_FILES) else None


def used_as(measurement: Measurement | None, reads: str, job: Job) -> str | None:
    """What a measurement was good for: of the option it was taken on, or where that is not known of the chosen one."""
    if measurement is None or measurement.read_bytes_per_s is None:
        return None
    taken_on = measurement.option or reads
    return measurement.used_as(taken_on, job.load.object_bytes.value, job.load.nodes * job.load.jobs)


def training_reads(
    option: str,
    rule: RuleAnswer,
    fit: Mapping[str, OptionAnswer],
    *,
    used_as: str | None,
    measurement: Measurement | None,
    job: Job,
) -> Placement:
    decided_by = "rule" if option == rule.option else "model"
    if used_as == "decision":
        decided_by = "measured"
    reasons = [Reason(f"rule-{rule.verdict}", {"option": rule.option})]
    if used_as == "decision" and measurement is not None:
        reasons.append(Reason("measured-decides", {"option": measurement.option}))
    elif option != rule.option:
        reasons.append(Reason("model-beats-rule", {"option": option, "rule": rule.option}))
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


def checkpoints(
    rule: RuleAnswer, fit: Mapping[str, OptionAnswer], frequent: bool, *, reads: str, job: Job
) -> Placement:
    """Where frequent saves go.  The rule: frequent or fast to restore → FSx for Lustre, rare → S3 can hold them.

    The model keeps S3 while saving there costs no more than the tolerated share; otherwise it takes the option that can
    hold them, best one that saves and restores in time, and stalls least.  A program that wants files saves as files
    too: the rule's S3 then stands behind one of the ways onto a bucket, and the model prefers the one the reads take.
    """
    by_rule = FSX if frequent or rule.option == FSX or "posix" in rule.rules else S3
    preferred = by_rule
    if fit[by_rule].verdict == "ruled-out":
        by_rule = _way_onto_s3(rule, fit)
        preferred = reads if _can_hold_checkpoints(fit[reads]) else by_rule
    tolerance = stall_tolerance(job.workload, job.facts).value
    model: str | None = None
    if fit[preferred].stall.share is not None:
        model = preferred
        if not _saves_well(fit[preferred], tolerance, job):
            able = [option for option in SYSTEMS if _can_hold_checkpoints(fit[option])]
            timed = [
                (not _saves_well(fit[option], tolerance, job), stall.share.value, stall.save_seconds.value, option)
                for option in able
                if (stall := fit[option].stall).share is not None and stall.save_seconds is not None
            ]
            model = min(timed)[-1] if timed else preferred
    option = model or by_rule
    stall = fit[option].stall
    reasons = [Reason("checkpoints-frequent" if frequent else "checkpoints-rare")]
    if stall.share is None:
        reasons.append(Reason("checkpoint-size-unknown"))
    else:
        reasons.append(Reason("stall-share", {"share": stall.share, "interval": stall.interval}))
    if stall.save_seconds is not None and stall.fits_interval is False:
        reasons.append(Reason("save-exceeds-interval", {"seconds": stall.save_seconds, "interval": stall.interval}))
    target = job.workload.restore_target
    if target is not None and stall.restore_seconds is not None and stall.restore_seconds.value > target:
        late = {"seconds": stall.restore_seconds, "interval": target}
        reasons.append(Reason("restore-misses-target", late))
    if stall.best_interval is not None:
        reasons.append(
            Reason("best-interval", {"interval": best_intervals(job.demand, stall, job.workload, job.facts)})
        )
    configuration = fit[option].supply.configuration
    return Placement(
        role="checkpoints",
        option=option,
        backed_by=_backing(option, job),
        configuration=configuration,
        decided_by="rule" if option == by_rule else "model",
        rule=by_rule,
        model=model,
        reasons=tuple(reasons),
        mode=job.demand.checkpoint_mode,
        interval=stall.interval,
    )


def _way_onto_s3(rule: RuleAnswer, fit: Mapping[str, OptionAnswer]) -> str:
    """The way to keep checkpoints on S3 that the rule takes, or the one with the least said against it."""
    ways = (S3_FILES, MOUNTPOINT)
    able = [option for option in (*ways, FSX, EXPRESS) if fit[option].verdict != "ruled-out"]
    named = [option for option in (rule.option, *rule.also_allowed) if option in ways and option in able]
    others = sorted(able, key=lambda option: against(fit[option]))
    return [*named, *others, S3][0]


def _can_hold_checkpoints(answer: OptionAnswer) -> bool:
    """Not ruled out, and nothing said against it that bears on saving."""
    harmless = NOT_AGAINST | {"not-for-frequent-checkpoints"}
    return answer.verdict != "ruled-out" and all(reason.id in harmless for reason in answer.reasons)


def _saves_well(answer: OptionAnswer, tolerance: float, job: Job) -> bool:
    stall = answer.stall
    in_time = stall.fits_interval is not False
    target = job.workload.restore_target
    restores = target is None or stall.restore_seconds is None or stall.restore_seconds.value <= target
    return in_time and restores and stall.share is not None and stall.share.value <= tolerance


def scratch(reads: str, job: Job) -> Placement:
    """Caches and intermediates: the instance's own NVMe where it has some, else the file system in use."""
    instance = job.facts.instances[job.workload.instance_type] if job.workload.instance_type else None
    has_nvme = instance is not None and instance.quantity("nvme_drives") is not None
    option = NVME if has_nvme or reads != FSX else FSX
    reason = "nvme-in-instance" if has_nvme else "nvme-unknown" if option == NVME else "scratch-on-file-system"
    placed = simple("scratch", option, "temporary", reason)
    return replace(placed, delete_when="job-ends")
