"""Pack the weights of a linear layer in one of several precisions, and find out which of them run here.

``int8`` keeps one signed byte a weight with a scale for each output. Where the processor multiplies bytes (FBGEMM),
activations become two bytes, by the largest value of their own row: no row depends on which others share its pass.
Elsewhere they stay bfloat16 and only the weights are bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Final, Literal, TypeAlias, cast

import torch
from torch.nn import functional

from commitgate.argument import check_choice
from commitgate.errors import MisuseError
from commitgate_local.runtime.lengths import largest

Precision: TypeAlias = Literal["float32", "bfloat16", "float16", "int8"]

# Takes and gives the activations. [rows, inputs] -> [rows, outputs], in the type of what is given.
Linear: TypeAlias = Callable[[torch.Tensor], torch.Tensor]

PRECISIONS: Final = ("auto", "float32", "bfloat16", "float16", "int8")

_LARGEST: Final = 127

# So that a row of zeros is divided by something.
_SMALLEST: Final = 1e-30


def check_precision(word: str) -> None:
    """Check a precision's name.

    Raises:
        MisuseError: there is no such precision.
    """
    check_choice("precision", word, PRECISIONS)


def check_runs(precision: Precision, device: torch.device) -> None:
    """Check that a precision can run on a device.

    Raises:
        MisuseError: it cannot; the message says what can.
    """
    if precision == "float16" and device.type == "cpu":
        raise MisuseError("the precision 'float16' needs a CUDA device; on the CPU take 'bfloat16' or 'int8'")
    if precision == "int8" and device.type != "cpu":
        raise MisuseError("the precision 'int8' runs on the CPU only; on a CUDA device take 'bfloat16' or 'float16'")
    if precision == "int8" and not (_multiplies_bytes() or _multiplies_packed_bytes()):
        raise MisuseError("the precision 'int8' cannot run here: this build of torch has no kernels for it")


def pack_linear(weight: torch.Tensor, bias: torch.Tensor | None, precision: Precision) -> Linear:
    """Pack a linear layer.

    Args:
        weight: [outputs, inputs] float32.
        bias: [outputs] float32, or None.
        precision: one that runs on the weight's device.
    """
    weight = weight.detach()
    bias = None if bias is None else bias.detach()
    if precision == "int8":
        scale = _scale(weight)
        # A weight that is no number has no scale; it stays, so that the logits show it.
        if bool(torch.isfinite(scale).all()):
            pack = _pack_bytes if _multiplies_bytes() else _pack_weight_bytes
            return _add_bias(pack(weight, scale), bias)
    if precision == "bfloat16" and weight.device.type == "cpu":
        return _add_bias(_pack_bfloat16(weight), bias)
    kind = _kinds()[precision] if weight.device.type != "cpu" else torch.float32
    kept, kept_bias = weight.to(kind), None if bias is None else bias.to(kind)
    return lambda rows: functional.linear(rows, kept, kept_bias)


def activation_type(precision: Precision, device: torch.device) -> torch.dtype:
    """Return the type in which activations and the cache are kept: float32 on a CPU, half of it on CUDA."""
    return torch.float32 if device.type == "cpu" else _kinds()[precision]


def _kinds() -> dict[str, torch.dtype]:
    return {
        "float32": torch.float32,
        "bfloat16": torch.bfloat16,
        "float16": torch.float16,
        "int8": torch.float32,
    }


def _add_bias(linear: Linear, bias: torch.Tensor | None) -> Linear:
    if bias is None:
        return linear
    return lambda rows: linear(rows).add_(bias)


def _pack_bfloat16(weight: torch.Tensor) -> Linear:
    kept = weight.to(torch.bfloat16)
    # Laid out once for oneDNN; else it lays a weight out anew in every pass.
    try:
        laid_out = torch.ops.mkldnn._reorder_linear_weight(kept, None)
        linear = _laid_out_linear(laid_out)
        linear(torch.zeros(1, weight.shape[1]))
    except (RuntimeError, AttributeError, NotImplementedError):
        return lambda rows: functional.linear(rows.bfloat16(), kept).float()
    return linear


def _laid_out_linear(weight: torch.Tensor) -> Linear:
    run = torch.ops.mkldnn._linear_pointwise.default
    return lambda rows: cast("torch.Tensor", run(rows.bfloat16(), weight, None, "none", [], "")).float()


def _scale(weight: torch.Tensor) -> torch.Tensor:
    """Return each output's weight for one step of its bytes; no number where one of its weights is none. [outputs]"""
    return weight.abs().amax(1).clamp_min_(_SMALLEST).div_(_LARGEST)


def _pack_bytes(weight: torch.Tensor, scale: torch.Tensor) -> Linear:
    packed = _fbgemm_weight(weight, scale)
    run = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
    most, zero_point = _input_range()
    # As tensors: a Python number is made one in every call, which costs more than the multiplication of a row.
    range_, finer, smallest = torch.tensor(float(most)), torch.tensor(2.0 * most), torch.tensor(_SMALLEST)
    part = 0.5 / most

    def linear(rows: torch.Tensor) -> torch.Tensor:
        steps = torch.div(range_, torch.maximum(largest(rows), smallest))
        lost = rows * steps
        kept = lost.round()
        # What rounding loses goes through the same weights once more: a second row costs next to nothing, and one byte
        # of activations alone would lose a tenth of the logits.
        lost.sub_(kept).mul_(finer)
        found = cast("torch.Tensor", run(torch.cat((kept, lost)), 1.0, zero_point, packed))
        first, second = found.chunk(2)
        return first.add_(second, alpha=part).div_(steps)

    return linear


def _fbgemm_weight(weight: torch.Tensor, scale: torch.Tensor) -> object:
    zeros = torch.zeros(weight.shape[0], dtype=torch.long)
    with warnings.catch_warnings():
        # The tensor type is on its way out, the kernels under it are not; where they are gone int8 runs without them.
        warnings.simplefilter("ignore")
        rounded = torch.quantize_per_channel(weight, scale.double(), zeros, 0, torch.qint8)
        return torch.ops.quantized.linear_prepack(rounded, None)


def _pack_weight_bytes(weight: torch.Tensor, scale: torch.Tensor) -> Linear:
    kept = (weight / scale[:, None]).round_().to(torch.int8)
    scale = scale.to(torch.bfloat16)
    run = torch.ops.aten._weight_int8pack_mm.default
    return lambda rows: cast("torch.Tensor", run(rows.bfloat16(), kept, scale)).float()


@cache
def _input_range() -> tuple[int, int]:
    """Return the largest activation as a byte, and the byte of zero; 7 bits where sums of two products saturate.

    Processors without VNNI add pairs of products in 16 bits; full bytes would be cut there, so it is tried out.
    """
    run = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
    ones, weight = torch.ones(1, 64), torch.ones(16, 64)
    packed = _fbgemm_weight(weight, _scale(weight))
    found = cast("torch.Tensor", run(ones * _LARGEST, 1.0, _LARGEST + 1, packed))
    if abs(float(found[0, 0]) / _LARGEST - ones.shape[1]) < 1.0:
        return _LARGEST, _LARGEST + 1
    return _LARGEST // 2, _LARGEST // 2 + 1


@cache
def _multiplies_bytes() -> bool:
    """Return whether FBGEMM's kernels are here and in use."""
    if torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return False
    try:
        _input_range()
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return True


@cache
def _multiplies_packed_bytes() -> bool:
    try:
        weight = torch.ones(32, 32)
        _pack_weight_bytes(weight, _scale(weight))(torch.ones(1, 32))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return True


__all__ = ["PRECISIONS", "Linear", "Precision", "activation_type", "check_precision", "check_runs", "pack_linear"]
