"""Which bucket is mounted where the file operations leave both open: the one whose plan is better beyond doubt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpufeed.model import loading
from gpufeed.model.job import Job
from gpufeed.model.measurement import Measurement
from gpufeed.model.recommendation import OptionAnswer, Placement, Reason
from gpufeed.model.rules import EXPRESS, MOUNTPOINT, S3, RuleAnswer, Traits
from gpufeed.model.together import Fit, Shared, Together, better_plan, plan_with, together
from gpufeed.model.weigh import against, beats, setting_up


def may_mount_either(
    fit: Mapping[str, OptionAnswer], rule: RuleAnswer, traits: Traits, measurement: Measurement | None, job: Job
) -> bool:
    """Whether a directory bucket is weighed behind Mountpoint as well.

    Not for a program that reads a bucket itself: it has the same one without a mount.  A measurement of Mountpoint does
    not say what was mounted, and is taken to be of what is mounted by default.
    """
    return (
        traits.wants_files
        # Something is said against any mount then, and only the rule can be for one all the same.
        and (not traits.complex_posix or MOUNTPOINT in (rule.option, *rule.also_allowed))
        and job.load.mounted == S3
        and fit[MOUNTPOINT].verdict != "ruled-out"
        and (measurement is None or measurement.option != MOUNTPOINT)
    )


def with_mount(plan: Together) -> bool:
    """Whether what is mounted matters to a plan."""
    return MOUNTPOINT in (plan.reads, plan.placed.option)


def mounted(fit: Fit, shared: Shared, rule: RuleAnswer, whole: Together, job: Job) -> tuple[Together, ...]:
    """The plans with the directory bucket mounted: the reads' own choice, and with them where the other plan has them.

    A rule that is for Mountpoint is for it with either bucket, and the one may be none that the reads should be on.
    """
    own = together(fit, shared, rule, job=job)
    if own.reads == whole.reads:
        return (own,)
    return own, plan_with(whole.reads, fit, shared, rule=rule, job=job, known=own.saves)


def better_mounted(
    plans: Iterable[Together], mount: OptionAnswer, whole: Together, by_default: OptionAnswer
) -> Together:
    """The plan that takes the place of the one with the bucket that is mounted by default; else that one.

    As a whole it has to be cheaper beyond doubt, by what a bucket that the plan does not have otherwise is worth to set
    up, and may neither have more said against it nor end later; without prices, the reads have to be.
    """
    if mount.verdict == "ruled-out" or against(mount) > against(by_default):
        return whole
    able = [plan for plan in plans if with_mount(plan) and _better(plan, whole)]
    return min(able, key=lambda plan: 0.0 if plan.weighed is None else plan.weighed.value, default=whole)


def _better(plan: Together, whole: Together) -> bool:
    if loading.ends_later(plan.answer, whole.answer, plan.job):
        return False
    if plan.weighed is None or whole.weighed is None:
        return plan.reads == MOUNTPOINT and beats(plan.answer, whole.answer, plan.job)
    return better_plan(
        plan,
        whole,
        plan.job,
        more=0.0 if EXPRESS in (whole.reads, whole.placed.option) else setting_up(EXPRESS, "", plan.job),
    )


def explained(role: Placement, chosen: Together, other: Together | None) -> Placement:
    """A placement on Mountpoint with why a directory bucket is mounted that the file operations do not ask for."""
    if role.option != MOUNTPOINT or other is None or chosen.job.load.mounted != EXPRESS:
        return role
    return replace(role, reasons=(*role.reasons, *_why(chosen, other)))


def _why(chosen: Together, other: Together) -> Iterator[Reason]:
    places = {"option": other.reads, "other": other.placed.option}
    mine, theirs = chosen.weighed, other.weighed
    if mine is not None and theirs is not None:
        yield Reason("directory-bucket-cheaper", {**places, "cost": mine, "other_cost": theirs})
    fed, other_fed = chosen.answer.fed, other.answer.fed
    if fed is not None and other_fed is not None and fed.value > other_fed.value:
        found = {"option": other.reads, "fed": fed, "other_fed": other_fed}
        yield Reason("directory-bucket-feeds", found, "s3-express-performance")
