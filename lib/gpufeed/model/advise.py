"""From a workload to a plan: the published rule, the model and a measurement side by side, per data role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from gpufeed.facts import Facts
from gpufeed.model import (
    caution,
    checkpoint,
    copying,
    epochs,
    limits,
    loading,
    mount,
    mounting,
    paths,
    plausible,
    remedies,
    traffic,
)
from gpufeed.model.file_system_need import holds_everything
from gpufeed.model.frozen import changed, frozen
from gpufeed.model.job import Job, job_of
from gpufeed.model.judge import Judged, fitness, judge, many_small_files, reads_alike, with_saves_of
from gpufeed.model.measurement import Measurement
from gpufeed.model.placements import checkpoints, scratch, simple, training_reads, used_as
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Caveat, OptionAnswer, Placement, Recommendation
from gpufeed.model.rules import EXPRESS, FSX, MOUNTPOINT, S3, SYSTEMS, RuleAnswer, Traits, published_rule, traits_of
from gpufeed.model.saving_file_system import dearer_for_weights
from gpufeed.model.together import Shared, Together, against_the_rest, explained, in_plan, ordered, together
from gpufeed.model.weigh import cheapest, least_saving
from gpufeed.model.workload import Workload


def recommend(
    workload: Workload,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
) -> Recommendation:
    """The plan for one workload.  ``profile`` replaces the stated layout; ``measurement`` decides where it may.

    The model overrides the published rule only where its choice is cheaper both in the middle and in the worst case,
    idle GPUs included.  A measurement overrides the model only when it was sustained, cold, not limited by the client,
    and taken on the same option, object sizes and number of nodes.
    """
    return plan_of(decide(workload, facts, profile=profile, measurement=measurement))


@frozen
class Decision:
    """Where the roles go, and what that rests on: all of a plan but what is said of it."""

    job: Job
    measurement: Measurement | None
    traits: Traits
    rule: RuleAnswer
    judged: Mapping[str, Judged]  # before the rule looked at it
    fit: Mapping[str, OptionAnswer]  # as places of the reads alone
    whole: Together
    scratch: Placement
    warnings: tuple[Caveat, ...]
    other_mount: Together | None = None  # the plan with the other bucket mounted, where that was weighed and matters

    @property
    def options(self) -> dict[str, str]:
        """The option of each role that is not in the same place whatever the job is."""
        whole = self.whole
        return {"training_reads": whole.reads, "checkpoints": whole.placed.option, "scratch": self.scratch.option}


def decide(
    workload: Workload,
    facts: Facts,
    *,
    profile: PrefixProfile | None = None,
    measurement: Measurement | None = None,
    like: Decision | None = None,
) -> Decision:
    """The part of :func:`recommend` that a search asks for again and again.

    ``like`` is what was decided with the same facts and measurement: where the reads are alike, it is not worked out
    anew how each option serves them.
    """
    job, warnings = job_of(workload, facts, profile)
    if like is not None and reads_alike(job, like.job.mounting(job.load.mounted)):
        judged = {option: with_saves_of(found, job) for option, found in like.judged.items()}
        if like.job.load.mounted != job.load.mounted:
            judged[MOUNTPOINT] = judge(MOUNTPOINT, job, measurement)
    else:
        judged = {option: judge(option, job, measurement) for option in SYSTEMS}
    on_s3 = judged[S3].answer
    frequent, fast_restore, flips_at = checkpoint.frequent(workload, on_s3.stall, facts)
    if flips_at is not None:
        warnings.append(Caveat(f"frequency-derived-{'frequent' if frequent else 'rare'}", {"interval": flips_at}))
    small_and_many = many_small_files(job, on_s3)
    if small_and_many:
        warnings.append(Caveat("many-small-files"))
    traits = traits_of(
        workload,
        job.demand.accelerators,
        facts,
        frequent=frequent,
        fast_restore=fast_restore,
        many_small_files=small_and_many,
    )
    rule = published_rule(traits, facts)
    fit = {option: fitness(answer, traits, job) for option, (answer, _) in judged.items()}
    rewritten = all(answer.verdict == "ruled-out" for answer in fit.values())
    if rewritten:
        fit = {option: fitness(answer, traits, job, rewritten=True) for option, (answer, _) in judged.items()}
    shared = Shared(
        cache(lambda: judge(FSX, job, measurement, saves=True).answer),
        lambda answer: fitness(answer, traits, job, rewritten=rewritten),
    )
    whole = together(fit, shared, rule, job=job)
    by_default = Decision(
        job=job,
        measurement=measurement,
        traits=traits,
        rule=rule,
        judged=judged,
        fit=fit,
        whole=whole,
        scratch=scratch(whole.reads, job),
        warnings=tuple(warnings),
    )
    if not mounting.may_mount_either(fit, rule, traits, measurement, job):
        return by_default
    other = job.mounting(EXPRESS)
    mount = judge(MOUNTPOINT, other, measurement)
    with_it = {**fit, MOUNTPOINT: fitness(mount.answer, traits, other, rewritten=rewritten)}
    plans = mounting.mounted(with_it, shared, rule, whole, other)
    chosen = mounting.better_mounted(plans, with_it[MOUNTPOINT], whole, fit[MOUNTPOINT])
    if chosen is whole:
        matters = mounting.with_mount(plans[0]) or mounting.with_mount(whole)
        return changed(by_default, other_mount=plans[0]) if matters else by_default
    return changed(
        by_default,
        job=other,
        judged={**judged, MOUNTPOINT: mount},
        fit=with_it,
        whole=chosen,
        scratch=scratch(chosen.reads, other),
        other_mount=whole,
    )


def plan_of(decision: Decision) -> Recommendation:
    """A decision with the options side by side, and what the reader must know."""
    job, measurement, rule, whole = decision.job, decision.measurement, decision.rule, decision.whole
    reads, saves, facts = whole.reads, whole.saves, job.facts
    placed = checkpoints(whole.placed, rule, decision.fit, saves, reads=reads, job=job)
    fit = in_plan(decision.fit, whole)
    fed = fit[reads].fed
    # Before all others: an answer that leaves GPUs waiting must not read like a solution.
    first = []
    if fed is not None and fed.value < 1.0:
        given = fit[reads].supply
        said = {
            "option": reads,
            "fed": fed,
            "limit": given.limited_by,
            "lifted": remedies.lifts(given, job.load, facts),
        }
        first = [Caveat("not-fed-in-full", said, grave=True)]
    evidence = used_as(measurement, reads, decision.fit, job)
    placements = {
        "dataset": simple("dataset", S3, "durable-base"),
        "training_reads": training_reads(
            reads, rule, fit, used_as=evidence, measurement=measurement, together=whole.instead_of is not None, job=job
        ),
        "checkpoints": placed,
        "key_checkpoints": simple("key_checkpoints", S3, "durable-base", "sync-key-checkpoints"),
        "scratch": decision.scratch,
    }
    noted = (
        *loading.caveats(fit, reads, None if whole.instead_of else lambda others: cheapest(others, rule, job), job),
        *limits.file_system_caveats(ordered(whole)),
    )
    copied = epochs.copied_once(job.demand, job.passes, job.load, job.run.read_bytes, facts)
    copy = copying.worth_naming(copied, fit[reads], job)
    placements["training_reads"] = explained(placements["training_reads"], whole, job)
    whole_data = reads == FSX and holds_everything(fit[FSX].supply.configuration, job, saves=placed.option == FSX)
    placements["training_reads"] = epochs.explained(
        placements["training_reads"], fit[reads], holds_everything=whole_data
    )
    placements["training_reads"] = copying.explained(placements["training_reads"], fit[reads], copy)
    if reads == FSX != placed.option:
        found = placements["training_reads"]
        more = tuple(dearer_for_weights(fit[FSX], job))
        placements["training_reads"] = replace(found, reasons=(*found.reasons, *more))
    placements["training_reads"] = mount.explained(placements["training_reads"], job)
    of_mount = "training_reads" if reads == MOUNTPOINT else "checkpoints"
    placements[of_mount] = mounting.explained(placements[of_mount], whole, decision.other_mount)
    placements["training_reads"] = caution.beside_threshold(placements["training_reads"], fed, job)
    answers = tuple(against_the_rest(fit[option], whole, fit[reads], job) for option in SYSTEMS)
    placed = placements["checkpoints"]
    working = (placements["training_reads"], placed)
    in_zone = {EXPRESS, FSX} & {option for role in working for option in (role.option, role.backed_by)}
    doubts = tuple(plausible.doubts(job, decision.traits, decision.judged[S3].answer.stall))
    return Recommendation(
        workload=job.workload,
        region=job.region,
        currency=job.run.currency,
        rule=rule,
        demand=job.demand,
        options=answers,
        placements=placements,
        fed=fed,
        gpu_hour_price=job.run.gpu_hour_price,
        traffic=job.traffic,
        cost=whole.cost,
        dataset_bytes=job.run.dataset_bytes,
        savings=tuple(saves.values()),
        least_saving=least_saving(job),
        copy_once=copy,
        warnings=(
            *first,
            *(caveat for caveat in noted if caveat.grave),
            *traffic.caveats(fit[reads].bursts, job.traffic.evaluation),
            *caution.wish_costs(fit, reads, decision.traits, job),
            *caution.interface_overruled(placements["training_reads"], placed, decision.traits, doubts),
            *doubts,
            *caution.saves_outpaced(placed, saves[placed.option], job),
            *caution.saves_may_outlast(placed, saves[placed.option], job),
            *caution.interval_loses(placed, saves[placed.option], job),
            *caution.saves_stall(placed, saves[placed.option], job),
            *caution.exports_behind(placed, job),
            *caution.export_unmeasured(placed, saves[FSX], job),
            *limits.nothing_priced(job.region, answers),
            *caution.objects_as_samples(job),
            *job.demand.warnings,
            *decision.warnings,
            *caution.default_prefixes(fit, job),
            *(caveat for caveat in noted if not caveat.grave),
            *limits.caveats(job.region, facts, placements.values()),
            *limits.unpriced(job.region, answers),
            *limits.short_run(placements.values(), job),
            *limits.loading_unmeasured(fit[reads], facts),
            *epochs.caveats(fit[reads], job.passes, facts),
            *mount.caveats(reads, job),
            *paths.caveats(
                job.workload,
                job.load,
                job.region,
                job.demand,
                reads=fit[reads],
                facts=facts,
                in_zone=in_zone,
                dear=caution.way_is_dear(whole.cost.transfer, job),
            ),
            *paths.saves_cross(saves[placed.option], job.workload, job.region, facts),
            *([] if measurement is None else [Caveat(f"measurement-{evidence or 'shown-only'}")]),
        ),
    )
