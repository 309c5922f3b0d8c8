"""Numbers keep their range, their sources and their weakest basis through arithmetic."""

from __future__ import annotations

from gpufeed.facts.quantity import Quantity, least, most

PUBLISHED = Quantity(1.0, 2.0, 4.0, "s", "published", frozenset({"a"}))
ASSUMED = Quantity(10.0, 20.0, 30.0, "s", "assumed", frozenset({"b"}))


def test_a_sum_adds_bound_by_bound() -> None:
    assert (PUBLISHED + ASSUMED)[:3] == (11.0, 22.0, 34.0)


def test_a_quotient_divides_the_low_by_the_high() -> None:
    assert (ASSUMED / PUBLISHED)[:3] == (2.5, 10.0, 30.0)


def test_a_number_divided_by_a_quantity_turns_the_bounds_round() -> None:
    assert (8.0 / PUBLISHED)[:3] == (2.0, 4.0, 8.0)


def test_the_weakest_basis_and_all_sources_are_kept() -> None:
    product = PUBLISHED * ASSUMED
    assert product.basis == "assumed"
    assert product.sources == {"a", "b"}


def test_a_plain_number_adds_no_source() -> None:
    assert Quantity(3.0, 6.0, 12.0, "", "published", frozenset({"a"})) == (3 * PUBLISHED)


def test_the_least_is_taken_bound_by_bound_and_keeps_the_unit() -> None:
    other = Quantity(0.5, 3.0, 5.0, "s", "measured")
    assert least(PUBLISHED, other) == Quantity(0.5, 2.0, 4.0, "s", "published", frozenset({"a"}))
    assert most(PUBLISHED, other)[:3] == (1.0, 3.0, 5.0)


def test_dividing_by_zero_is_without_bound_and_null_in_json() -> None:
    unbounded = Quantity.exact(1.0) / Quantity(0.0, 1.0, 1.0)
    assert unbounded.to_json() == {"low": 1.0, "value": 1.0, "high": None}


def test_nothing_over_nothing_is_nothing() -> None:
    assert (Quantity.exact(0.0) / Quantity.exact(0.0)).value == 0.0
