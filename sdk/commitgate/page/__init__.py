"""Write HTML pages that need nothing but themselves: one file, no request to anywhere."""

from commitgate.page.standalone import Asset, page_policy, standalone_page

__all__ = ["Asset", "page_policy", "standalone_page"]
