"""Two offers to a renter that differ in their seller and price."""

from __future__ import annotations

from typing import Any

BASE: dict[str, Any] = {
    "seller": "Example Cloud",
    "date": "2026-11-12",
    "expiry": "2026-12-12",
    "fabric": "infiniband",
    "network": "included",
    "topology": "rail-optimised",
    "generation": "NDR",
    "price_per_gpu_hour": 2.6,
}
OTHER = {**BASE, "seller": "Example Hosting", "price_per_gpu_hour": 2.4}
