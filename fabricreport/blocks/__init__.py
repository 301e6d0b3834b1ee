"""What a notebook emits: prose with bound numbers, charts with alt text, tables, callouts.

May not know papermill or nbconvert.
"""

from fabricreport.blocks.document import MIME, Block, Chart, Section, Tile
from fabricreport.blocks.tables import Column, Row
from fabricreport.blocks.template import Name

__all__ = ["MIME", "Block", "Chart", "Column", "Name", "Row", "Section", "Tile"]
