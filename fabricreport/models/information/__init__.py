"""What knowledge is worth before a choice is made: all of it, some of it, or a sample of some of it."""

from fabricreport.models.information.regression import foreseen
from fabricreport.models.information.signals import observed
from fabricreport.models.information.value import FOLDS, Estimate, evpi, evppi, evsi, taken

__all__ = ["FOLDS", "Estimate", "evpi", "evppi", "evsi", "foreseen", "observed", "taken"]
