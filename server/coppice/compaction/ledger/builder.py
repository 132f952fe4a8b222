"""Computes a ledger from entries, in order; it continues from the one that an earlier compaction stored."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, Self

from coppice.compaction.ledger import briefs, checks, jobs, recent, requests, superseding, tasks, versions
from coppice.compaction.ledger.bounds import stored
from coppice.compaction.ledger.quoted import comments_of, publishable_texts, published_by, report_of
from coppice.compaction.ledger.rules import distinct, instructions_in, rules_in
from coppice.compaction.ledger.shell import is_looking
from coppice.compaction.ledger.statements import intent_in, statements_in, without_narration
from coppice.compaction.ledger.steps import Action, action_of, relative_to
from coppice.compaction.ledger.written import added_code
from coppice.compaction.text.sentences import clip, sentences_of
from coppice.compaction.text.units import is_intention, plan_in, units_of
from coppice.compaction.text.user_text import typed_by_user
from coppice.protocol.ledger import Problem, Rule, Statement, WorkLedger
from coppice.tree.entries import BranchSummaryEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    DeveloperMessage,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)

_INTENT_CHARS: Final = 300  # characters of an announced step (guess)
_EXPLANATION_CHARS: Final = 480  # characters up to which an explanation is kept whole (guess)
_FINAL_WEIGHT: Final = 1.8
"""How much more the report that ends a turn is worth than what is written on the way (takeover.py)."""
_MANUAL_CHARS: Final = 8_000
"""A longer message of instructions is a manual of the harness, which is sent anew each time (guess)."""


class LedgerBuilder:
    """Feed it entries or messages, oldest first. `ledger` is what is known so far.

    `root` is the folder that paths are relative to; it is taken off wherever a text names it.
    """

    def __init__(self, ledger: WorkLedger | None = None, root: str | None = None) -> None:
        self.ledger = ledger or WorkLedger()
        self._root = f"{root.rstrip('/')}/" if root else ""
        self._calls: dict[str, tuple[str, ToolCall]] = {}
        self._unexplained: Problem | None = None
        self._turn_is_open = False
        self._since_change: list[str] = []
        self._intended: list[Statement] = []
        self._texts: dict[str, str] = {}
        self._staged: list[str] = []

    @classmethod
    def from_details(cls, details: object, root: str | None = None) -> Self:
        """Continues from the ledger in a compaction's `details`; begins anew where there is none."""
        stored = details.get("ledger") if isinstance(details, dict) else None
        with suppress(ValueError):
            return cls(WorkLedger.model_validate(stored), root)
        return cls(root=root)

    def add(self, entries: Iterable[Entry]) -> Self:
        """Takes in `entries`; those that no model sees are skipped."""
        for entry in entries:
            if isinstance(entry, MessageEntry):
                self.add_message(entry.message, entry.id)
            elif isinstance(entry, BranchSummaryEntry):
                self._branch(entry)
            elif isinstance(entry, CustomMessageEntry):
                self._instructions(text_of(entry.content), "extension", entry.id)
        return self

    def _branch(self, entry: BranchSummaryEntry) -> None:
        """Takes over what an abandoned branch left: commits, changed files, background work."""
        left = LedgerBuilder.from_details(entry.details).ledger
        ours = {file.path for file in self.ledger.uncommitted}
        self.ledger.uncommitted += [file for file in left.uncommitted if file.path not in ours]
        self.ledger.commits += left.commits
        self.ledger.jobs += [job for job in left.jobs if job.state == "running"]
        self.ledger.branch = left.branch or self.ledger.branch

    def add_messages(self, messages: Iterable[Message]) -> Self:
        """Takes in messages whose entries are not known."""
        for message in messages:
            self.add_message(message, "")
        return self

    def add_message(self, message: Message, entry: str) -> None:
        """Takes in one message of the entry with the id `entry`."""
        match message:
            case UserMessage():
                self._user(text_of(message.content), entry)
            case AssistantMessage():
                self._assistant(message, entry)
            case ToolResultMessage():
                asked = self._calls.pop(message.tool_call_id, None)
                if asked is not None:
                    output = "\n".join(
                        block.text for block in message.content if isinstance(block, TextContent)
                    )
                    self._action(action_of(asked[0], asked[1], output, is_error=message.is_error))
            case BashExecutionMessage():
                call = ToolCall(id="", name="bash", arguments={"command": message.command})
                failed = bool(message.exit_code) and not message.cancelled
                self._user_action(action_of(entry, call, message.output, is_error=failed))
            case DeveloperMessage() | SystemMessage():
                self._instructions(text_of(message.content), message.role, entry)
            case _:
                pass

    def details(self) -> dict[str, Any]:
        """The ledger as a compaction's `details` hold it, bounded."""
        return stored(self.ledger)

    def _user(self, text: str, entry: str) -> None:
        words = typed_by_user(text)
        if not words:
            jobs.notified(self.ledger, text)
            return
        if self._turn_is_open and briefs.is_document(text):
            return
        self.ledger.finished = False
        self._unexplained = None
        if not requests.is_small_talk(words):
            self.ledger.recent, self.ledger.intent = [], ""
        if briefs.note_pasted_brief(self.ledger, words, entry):
            words = "\n".join(words.splitlines()[:3])
        for sentence in sentences_of(words):
            superseding.drop_replaced(self.ledger, sentence)
        requests.add_request(self.ledger, words, entry)
        self.ledger.rules = distinct([*self.ledger.rules, *rules_in(words, entry=entry)])

    def _instructions(self, text: str, source: str, entry: str) -> None:
        if len(text) > _MANUAL_CHARS:
            return
        rules = [Rule(text=line, source=source, entry_id=entry) for line in instructions_in(text)]
        self.ledger.rules = distinct([*self.ledger.rules, *rules])

    def _assistant(self, message: AssistantMessage, entry: str) -> None:
        if message.failed:
            return
        text = "\n\n".join(block.text for block in message.content if isinstance(block, TextContent)).strip()
        text = text.replace(self._root, "") if self._root else text
        last = not message.tool_calls
        self._turn_is_open = not last
        if text:
            weight = _FINAL_WEIGHT if last else 1.0
            found = statements_in(text, entry, weight=weight, last=last)
            self._keep(found)
            self._intended += [each for each in found if not last and is_intention(each.text)]
            self._explain(text)
            self._announced(text, entry, last=last)
        for call in message.tool_calls:
            self._calls[call.id] = (entry, call)

    def _announced(self, text: str, entry: str, *, last: bool) -> None:
        self.ledger.finished = last
        self.ledger.intent = clip(intent_in(text, last=last), _INTENT_CHARS)
        if last:
            gone = {id(each) for each in self._intended}
            self.ledger.statements = [each for each in self.ledger.statements if id(each) not in gone]
            self._intended.clear()
            return
        plan = plan_in(text)
        if plan:
            recent.note_announced(self.ledger, plan, entry, plan=True)
        elif self.ledger.intent:
            recent.note_announced(self.ledger, self.ledger.intent, entry)

    def _explain(self, text: str) -> None:
        """Adds what the assistant writes about an open problem to its explanation, while that is short."""
        problem = self._unexplained
        if problem is None or not problem.open:
            self._unexplained = None
            return
        stated = " ".join(without_narration(unit, plans=False) for unit in units_of(text)).strip()
        whole = f"{problem.explanation} {stated}".strip()
        if len(whole) <= _EXPLANATION_CHARS:
            problem.explanation = whole

    def _user_action(self, action: Action) -> None:
        """A command of the user's: what it changed counts, and it is no step of the turn."""
        finished, recent = self.ledger.finished, list(self.ledger.recent)
        self._action(action)
        self.ledger.finished, self.ledger.recent = finished, recent

    def _action(self, action: Action) -> None:
        closed_before = tasks.closed_ids(self.ledger)
        self._take_in(relative_to(action, self._root) if self._root else action)
        superseding.drop_settled_notes(self.ledger, tasks.closed_ids(self.ledger) - closed_before)

    def _take_in(self, action: Action) -> None:
        ledger = self.ledger
        ledger.finished = False
        ended = None if action.rejected else jobs.reported(ledger, action)
        recent.note_done(ledger, ended or action)
        if action.rejected:
            requests.add_refusal(ledger, action)
            return
        if ended:
            self._note_run(ended)
            versions.note_version_control(ledger, ended, self._staged)
            return
        if action.changes and action.failed:
            checks.note_failed_change(ledger, action)
            return
        changed = versions.note_changes(ledger, action)
        checks.note_changed(ledger, changed, added_code(action))
        self._texts.update(publishable_texts(action))
        if changed:
            superseding.drop_overtaken(ledger, changed)
            for statement in self._intended:
                statement.about = ", ".join(changed)
            self._intended.clear()
            self._since_change.clear()
            self._keep(comments_of(action, changed[0]))
        if not action.commands:
            listed = not action.failed and tasks.note_lists(ledger, action)
            if not listed and (action.failed or not requests.add_answer(ledger, action)):
                briefs.note_brief(ledger, action)
                self._keep(report_of(action))
            return
        superseding.drop_carried_out(ledger, action)
        versions.note_version_control(ledger, action, self._staged)
        versions.note_routine(ledger, action, self._since_change)
        tasks.note_tracker(ledger, action)
        if jobs.started_job(ledger, action):
            if ledger.recent:
                ledger.recent[-1].kind = "started"
        else:
            self._note_run(action)
        briefs.note_brief(ledger, action)
        self._keep(published_by(action, self._texts))

    def _note_run(self, action: Action) -> None:
        """A new problem waits for its explanation until another command has worked."""
        problem = checks.note_run(self.ledger, action)
        looked = all(map(is_looking, action.stages))
        self._unexplained = problem or (self._unexplained if looked else None)

    def _keep(self, found: Iterable[Statement]) -> None:
        known = {statement.text for statement in self.ledger.statements}
        self.ledger.statements += [statement for statement in found if statement.text not in known]


def ledger_of(messages: Iterable[Message]) -> WorkLedger:
    """The ledger of messages alone."""
    return LedgerBuilder().add_messages(messages).ledger
