"""Builds the ledger of entries, in order; it continues from the one that an earlier compaction stored."""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, Self, get_args

from coppice.compaction.actions.action import Action, action_of, action_of_user, is_not_run
from coppice.compaction.actions.outputs import waiting_id
from coppice.compaction.facts.quotations import Quotations
from coppice.compaction.facts.state import StateBuilder
from coppice.compaction.facts.user import (
    answer_in,
    answer_of,
    is_bare_command,
    only_rules,
    refusal_of,
    rules_of,
    user_message,
)
from coppice.protocol.ledger import LedgerMessage, MessageSource, Quotation, QuotationKind, WorkLedger
from coppice.tree.authorship import written_by_user
from coppice.tree.entries import (
    HARNESS_TYPE,
    MEMORY_TYPE,
    BranchSummaryEntry,
    CustomMessageEntry,
    Entry,
    EntryBase,
    MessageEntry,
)
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    DeveloperMessage,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)

_WHOLE_MESSAGES: Final = 60  # the newest messages; a summary of 4,000 tokens shows some 20
_OLDER_MESSAGES: Final = 200
"""Older messages of which the rules are stored."""
_MOST_QUOTATIONS: Final = 80
"""These three bound a stored ledger to some 250,000 characters; of recorded conversations the largest has
61,000.
"""


class LedgerBuilder:
    """Feed it entries or messages, oldest first. `root` is the folder that paths are named relative to."""

    def __init__(self, ledger: WorkLedger | None = None, root: str | None = None) -> None:
        before = ledger.model_copy(deep=True) if ledger else WorkLedger()
        self._messages = before.messages
        self._rules = {
            each.text for each in before.messages if each.source not in ("user", "answer", "refusal")
        }
        self._state = StateBuilder(before.state, root)
        self._quotations = Quotations(before.quotations)
        self._finished = before.finished
        self._replied = True
        self._asked = False
        self._left_out = before.left_out
        self._calls: dict[str, deque[tuple[str, ToolCall]]] = {}
        self._waiting: dict[str, ToolCall] = {}
        self._running: dict[str, ToolCall] = {}
        self._root = root
        self._earlier = before.earlier
        self._earlier_at = 0
        self._earlier_before = before.earlier_before_commit

    @classmethod
    def from_details(cls, details: object, root: str | None = None) -> Self:
        """Continues from the ledger in a compaction's `details`; begins anew where there is none of this
        form.
        """
        return cls(stored_ledger(details), root)

    def add(self, entries: Iterable[Entry]) -> Self:
        """Takes in `entries`; those that no model sees are skipped."""
        for entry in entries:
            match entry:
                case MessageEntry():
                    self.add_message(entry.message, entry.id)
                case BranchSummaryEntry():
                    self._state.merge((stored_ledger(entry.details) or WorkLedger()).state)
                case CustomMessageEntry(custom_type=custom_type):
                    self._custom(text_of(entry.content), custom_type, entry.id)
                case _:
                    pass
        return self

    def add_messages(self, messages: Iterable[Message]) -> Self:
        """Takes in messages whose entries are not known."""
        for message in messages:
            self.add_message(message, "")
        return self

    def add_message(self, message: Message, entry: str) -> None:
        """Takes in one message of the entry with the id `entry`."""
        match message:
            case UserMessage():
                self._state.jobs.notice(text_of(message.content), entry)
                self._user(written_by_user(message.content), entry)
            case AssistantMessage():
                self._assistant(message, entry)
            case ToolResultMessage():
                self._result(message)
            case BashExecutionMessage():
                self._state.take(action_of_user(entry, message))
            case DeveloperMessage() | SystemMessage():
                self._keep(rules_of(text_of(message.content), message.role, entry))
            case CustomRoleMessage():
                self._custom(text_of(message.content), message.custom_type, entry)
            case _:
                pass

    def summarized(self, narrative: str) -> None:
        """Takes in that a model or a person summarized everything so far."""
        self._earlier, self._earlier_at, self._earlier_before = narrative, self._quotations.clock, ""

    @property
    def ledger(self) -> WorkLedger:
        """The ledger so far, complete; `bounded` makes it fit an entry."""
        state = self._state.state()
        return WorkLedger(
            messages=list(self._messages),
            state=state,
            quotations=self._quotations.write(state.commits),
            finished=self._finished,
            replied=self._finished,
            earlier=self._earlier,
            earlier_before_commit=self._earlier_before
            or self._quotations.commit_after(self._earlier_at, state.commits),
            left_out=self._left_out,
        )

    @property
    def finished(self) -> bool:
        """Whether the assistant has ended its turn."""
        return self._finished

    @property
    def asked(self) -> bool:
        """Whether the user wrote anything that it took in itself."""
        return self._asked

    @property
    def inherited_quotations(self) -> list[Quotation]:
        """The quotations of the ledger that this one continues, so far as they still hold."""
        return self._quotations.write(self._state.state().commits, inherited=True)

    def _user(self, words: str, entry: str) -> None:
        message = user_message(words, entry)
        if message is None:
            return
        if not self._replied and self._messages and is_bare_command(self._messages[-1].text):
            self._messages.pop()  # it was for the application: no assistant replied to it
        self._asked = True
        self._finished = self._replied = False
        self._state.begin_turn()
        self._quotations.user(words)
        self._keep(message)

    def _custom(self, text: str, custom_type: str, entry: str) -> None:
        if custom_type == HARNESS_TYPE:
            self._state.jobs.notice(text, entry)
            return
        source: MessageSource = "memory" if custom_type == MEMORY_TYPE else "extension"
        self._keep(rules_of(text, source, entry))

    def _assistant(self, message: AssistantMessage, entry: str) -> None:
        if message.failed:
            return
        self._replied = True
        self._finished = not message.tool_calls
        text = "\n\n".join(block.text for block in message.content if isinstance(block, TextContent))
        if self._root:
            text = text.replace(f"{self._root.rstrip('/')}/", "")
        self._quotations.assistant(text, entry, last=self._finished)
        self._calls |= {call.id: deque() for call in message.tool_calls}
        for call in message.tool_calls:
            self._calls[call.id].append((entry, call))

    def _result(self, message: ToolResultMessage) -> None:
        calls = self._calls.get(message.tool_call_id)
        if not calls:
            return
        entry, call = calls.popleft()
        if not calls:
            del self._calls[message.tool_call_id]
        output = text_of(message.content)
        details = message.details if isinstance(message.details, dict) else {}
        is_denied = details.get("denied") is True
        named = f"{call.name} {_first_text(call.arguments)[:400]}"
        if is_denied:
            self._keep(refusal_of(output, named, entry))
        is_marked = message.is_error and details.get("notRun") is True
        is_executed = "exitCode" in details
        if is_denied or is_marked or (not is_executed and is_not_run(output, is_error=message.is_error)):
            self._quotations.refused(entry)
            return
        if (cell := call.arguments.get("cell_id")) is not None:
            call = self._waiting.pop(str(cell), call)
        if waits := waiting_id(output):
            self._waiting[waits] = call  # the rest of what it prints is the result of another call
        action = action_of(entry, call, output, is_error=message.is_error)
        if action.running:
            self._running[action.running] = call
        self._keep(answer_of(answer_in(message), call.arguments, named, entry))
        self._state.take(action)
        self._take_end(action)
        self._quotations.action(action)
        self._quotations.checks(self._state.checks.failed, self._state.checks.settled)

    def _take_end(self, action: Action) -> None:
        """Takes in the command whose end `action` reports, with its result."""
        for job, ended in self._state.jobs.ended.items():
            call = self._running.pop(job, None)
            if call is not None and ended != "stopped":
                self._state.take(action_of(action.entry, call, action.output, is_error=ended == "failed"))

    def _keep(self, message: LedgerMessage | None) -> None:
        if message is None:
            return
        if message.source not in ("user", "answer", "refusal"):
            if message.text in self._rules:  # agents send their instructions again and again
                return
            self._rules.add(message.text)
        self._messages.append(message)


def _first_text(arguments: dict[str, Any]) -> str:
    return next((text for text in arguments.values() if isinstance(text, str)), "")


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


def brought_up_to_date(ledger: WorkLedger, later: Iterable[Entry | Message], root: str | None) -> WorkLedger:
    """`ledger` as of the end of `later`: its state, what holds of its quotations, and whether its newest
    request was replied to. Its messages stay, and with `later` its last quotation is not what the turn ended
    with.
    """
    builder, finished, replied = LedgerBuilder(ledger, root), ledger.finished, ledger.finished
    for each in later:
        finished = False
        if isinstance(each, EntryBase):
            builder.add([each])
        else:
            builder.add_message(each, "")
        if not builder.asked:
            replied = replied or builder.finished
    mine = {
        "messages": ledger.messages,
        "quotations": builder.inherited_quotations,
        "finished": finished,
        "replied": replied or (None if builder.asked else False),
    }
    return builder.ledger.model_copy(update=mine)
