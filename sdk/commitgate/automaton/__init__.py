"""Automata over bytes: what a contract's text may be, byte by byte."""

from commitgate.automaton.acceptor import Acceptor
from commitgate.automaton.automaton import Automaton, analyse, compile
from commitgate.automaton.json_schema import Dialect, SupportRow
from commitgate.automaton.terms import Arena, Term

__all__ = ["Acceptor", "Arena", "Automaton", "Dialect", "SupportRow", "Term", "analyse", "compile"]
