"""Define the order in which an answer passes the layers, and every legal step, in one table.

Theory. Each layer answers a question that the next one takes for granted, so no layer is asked before all before it
said yes: a rule never sees an object that its schema refuses, no authority is asked about a value that breaks a rule,
and whether the principal may do it is asked last, right before it is done. One no ends the way; there is one way to
``CHOSEN`` and it leads through every layer.

A layer may be passed over only where it has nothing to ask: a contract that is no JSON has neither parse nor schema,
and checks of the caller's exist only where he gave some. Finish, accept, type and content are never passed over.

Whether a person must look (``APPROVAL``) is asked before authorization, and answered after it: a person is not asked
about what the principal may not do at all. A stored value that is handed out again begins at ``AUTHORIZE``, since
only what may have changed by itself is asked again: who is asking.

A text outside the contract is still parsed and validated, to name its fault more exactly; from there no step leads to
``CHOSEN``. A signal without a transition is an error of the caller and changes nothing.
Source: design, "The way of one call".
"""

from __future__ import annotations

from enum import Enum, auto

from commitgate.gate.layers import Layer


class Stage(Enum):
    """Name what comes next on the way of an answer."""

    FINISH = auto()
    """Did the provider say that this is all?"""
    ACCEPT = auto()
    """Is the text a whole one in the eyes of the automaton?"""
    PARSE = auto()
    """Is it JSON, strictly?"""
    SCHEMA = auto()
    """Is it valid?"""
    TYPE = auto()
    """Can the typed value be made?"""
    RULES = auto()
    """Does the value make sense?"""
    CONTENT = auto()
    """Are its texts harmless?"""
    EVIDENCE = auto()
    """Is it true, as far as an authority knows?"""
    APPROVAL = auto()
    """Must a person look?"""
    AUTHORIZE = auto()
    """May the principal have it done?"""
    AUTHORIZE_FOR_A_PERSON = auto()
    """As before, of a value at which a person must look."""
    OUTSIDE_PARSE = auto()
    """The text is outside the contract; is it JSON at all?"""
    OUTSIDE_SCHEMA = auto()
    """The text is outside the contract; which keyword says so?"""
    CHOSEN = auto()
    """It may be acted on now."""
    WAITING = auto()
    """A person must decide."""
    REFUSED = auto()
    """A layer said no."""


class Step(Enum):
    """Name what happened at a stage."""

    PASSED = auto()
    """The layer said yes; of an approval: nobody need look."""
    SKIPPED = auto()
    """The layer has nothing to ask here."""
    FAILED = auto()
    """The layer said no, or a check of it broke."""
    PERSON = auto()
    """A person must look."""


def _layer(then: Stage, *, may_skip: bool) -> dict[Step, Stage]:
    yes = {Step.PASSED: then, Step.FAILED: Stage.REFUSED}
    return {**yes, Step.SKIPPED: then} if may_skip else yes


_TABLE: dict[Stage, dict[Step, Stage]] = {
    Stage.FINISH: _layer(Stage.ACCEPT, may_skip=False),
    Stage.ACCEPT: {Step.PASSED: Stage.PARSE, Step.FAILED: Stage.OUTSIDE_PARSE},
    Stage.PARSE: _layer(Stage.SCHEMA, may_skip=True),
    Stage.SCHEMA: _layer(Stage.TYPE, may_skip=True),
    Stage.TYPE: _layer(Stage.RULES, may_skip=False),
    Stage.RULES: _layer(Stage.CONTENT, may_skip=True),
    Stage.CONTENT: _layer(Stage.EVIDENCE, may_skip=False),
    Stage.EVIDENCE: _layer(Stage.APPROVAL, may_skip=True),
    Stage.APPROVAL: {**_layer(Stage.AUTHORIZE, may_skip=True), Step.PERSON: Stage.AUTHORIZE_FOR_A_PERSON},
    Stage.AUTHORIZE: _layer(Stage.CHOSEN, may_skip=True),
    Stage.AUTHORIZE_FOR_A_PERSON: _layer(Stage.WAITING, may_skip=True),
    Stage.OUTSIDE_PARSE: _layer(Stage.OUTSIDE_SCHEMA, may_skip=True),
    Stage.OUTSIDE_SCHEMA: _layer(Stage.REFUSED, may_skip=True),
    Stage.CHOSEN: {},
    Stage.WAITING: {},
    Stage.REFUSED: {},
}

STEPS = {(stage, step): to for stage, row in _TABLE.items() for step, to in row.items()}
"""Every legal step."""

LAYER_OF = {
    Stage.FINISH: Layer.FINISH,
    Stage.ACCEPT: Layer.ACCEPT,
    Stage.PARSE: Layer.PARSE,
    Stage.SCHEMA: Layer.SCHEMA,
    Stage.TYPE: Layer.TYPE,
    Stage.RULES: Layer.RULES,
    Stage.CONTENT: Layer.CONTENT,
    Stage.EVIDENCE: Layer.EVIDENCE,
    Stage.AUTHORIZE: Layer.AUTHORIZE,
    Stage.AUTHORIZE_FOR_A_PERSON: Layer.AUTHORIZE,
    Stage.OUTSIDE_PARSE: Layer.PARSE,
    Stage.OUTSIDE_SCHEMA: Layer.SCHEMA,
}
"""The layer on whose record each stage leaves its answer. An approval leaves none, unless it breaks."""

__all__ = ["LAYER_OF", "STEPS", "Stage", "Step"]
