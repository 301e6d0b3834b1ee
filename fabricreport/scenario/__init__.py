"""The params file: its schema, its rules, and how it is read, written and shown to editors.

Knows nothing of prices, models or notebooks.

May import: base, books.
"""

from fabricreport.scenario.brand import Brand, brand_of
from fabricreport.scenario.candidates import Offer, OfferFile, Reason, meant
from fabricreport.scenario.checks import client_slug, slugify
from fabricreport.scenario.defaults import (
    Assumed,
    assumptions,
    defaulted_keys,
    flat_keys,
    is_given,
    stated_at,
    value_at,
)
from fabricreport.scenario.files import (
    ParamsFile,
    canonical_json,
    changed_params,
    dated,
    load_params,
    load_params_file,
    params_from,
    typed_changes,
)
from fabricreport.scenario.rules import REFUSALS
from fabricreport.scenario.schema import (
    SECTION_NAMES,
    SHIPPED_OPTIONS,
    Adopted,
    Client,
    Cluster,
    JobSize,
    MemoHead,
    Money,
    Organisation,
    Override,
    Parallelism,
    Params,
    Provider,
    Stage,
    Weights,
    Workload,
    json_schema,
    option_excluded,
    options_left_out,
)
from fabricreport.scenario.template import new_params
from fabricreport.scenario.uncertain import Bounds, Reference, UncertainValue, dump_uncertain, parse_uncertain

__all__ = [
    "REFUSALS",
    "SECTION_NAMES",
    "SHIPPED_OPTIONS",
    "Adopted",
    "Assumed",
    "Bounds",
    "Brand",
    "Client",
    "Cluster",
    "JobSize",
    "MemoHead",
    "Money",
    "Offer",
    "OfferFile",
    "Organisation",
    "Override",
    "Parallelism",
    "Params",
    "ParamsFile",
    "Provider",
    "Reason",
    "Reference",
    "Stage",
    "UncertainValue",
    "Weights",
    "Workload",
    "assumptions",
    "brand_of",
    "canonical_json",
    "changed_params",
    "client_slug",
    "dated",
    "defaulted_keys",
    "dump_uncertain",
    "flat_keys",
    "is_given",
    "json_schema",
    "load_params",
    "load_params_file",
    "meant",
    "new_params",
    "option_excluded",
    "options_left_out",
    "params_from",
    "parse_uncertain",
    "slugify",
    "stated_at",
    "typed_changes",
    "value_at",
]
