"""Look after a ledger from a shell: ``commitgate ledger list|show|approve|reject|reconcile|prune|verify``."""

from __future__ import annotations

import typer

from commitgate.cli.ledger import deciding, listing, pruning, settling, showing, verifying

ledger = typer.Typer(
    help="Look at what operation keys stand for, decide what waits for a person, settle what is in doubt.",
    no_args_is_help=True,
)
ledger.command("list", epilog=listing.EPILOG)(listing.list_rows)
ledger.command("show", epilog=showing.EPILOG)(showing.show)
ledger.command("approve", epilog=deciding.APPROVE_EPILOG)(deciding.approve)
ledger.command("reject", epilog=deciding.REJECT_EPILOG)(deciding.reject)
ledger.command("reconcile", epilog=settling.EPILOG)(settling.reconcile)
ledger.command("prune", epilog=pruning.EPILOG)(pruning.prune)
ledger.command("verify", epilog=verifying.EPILOG)(verifying.verify)

__all__ = ["ledger"]
