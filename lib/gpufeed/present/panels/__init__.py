"""Panels: the only door to ipywidgets.  Each reads its widgets, calls the model, and hands values to charts."""

from gpufeed.present.panels.checkpoints import CheckpointsPanel
from gpufeed.present.panels.choose import ChoosePanel
from gpufeed.present.panels.inspect import InspectPanel
from gpufeed.present.panels.measure import MeasurePanel
from gpufeed.present.panels.studio import StudioPanel

__all__ = ["CheckpointsPanel", "ChoosePanel", "InspectPanel", "MeasurePanel", "StudioPanel"]
