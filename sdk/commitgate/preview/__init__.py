"""Show JSON while it grows. Display only: nothing here proves that a text is whole, valid or allowed."""

from commitgate.preview.items import Item, ItemCursor
from commitgate.preview.preview import Preview, Reset
from commitgate.preview.reader import HasSchema, PreviewReader
from commitgate.preview.state import ReaderState

__all__ = ["HasSchema", "Item", "ItemCursor", "Preview", "PreviewReader", "ReaderState", "Reset"]
