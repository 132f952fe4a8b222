"""The ledger as a compaction's entry stores it."""

from contextlib import suppress
from typing import Any, Final, get_args

from coppice.compaction.facts.user import only_rules
from coppice.protocol.ledger import QuotationKind, WorkLedger

_WHOLE_MESSAGES: Final = 60  # the newest messages; a summary of 4,000 tokens shows some 20
_OLDER_MESSAGES: Final = 200
"""Older messages of which the rules are stored."""
_MOST_QUOTATIONS: Final = 80
"""These three bound a stored ledger to some 250,000 characters; of recorded conversations the largest has
61,000.
"""


def stored_ledger(details: object) -> WorkLedger | None:
    """The ledger in an entry's `details`; None where there is none of this form. Quotations of kinds that are
    no longer made are left out.
    """
    stored = details.get("ledger") if isinstance(details, dict) else None
    with suppress(ValueError, AttributeError):
        if isinstance(stored, dict) and "messages" in stored:
            held = [each for each in stored.get("quotations", ()) if _is_of_today(each)]
            return WorkLedger.model_validate({**stored, "quotations": held})
    return None


def _is_of_today(quotation: dict[str, Any]) -> bool:
    return quotation.get("kind") in get_args(QuotationKind)


def bounded(ledger: WorkLedger) -> WorkLedger:
    """`ledger` as an entry stores it: of older messages the rules, of quotations the newest."""
    split = max(0, len(ledger.messages) - _WHOLE_MESSAGES)
    opening = ledger.messages[: min(1, split)]
    older = [
        rules for each in ledger.messages[len(opening) : split] if (rules := only_rules(each)) is not None
    ]
    messages = [*opening, *older[-_OLDER_MESSAGES:], *ledger.messages[split:]]
    quotations = ledger.quotations[-_MOST_QUOTATIONS:]
    gone = len(ledger.messages) - len(messages) + len(ledger.quotations) - len(quotations)
    return ledger.model_copy(
        update={"messages": messages, "quotations": quotations, "left_out": ledger.left_out + gone}
    )


def ledger_details(ledger: WorkLedger) -> dict[str, Any]:
    """The ledger as an entry's `details` hold it."""
    return bounded(ledger).model_dump(mode="json", by_alias=True)
