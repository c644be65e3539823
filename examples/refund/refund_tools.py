"""Define what the agent may call, and what is asked of a call before it does anything."""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field
from shop import Shop
from staff import RefundArguments, is_above_limit, may_refund

from commitgate import CheckContext, EffectRejected, RuleViolation, TransactionContext
from commitgate.tools import AnyTool, tool

OrderId = Annotated[str, Field(pattern="^[A-Z]-[0-9]{4}$")]
Cents = Annotated[int, Field(ge=1, le=100_000)]


def tools_of(shop: Shop, *, before_commit: Callable[[], None] = lambda: None) -> list[AnyTool]:
    """Return the tools.

    Args:
        shop: what they work on.
        before_commit: called inside the refund's transaction once its row is written, for those who want to see what
            becomes of it.
    """

    def is_what_was_paid(arguments: RefundArguments, context: CheckContext) -> RuleViolation | None:
        order = shop.find(arguments.order_id)
        if order is None:
            return RuleViolation("no_such_order", "there is no such order", "/order_id")
        if arguments.cents != order.paid_cents:
            return RuleViolation("wrong_amount", f"{order.paid_cents} cents were paid for this order", "/cents")
        return None

    @tool(effect="read")
    def look_up_order(order_id: OrderId) -> dict[str, str | int]:
        """Find an order by its id."""
        order = shop.find(order_id)
        if order is None:
            raise EffectRejected("there is no such order")
        return {"item": order.item, "paid_cents": order.paid_cents}

    @tool(effect="transactional", evidence=[is_what_was_paid], approve=is_above_limit, authorize=may_refund)
    def refund(order_id: OrderId, cents: Cents, context: TransactionContext) -> dict[str, int]:
        """Pay money back for an order."""
        shop.pay_back(order_id, cents, context.connection)
        before_commit()
        return {"refunded_cents": cents}

    @tool(effect="once")
    def write_to_customer(text: Annotated[str, Field(max_length=120)]) -> str:
        """Send the customer a message."""
        shop.post(text)
        return "sent"

    return [look_up_order, refund, write_to_customer]
