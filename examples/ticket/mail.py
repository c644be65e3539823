"""Read an e-mail file: what the model is shown, and what the caller may see."""

import re
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from pathlib import Path

SYSTEM = "You turn e-mails to a support desk into tickets. Use only what the e-mail says."


@dataclass(frozen=True, slots=True)
class Mail:
    """Hold one e-mail.

    Attributes:
        message_id: names it, and with it the business act of opening its ticket.
        prompt: what the model is shown.
        visible_evidence: ids of its attachments, from the header that our own mail gateway writes.
    """

    message_id: str
    prompt: str
    visible_evidence: frozenset[str]


def read_mail(path: Path) -> Mail:
    """Return the e-mail in a file."""
    message = message_from_bytes(path.read_bytes(), policy=default)
    attachments = str(message["X-Evidence"] or "")
    prompt = (
        f"From: {message['From']}\nSubject: {message['Subject']}\nAttachments: {attachments or 'none'}\n\n"
        f"{message.get_content()}"
    )
    return Mail(str(message["Message-ID"]).strip("<>"), prompt, frozenset(re.findall(r"A-\d+", attachments)))
