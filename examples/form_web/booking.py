"""Define the form, and what the model is asked to fill it from an e-mail."""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from commitgate import Client, Message, Retry, Sampling, StructuredRun

SYSTEM = "You fill in booking forms from e-mails to a guest house. Use only what the e-mail says."

Extra = Annotated[str, Field(min_length=3, max_length=20)]


class Booking(BaseModel):
    """One stay in the guest house."""

    model_config = ConfigDict(extra="forbid")

    guest: str = Field(min_length=1, max_length=40, title="Guest")
    arrival: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] = Field(
        title="Arrival"
    )
    nights: int = Field(ge=1, le=60, title="Nights")
    breakfast: bool = Field(title="Breakfast")
    extras: list[Extra] = Field(max_length=4, title="Extras")
    wish: str = Field(min_length=1, max_length=160, title="Wish")


MAIL = """\
Hello, we would like to come on Thursday and stay for 12 nights, with breakfast. Extras: high chair, parking space.
The room should look out on the garden, because the street keeps our daughter awake at night.
Maria Lindgren"""

# Two solved e-mails. A model this small follows what it sees done.
SHOWN = (
    (
        "Good day, I arrive on Monday for 3 nights, without breakfast. Extras: bicycle shed.\n"
        "The room should be on the ground floor, since I cannot climb the stairs.\nLena Ott",
        Booking(
            guest="Lena Ott",
            arrival="Monday",
            nights=3,
            breakfast=False,
            extras=["bicycle shed"],
            wish="The room should be on the ground floor, since I cannot climb the stairs.",
        ),
    ),
    (
        "Dear team, we come on Saturday and stay 10 nights with breakfast. Extras: cot, desk.\n"
        "The room should be quiet, because we both work in the morning.\nSam Reed",
        Booking(
            guest="Sam Reed",
            arrival="Saturday",
            nights=10,
            breakfast=True,
            extras=["cot", "desk"],
            wish="The room should be quiet, because we both work in the morning.",
        ),
    ),
)


def conversation(mail: str) -> list[Message]:
    """Return what the model is asked: the solved e-mails, then this one."""
    messages = [Message("system", SYSTEM)]
    for text, booking in SHOWN:
        messages += [Message("user", text), Message("assistant", json.dumps(booking.model_dump()))]
    return [*messages, Message("user", mail)]


def ask(client: Client, mail: str) -> StructuredRun[Booking]:
    """Prepare the run for one e-mail. It may start again after something was shown; a Reset tells."""
    asked, sampling = conversation(mail), Sampling(temperature=0.0, max_tokens=160)
    return client.stream_structured(
        "local", Booking, messages=asked, prompt_schema="none", sampling=sampling, retry=Retry(restarts=1)
    )
