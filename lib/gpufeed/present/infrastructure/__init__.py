"""The plan as something to build: CloudFormation, Terraform, and settings of the clients."""

from __future__ import annotations

from gpufeed.facts import Facts
from gpufeed.facts.errors import InputError
from gpufeed.facts.known import entered
from gpufeed.model.recommendation import Recommendation
from gpufeed.present.infrastructure import cloudformation, snippets, terraform
from gpufeed.present.infrastructure.need import needed

FORMATS = ("cloudformation", "terraform", "snippets")


def files(plan: Recommendation, facts: Facts, form: str, *, version: str) -> dict[str, str]:
    """File names and their text.  ``version`` is that of gpufeed; the same plan gives the same text.

    Raises InputError for a form that is not among ``FORMATS``.
    """
    need = needed(plan, facts, version)
    if form == "cloudformation":
        return {"gpufeed.yaml": cloudformation.template(need)}
    if form == "terraform":
        return {"main.tf": terraform.configuration(need)}
    if form == "snippets":
        return snippets.snippets(plan, need, facts)
    raise InputError("infrastructure.format", form=entered(form), formats=", ".join(FORMATS))
