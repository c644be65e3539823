"""Hold the terms that automata are made of: a state is the language that remains.

A term denotes a set of byte strings. ``step(byte)`` gives its Brzozowski derivative: what may follow that byte.
``nullable`` says that the text may end here (the accept state). ``Arena.empty`` is the language without any text
(the dead state); constructors remove empty parts, so every other term can be finished.

Terms are hash-consed: one arena makes equal terms once, so identity is equality and derivatives are memoised on the
term. Derivatives are taken once per *byte class*, not per byte: a term's ``Partition`` maps each byte to a class, and
class 0 is dead. Walking a text is then two table look-ups a byte. A term that has met one byte alone, as most have
when a text is read for the first time, needs no partition.

Alternatives that begin alike are kept as one beginning and the alternatives behind it, so that a text which takes long
to tell them apart is not walked once for each.

An arena may be used from several threads: its tables only grow, by single atomic operations, and two threads that
race derive the same term.

Source: Brzozowski, "Derivatives of Regular Expressions", 1964; Owens, Reppy and Turon, "Regular-expression
derivatives re-examined", 2009 (byte classes, hash-consing).
"""

from commitgate.automaton.terms.arena import Arena
from commitgate.automaton.terms.compound import Choice, Located, Sequence
from commitgate.automaton.terms.literal import Literal, LiteralSet, Run
from commitgate.automaton.terms.term import Term

__all__ = [
    "Arena",
    "Choice",
    "Literal",
    "LiteralSet",
    "Located",
    "Run",
    "Sequence",
    "Term",
]
