"""Whom a memo is for, and who writes it: the head of a params file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabricreport.books.fields import Line, Section


class Client(Section):
    """Whom the memo is for."""

    name: Line = Field(description="The client's name as the memo prints it.", examples=["Acme"])
    slug: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$",
        description="Folder name of the client's editions: a-z, 0-9 and hyphens. Made from the name if left out.",
        examples=["acme"],
    )


class MemoHead(Section):
    """Who writes to whom, about what."""

    to: Line = Field(default="The decision maker", description="Addressee of the memo.")
    from_: Line = Field(default="Infrastructure advisory", alias="from", description="Author of the memo.")
    subject: Line | None = Field(
        default=None,
        description="Subject line; none is printed if left out.",
        examples=["Network for the training cluster"],
    )
    language: Literal["en"] = Field(default="en", description="Language of the document.")
