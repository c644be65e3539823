"""What a layer leaves on record: what is shown of it, and what stands where nothing was said."""

from commitgate.gate.layers import Failure, Layer, LayerRecord


def failure(**more: object) -> Failure:
    return Failure(layer=Layer.RULES, code="no", pointer="/a", message="wanted", **more)


def test_failure_shows_neither_data_nor_cause() -> None:
    shown = repr(failure(data="canary", cause=ValueError("canary")))
    assert "canary" not in shown
    assert "wanted" in shown


def test_failure_may_be_asked_again_unless_it_says_no() -> None:
    assert failure().retryable
    assert not failure(retryable=False).retryable
    assert (failure().data, failure().cause) == (None, None)


def test_failures_are_equal_whatever_exception_stands_behind_them() -> None:
    assert failure(cause=ValueError()) == failure(cause=KeyError()) == failure()
    assert failure(data=1) != failure(data=2)


def test_layer_that_did_not_run_took_no_time_and_found_nothing() -> None:
    record = LayerRecord(layer=Layer.TYPE, ran=False, passed=None)
    assert (record.time_s, record.failures) == (0.0, ())
