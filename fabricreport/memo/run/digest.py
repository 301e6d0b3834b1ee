"""One hash and one spelling for everything that is compared by content; reading a manifest needs no more than this."""

from __future__ import annotations

import hashlib
import json


def sha256(data: bytes) -> str:
    """Hex digest."""
    return hashlib.sha256(data).hexdigest()


def canonical(value: object) -> bytes:
    """JSON with sorted keys and no spaces: equal values, equal bytes."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")
