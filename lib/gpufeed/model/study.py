"""One study: what notebooks, panels, the shell and reports share, to and from one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.model.advise import recommend
from gpufeed.model.kind import expect
from gpufeed.model.measurement import Measurement
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload

SCHEMA_VERSION = 1


@dataclass(slots=True)
class Study:
    """A workload, what was inspected and measured for it, and the plan that follows.

    ``scan`` is the scan of this session, as the panel shows it; the document keeps its profile only.
    """

    workload: Workload | None = None
    profile: PrefixProfile | None = None
    scan: Any = None
    measurements: list[Measurement] = field(default_factory=list)
    recommendation: Recommendation | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def measurement(self) -> Measurement | None:
        """The newest that read something, which is the one the plan looks at: a failed probe hides no earlier one."""
        newest_first = self.measurements[::-1]
        read = (measured for measured in newest_first if measured.read_bytes_per_s is not None)
        return next(read, newest_first[0] if newest_first else None)

    @measurement.setter
    def measurement(self, newest: Measurement) -> None:
        self.measurements.append(newest)

    def recommend(self, facts: Facts) -> Recommendation:
        """The plan for what the study holds now.  Raises InputError without a workload."""
        if self.workload is None:
            raise InputError("study.no-workload")
        self.recommendation = recommend(self.workload, facts, profile=self.profile, measurement=self.measurement)
        return self.recommendation

    def to_json(self) -> dict[str, Any]:
        """The document: everything that was entered, inspected and measured.  The plan follows from it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "workload": None if self.workload is None else self.workload.to_mapping(),
            "profile": None if self.profile is None else self.profile.to_json(),
            "measurements": [measurement.to_json() for measurement in self.measurements],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any], facts: Facts) -> Study:
        """Read what :meth:`to_json` wrote.  Raises InputError for another version or a document of another kind."""
        expect(document, "study")
        wanted = {"schema_version": int, "workload": Mapping | None, "profile": Mapping | None, "measurements": list}
        for name, kind in wanted.items():
            if name not in document or not isinstance(document[name], kind):
                raise InputError("study.unreadable", field=name)
        if document["schema_version"] != SCHEMA_VERSION:
            raise InputError("study.version", found=document["schema_version"], expected=SCHEMA_VERSION)
        workload, profile = document["workload"], document["profile"]
        study = cls(
            workload=None if workload is None else Workload.from_mapping(workload, facts),
            profile=None if profile is None else PrefixProfile.from_json(profile),
            measurements=[Measurement.from_json(row) for row in document["measurements"]],
        )
        if study.workload is not None:
            study.recommend(facts)
        return study
