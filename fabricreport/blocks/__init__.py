"""What a notebook emits: prose with bound numbers, charts with alt text, tables, callouts.

May not know papermill or nbconvert.

May import: base, ledger.
"""

from fabricreport.blocks.cells import open_section
from fabricreport.blocks.document import MIME, Block, Drawing, Section
from fabricreport.blocks.tables import RANGE, Column, Row, Table
from fabricreport.ledger.facts import Name, Named

__all__ = [
    "MIME",
    "RANGE",
    "Block",
    "Column",
    "Drawing",
    "Name",
    "Named",
    "Row",
    "Section",
    "Table",
    "open_section",
]
