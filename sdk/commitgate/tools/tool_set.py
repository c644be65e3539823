"""Hold the tools that one run may call, each under a name of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast

from commitgate.argument import wrong_kind
from commitgate.errors import MisuseError
from commitgate.tools.tool import Tool

AnyTool: TypeAlias = "Tool[..., object]"
"""A tool, whatever it takes and gives."""


class ToolSet:
    """Hold tools in the caller's order. Make it with ``ToolSet.of``."""

    __slots__ = ("_by_name",)

    def __init__(self, by_name: dict[str, AnyTool]) -> None:
        self._by_name = by_name

    @staticmethod
    def of(tools: Sequence[AnyTool]) -> ToolSet:
        """Check a list of tools.

        Raises:
            MisuseError: it is none, it is empty, an item is no tool, or two have one name.
        """
        given = cast("object", tools)
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise wrong_kind("tools", "a list of tools", given)
        by_name: dict[str, AnyTool] = {}
        for index, each in enumerate(cast("Sequence[object]", given)):
            if not isinstance(each, Tool):
                raise wrong_kind(f"tools[{index}]", "a function under @tool(effect=...)", each)
            found = cast("AnyTool", each)
            if found.name in by_name:
                raise MisuseError(f"two tools have the name {found.name!r}; give one another: @tool(..., name=...)")
            by_name[found.name] = found
        if not by_name:
            raise MisuseError("tools is empty; use generate_structured where nothing may be called")
        return ToolSet(by_name)

    def __getitem__(self, name: str) -> AnyTool:
        """Return the tool of a name.

        Raises:
            KeyError: there is none.
        """
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)


__all__ = ["AnyTool", "ToolSet"]
