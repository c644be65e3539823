"""Make contracts whose schema is fixed but for a few named places, each with bounds of its own."""

from commitgate.template.numbers import Count, Number
from commitgate.template.schemas import OneOfSchemas
from commitgate.template.template import ContractTemplate
from commitgate.template.texts import EnumValues, Text

__all__ = ["ContractTemplate", "Count", "EnumValues", "Number", "OneOfSchemas", "Text"]
