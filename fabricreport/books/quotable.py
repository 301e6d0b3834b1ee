"""What is quoted and never drawn: its record as the ledger prints an input, by the beginning of its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fabricreport.books.claims import claim_record
from fabricreport.books.purchases import purchase_record

QUOTABLE: Mapping[str, Callable[[str], dict[str, Any]]] = {"claim": claim_record, "purchase": purchase_record}
