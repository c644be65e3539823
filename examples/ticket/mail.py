"""Read an e-mail file: what the model is asked, and what the caller may see."""

import json
import re
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default
from pathlib import Path

from commitgate import Message

SYSTEM = "You turn e-mails to a support desk into tickets. Use only what the e-mail says."

# Two solved e-mails. A model this small follows what it sees done; it does not follow a JSON Schema that it is told.
SHOWN = (
    (
        "From: Lena Ott <lena@oldmill.example>\nSubject: Heater stays cold\n"
        "Attachments: A-301 heater.jpg, A-302 display.jpg\n\n"
        "Hello, the heater stays cold since Friday and we have guests. Please come today. You know it from T-2750. "
        "Photos attached. Lena",
        {
            "id": "T-2750",
            "priority": "high",
            "evidence": ["A-301", "A-302"],
            "summary": "The heater stays cold since Friday.",
        },
    ),
    (
        "From: Sam Reed <sam@reed.example>\nSubject: Invoice for May\nAttachments: A-310 letter.pdf\n\n"
        "Hello, the invoice for May shows the wrong address. The letter is attached. There is no hurry. Sam",
        {
            "id": None,
            "priority": "normal",
            "evidence": ["A-310"],
            "summary": "The invoice for May shows the wrong address.",
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Mail:
    """Hold one e-mail.

    Attributes:
        message_id: names it, and with it the business act of opening its ticket.
        text: what the model reads.
        visible_evidence: ids of its attachments, from the header that our own mail gateway writes.
    """

    message_id: str
    text: str = field(repr=False)
    visible_evidence: frozenset[str]

    def conversation(self) -> list[Message]:
        """Return what the model is asked: the two solved e-mails, then this one."""
        messages = [Message("system", SYSTEM)]
        for text, ticket in SHOWN:
            messages += [Message("user", text), Message("assistant", json.dumps(ticket))]
        return [*messages, Message("user", self.text)]


def read_mail(path: Path) -> Mail:
    """Return the e-mail in a file."""
    message = message_from_bytes(path.read_bytes(), policy=default)
    attachments = str(message["X-Evidence"] or "")
    text = (
        f"From: {message['From']}\nSubject: {message['Subject']}\nAttachments: {attachments or 'none'}\n\n"
        f"{message.get_content()}"
    )
    return Mail(str(message["Message-ID"]).strip("<>"), text, frozenset(re.findall(r"A-\d+", attachments)))
