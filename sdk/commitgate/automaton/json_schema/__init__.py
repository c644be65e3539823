"""Compile JSON Schema: documents, what their places mean, whether they can be satisfied, and the terms they become."""

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.meaning import Meaning
from commitgate.automaton.json_schema.satisfiability import Satisfiability
from commitgate.automaton.json_schema.structure import Dialect, Grammar
from commitgate.automaton.json_schema.support import SupportRow

__all__ = ["Dialect", "Grammar", "Meaning", "Satisfiability", "SchemaDocument", "SupportRow"]
