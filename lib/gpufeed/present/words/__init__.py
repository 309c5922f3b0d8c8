"""Numbers and ids as people read them, in the language in force.

Inside the code there are bytes, seconds, shares and plain ids; here is the border where they become "1.2 GB/s",
"3 h 20 min" or "Amazon S3".  What is not known is said in words, never shown as 0.
"""

from gpufeed.present.words.names import (
    basis,
    cost_line,
    decided_by,
    figure,
    gap,
    limit,
    measured,
    on_bucket,
    option,
    region,
    role,
    rule,
    saver,
    system,
    task,
    trait,
    verdict,
    yes_no,
)
from gpufeed.present.words.numbers import (
    binary_size,
    count,
    duration,
    gibibytes,
    money,
    network_rate,
    number,
    per_second,
    rate,
    share,
    size,
)
from gpufeed.present.words.statements import (
    flip_point,
    in_document,
    in_form,
    named_fields,
    reason,
    sentences,
    served_by,
    setting,
    shown,
    step,
    warning,
    written,
)
from gpufeed.present.words.units import (
    between,
    bucketed,
    cited,
    in_unit,
    list_price,
    priced,
    quantity,
    quantity_range,
    trait_value,
    unit_price,
)

__all__ = [
    "basis", "between", "binary_size", "bucketed", "cited", "cost_line", "count", "decided_by", "duration",
    "figure", "flip_point", "gap", "gibibytes", "in_document", "in_form", "in_unit", "limit", "list_price",
    "measured", "money", "named_fields", "network_rate", "number", "on_bucket", "option", "per_second", "priced",
    "quantity", "quantity_range", "rate", "reason", "region", "role", "rule", "saver", "sentences", "served_by",
    "setting", "share", "shown", "size", "step", "system", "task", "trait", "trait_value", "unit_price", "verdict",
    "warning", "written", "yes_no",
]  # fmt: skip
