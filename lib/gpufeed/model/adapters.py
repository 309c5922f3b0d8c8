"""How many parameters the adapters of LoRA have, where the size of the model alone is known."""

from __future__ import annotations

from operator import itemgetter

from gpufeed.facts import Facts
from gpufeed.facts.quantity import Quantity
from gpufeed.model.formulas import on_the_line

#: A model that is only wider has layers whose width grows as the root of its size; one that is only deeper has more of
#: the same.  Outside the published sizes nothing else is known of how adapters grow.
_WIDER, _DEEPER = 0.5, 1.0


def adapters_per_rank(parameters: float, facts: Facts) -> Quantity:
    """Parameters of the adapters per unit of rank.

    Parameters: those of the model.
    Assumptions: every linear layer of a block has an adapter, at the least query and value; a dense transformer.
    Equation: the sum of d_in + d_out over these layers at published sizes; between two of them on the line through both
    in logarithms, outside on that of the nearest two, the bounds those of a model that is only wider or only deeper
    than the nearest.
    References: llama3-paper, torchtune, mlperf-storage-checkpoints.
    """
    section = facts.model.parts["adapters"]
    published = sorted(
        ((shape.known("at_size").value, shape.known("per_rank")) for shape in section.parts.values()),
        key=itemgetter(0),
    )
    above = sum(size < parameters for size, _ in published[1:-1])
    smaller, larger = published[above : above + 2]
    low, value, high = (
        on_the_line(parameters, (smaller[0], of_smaller), (larger[0], of_larger))
        for of_smaller, of_larger in zip(smaller[1][:3], larger[1][:3], strict=True)
    )
    size, nearest = smaller if parameters < smaller[0] else larger
    if parameters < smaller[0] or parameters > larger[0]:
        grown = [(parameters / size) ** power for power in (_WIDER, _DEEPER)]
        low, high = nearest.low * min(grown), nearest.high * max(grown)
    rests_on = smaller[1] + larger[1]
    return rests_on._replace(low=low, value=value, high=high).times(section.known("other_shapes"), "count")
