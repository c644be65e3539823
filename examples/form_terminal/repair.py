"""Define the form, and what the model is asked to fill it from an e-mail."""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from commitgate import Message

SYSTEM = "You fill in repair forms from e-mails. Use only what the e-mail says."

PhotoId = Annotated[str, Field(min_length=4, max_length=6)]


class Repair(BaseModel):
    """One visit of a technician."""

    model_config = ConfigDict(extra="forbid")

    customer: str = Field(min_length=1, max_length=40, title="Customer")
    device: Literal["boiler", "heater", "oven", "pump"] = Field(title="Device")
    floor: int = Field(ge=0, le=99, title="Floor")
    photos: list[PhotoId] = Field(max_length=4, title="Photos")
    problem: str = Field(min_length=1, max_length=120, title="Problem")


MAIL = """\
Subject: Boiler makes noise
Photos: P-871, P-872

Hello, our boiler on floor 3 makes a loud noise every night and the water stays cold. Two photos are attached.
Maria Lindgren"""

# Two solved e-mails. A model this small follows what it sees done.
SHOWN = (
    (
        "Subject: Heater stays cold\nPhotos: P-310\n\n"
        "Hello, the heater on floor 2 stays cold since Friday and we have guests. One photo is attached.\nLena Ott",
        Repair(
            customer="Lena Ott",
            device="heater",
            floor=2,
            photos=["P-310"],
            problem="The heater stays cold since Friday.",
        ),
    ),
    (
        "Subject: Oven door\nPhotos: P-402, P-403\n\n"
        "Good morning, the door of our oven on floor 14 does not close any more and the seal is torn.\nSam Reed",
        Repair(
            customer="Sam Reed",
            device="oven",
            floor=14,
            photos=["P-402", "P-403"],
            problem="The door does not close any more and the seal is torn.",
        ),
    ),
)


def conversation(mail: str) -> list[Message]:
    """Return what the model is asked: the solved e-mails, then this one."""
    messages = [Message("system", SYSTEM)]
    for text, repair in SHOWN:
        messages += [Message("user", text), Message("assistant", json.dumps(repair.model_dump()))]
    return [*messages, Message("user", mail)]
