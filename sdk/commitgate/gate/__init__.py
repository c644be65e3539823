"""Judge an answer: the stream by the gate, its text by the layers. Sans-IO.

This package exports the words in which verdicts are given; the parts live in its modules, and are loaded only when a
call needs them.
"""

from commitgate.gate.layers import Failure, Layer, LayerRecord

__all__ = ["Failure", "Layer", "LayerRecord"]
