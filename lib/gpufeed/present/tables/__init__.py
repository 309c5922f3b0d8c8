"""What charts and panels show, as tables and sentences: the form that is read aloud, copied, stored in a notebook.

A module per subject.  Whole tables and texts stand here too; their parts (a cell, an order) only in their modules.
"""

from gpufeed.present.tables.checkpoint_plan import (
    checkpoint_sentences,
    failures,
    file_operations,
    gate,
    goodput,
    memory_first,
    observed_save,
    restores,
    retention,
    saves,
    timelines,
)
from gpufeed.present.tables.cost import bill, costs
from gpufeed.present.tables.file_system import (
    compared,
    comparison_sentences,
    file_system_sentences,
    file_systems,
    left_out,
)
from gpufeed.present.tables.flip import flips, sensitivity
from gpufeed.present.tables.measured import findings, series, sweep
from gpufeed.present.tables.plan import (
    bursts,
    checkpoints,
    course,
    epochs,
    opinions,
    options,
    placements,
    supplies,
    why,
)
from gpufeed.present.tables.prefix import (
    extensions,
    prefixes,
    scan_sentence,
    sizes,
    small_file_sentences,
    small_files,
    storage_classes,
)

__all__ = [
    "bill",
    "bursts",
    "checkpoint_sentences",
    "checkpoints",
    "compared",
    "comparison_sentences",
    "costs",
    "course",
    "epochs",
    "extensions",
    "failures",
    "file_operations",
    "file_system_sentences",
    "file_systems",
    "findings",
    "flips",
    "gate",
    "goodput",
    "left_out",
    "memory_first",
    "observed_save",
    "opinions",
    "options",
    "placements",
    "prefixes",
    "restores",
    "retention",
    "saves",
    "scan_sentence",
    "sensitivity",
    "series",
    "sizes",
    "small_file_sentences",
    "small_files",
    "storage_classes",
    "supplies",
    "sweep",
    "timelines",
    "why",
]
