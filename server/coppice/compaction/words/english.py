"""English: the words that rules look for, as alternatives of regular expressions in small letters."""

from collections.abc import Mapping
from typing import Final

from coppice.protocol.ledger import TaskState

ALWAYS: Final = (
    r"always|never|must(?:n['’]?t)?|shall|cannot|forbidden|prohibited|disallowed|mandatory|not allowed"
    r"|no longer"
    r"|under no circumstances|at all times|from now on|going forward|in (?:the )?future|make sure|be sure"
    r"|ensure"
    r"|be careful|remember (?:to|that|not)|keep in mind|bear in mind|stick (?:to|with)"
    r"|prefer(?:s|red|ably|ence)?|avoid|refrain|instead of|rather than|at most|at least|no more than"
    r"|no less than|no (?:longer|fewer) than|required?|requirements?|strictly|convention|constraints?|rule"
    r"|whenever|every time|directive|(?:before|after) (?:each|every|any|you|committing|pushing|merging)"
    r"|under \d|(?:up|limited|restricted) to|ought to|should(?:n['’]?t| not)?"
    r"|(?:it|they|this|that|these|those|code|tests?) (?:have|has|needs?) to"
)
"""What makes a sentence of the user's a constraint wherever it is in it."""

STRICT: Final = (
    r"always|never|must|do not|don['’]t|cannot|required|mandatory|forbidden|ensure|make sure"
    r"|under no circumstances"
)
"""What makes a sentence of instructions a rule."""

HARNESS: Final = r"tools?|tool calls?|function calls?|(?:sub-?|multi[-_ ]?)agents?|namespaces?|sandbox\w*"
"""What instructions are about that concern the assistant's own equipment."""

ORDER: Final = r"do not|don['’]?t|no|not|only|use|keep|follow|leave|target|stay|treat"
"""What makes a clause that begins with it a constraint."""

QUANTIFIER: Final = r"all|every|each|any|nothing|none|everything|nobody|anything"

WISH: Final = r"write|put|name|call|store|return|log|format|support|document|indent|sort|validate"
"""What makes a clause that begins with it a wish."""

WISHED: Final = (
    r"i (?:only )?(?:want|need|expect|would (?:only |rather )?(?:want|like|prefer)|['’]d (?:like|prefer))"
    r"|we (?:want|use|need)|need(?:s|ed)? to|has to|have to|only|without|unless|except|exactly|important"
)

LASTING: Final = (
    r"always|never|every|each|any|whenever|while|when|if|until|unless|except|before|after|without|only|not"
    r"|\w+n['’]t|no|all (?:commits|changes|files|code)|prefer\w*|avoid|keep|stay|use|instead|rather"
    r"|must|should|from now on|going forward|by default|in|with|using|by|as|per|for"
)
"""What makes an instruction one that still holds after it was followed."""

RUN: Final = r"(?:re-?)?(?:run|execute|make|open|create|do|invoke)"
"""Verbs whose object names the act."""

ACT: Final = (
    r"commit|push|pull|rebase|merge|test|check|build|compile|lint|format|install|deploy|publish|release"
    r"|tag|pr"
)
"""What commands do."""

ACT_END: Final = (
    r"\s*(?:$|[,.;!])|\s+(?:and|then|it|this|that|them|now|again|too|everything|the|a|an|my|our|all)\b"
    r"|.{1,60}\b(?:now|again|first)\b"
)
"""How an order goes on after the word for the act, when it means this one time."""

CLAUSE_OPENER: Final = r"please|and|but|so|just|also|then|to|you|we|pls|btw|ok|okay"

NO_ORDER: Final = (
    r"\b(?:i|we|they|it|that|this|there|he|she|which|who) (?:really |just |still |also )?"
    r"(?:do(?:es)?n['’]?t|do not|does not|did(?:n['’]?t| not)) "
    r"(?:know|think|see|understand|remember|have|get|care|believe|like|work|seem|mind|recall)\b"
    r"|\bdon['’]?t (?:worry|mind|know|think)\b|\bno (?:worries|problem|idea|need)\b|\bnot sure\b"
    r"|\bshould be fine\b|\bi (?:should|must|have to|ought)\b|^no,\s|^no (?:thanks|thank)\b|^no[.!]?$"
    r"|^all i\b"
    r"|\bif you need to\b|^nothing else\b|\bas required\b|\b(?:where|which|what|how)\b[^,.;]{0,60} should\b"
)
"""Phrases with such words that constrain nothing."""

POLITE_ORDER: Final = (
    r"\b(?:can|could|would|will) (?:you|we) (?:please |also |just |make it so )*"
    r"(?:always|never|not|only|make sure|keep|avoid|use|stop|we keep)\b"
)

REFERS_BACK: Final = r"(?:it|they|them|this|that|these|those|otherwise|same|both|neither|except)\b"

TASK: Final = r"tasks?\b"
"""What a line calls a task that begins with it, in small letters."""

RULES_HEADING: Final = (
    r"\b(?:rules?|constraints?|requirements?|conventions?|guidelines?|preferences?|remember|always|never|must"
    r"|do not|don['’]?t)\b"
)

SMALL_TALK: Final = (
    r"ok(?:ay)?|yes|yep|yeah|yo|y|no|nope|sure|fine|good|great|nice|wow|cool|thanks?(?: you)?|perfect"
    r"|continue|go(?: on| ahead)?|proceed|next|done|please|hi|hello|hey|lgtm|check again|looks? good|do it"
    r"|again|retry|try again|jesus|amazing"
)

WITHDRAWS: Final = (
    r"never ?mind|forget (?:it|that|about|the)|scrap|drop (?:that|the)|cancel (?:that|the)|stop\b|undo|revert"
    r"|change of plan|on second thought|leave (?:that|it)"
)
"""How a request that takes an earlier one back begins."""

REASON: Final = (
    r"because|since|so that|so (?:we|it|the|i)|given that|due to|in order to|to avoid|which (?:avoids|keeps"
    r"|means|lets|makes)|as (?:it|this|that|the|we|they) (?:is|are|was|does|has|have|do|can)|therefore|hence"
    r"|otherwise|the reason|root cause|caused by|turns out"
)

BECAUSE: Final = r"because|instead of|rather than|so that|given that|due to"
CHOICE: Final = (
    r"decided?|decision|chose|choosing|opt(?:ed|ing)? for|(?:going|go|went) with|settled? on|instead of"
    r"|rather than|switch(?:ed|ing)? (?:to|from|back|over)|stick(?:ing)? with|no longer|revert(?:ed|ing)? to"
    r"|changed? (?:my|our) mind|change of plan|in favou?r of|the (?:best|right"
    r"|\w+est) (?:\w+ ){0,2}(?:approach|way|option|solution|api|design|fix|choice)|should (?:be|stay|remain"
    r"|not)|skip(?:ped)?|declin(?:e|ed)|reject(?:ed)?|judged|prefer|explicit|backward[- ]compatib\w+"
    r"|unchanged|continue to"
)

TROUBLE: Final = (
    r"(?:does|do|did|can|could|is|are|was|were|wo|would|has|have)n['’]t|cannot|not|fail(?:s|ed|ing"
    r"|ures?)?|unsupported"
    r"|breaks?|broken|errors?|missing|lacks?|wrong|bug|flaw|stale|conflicts?|unrelated|pre-existing|behind"
    r"|rejected|refused|silent(?:ly)?|issue"
)

OUTCOME: Final = (
    r"fixed|done|passes|pass(?:ed|ing)?|pushed|merged|committed|closed|works|complete[d]?|resolved"
    r"|replied|verified"
    r"|all (?:green|clean)|clean|created|added|updated|implemented|finished|opened|successfully|ready"
)

COMPLETED: Final = (
    r"(?:(?<!be )(?<!not )(?<!was )(?<!to )(?:fixed|pushed|merged|committed|closed|completed?|resolved"
    r"|replied|verified|created|added|updated|implemented|finished|opened|addressed|rewritten|done)(?![-.]\w)"
    r"|(?<!if )tests? (?:all |now )?pass(?:es|ed)?)"
)
"""What makes a statement a report of finished work."""

OPEN: Final = (
    r"remaining|remains?|still|not yet|left to do|to[- ]?do|outstanding|pending|follow[- ]ups?|next steps?"
    r"|next up|next is|needs? (?:to|a)|untested|uncommitted|should add|recommend(?:ed|ation)?"
)

PLAN_HEADING: Final = (
    r"next steps?|remaining|still (?:needs?|to do|missing|left|open)|to[- ]?do|left to do|outstanding|pending"
    r"|follow[- ]ups?"
)

_OPENING: Final = (
    r"(?:now,? |next,? |first,? |then,? |so,? |good[.,!]? |great[.,!]? |perfect[.,!]? |ok(?:ay)?[.,!]? "
    r"|right[.,]? |and ){0,6}"  # bounded: where it is searched for, a long row of them is read once
)
NARRATION: Final = (
    _OPENING
    + r"(?:let me|let['’]s|i['’]ll|i will|i['’]m (?:going|now|checking|using|waiting|looking|running|reading"
    r"|starting|monitoring|resolving|posting)|i need to (?:check|see|look|read|find|run)|now (?:i|add|write"
    r"|create|update|run|check|implement|also|for|the)|starting|checking|looking|reading|running|waiting"
    r"|expected|want me to|would you like|shall i|should i|which (?:ones?|would)|good|great|perfect"
    r"|ok(?:ay)?|let us|here(?: is|['’]s| are)|sorry|sure)\b"
)
"""How a sentence begins that announces the next step and states nothing lasting."""

INTENTION: Final = (
    _OPENING
    + r"(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|we['’]ll|we will|(?:(?:i|we) )?(?:also |now |just "
    r"|still )*(?:need|have|want) to)\b"
)
"""How a sentence begins that says what the assistant is about to do."""

DECIDED: Final = (
    r"decided?|decision|chose|choosing|opt(?:ed|ing)? for|settled? on|stick(?:ing)? with|in favou?r of"
    r"|changed? (?:my|our) mind|change of plan|(?:going|go|went) with"
    r"|(?:i|we)(?:['’](?:ll|ve|d)| will| would| should| have)? (?:\w+ )?(?:use|used|keep|kept|skip|skipped"
    r"|switch|switched|leave|left|prefer|avoid|avoided|reject|rejected|decline|declined|implement)"
    r"|(?:use|uses|used|using|keep|kept|keeping|made|put|moved) .{1,80} (?:instead of|rather than)"
    r"|the (?:best|better|right|cleanest|simplest|safest) (?:\w+ ){0,3}(?:approach|way|option|solution|api"
    r"|design|fix|choice)|(?:is|are) the (?:best|better|right|cleanest|simplest|safest)"
)
"""What makes a statement a decision."""

BRIEF_HEADING: Final = (
    r"acceptance(?: criteria)?|requirements?|goals?|objectives?|scope|out of scope|non-goals?|constraints?"
    r"|deliverables?|definition of done|description|specs?|technical specs?|specification|design"
    r"|user stor(?:y|ies)|steps to reproduce|expected behaviou?r|actual behaviou?r|problem|proposal"
    r"|motivation|outcome|proof|verification|notes?|rules?|what to build|instructions|workflow|architecture"
    r"|test(?:s|ing)?|checks?|how to \w+"
)
BRIEF_RULE: Final = (
    r"must|only|never|do not|don['’]t|no|not|without|exactly|always|keep|preserve|required?|should"
    r"|may not|cannot|strict\w*"
)

CHECK: Final = r"\w*(?:tests?|check|lint|linter|specs?)|build|compile|verify|validate|vet|bench|ci|e2e"
"""Words of a command that make it a check, wherever they are among its first words."""

PASSED: Final = (
    r"(?<![\w.-])[0-9][0-9,]{0,12} (?:\w{1,30} )?(?:tests?|examples?|specs?|assertions?|checks?)\b"
    r"|\b[0-9][0-9,]{0,12} (?:passed|passing)|test result: ok|\b(?:no|0) (?:\w+ )?(?:issues|errors|problems"
    r"|failures|warnings)|all checks passed|build succeeded|\bok\b|passed|up to date|clean|success(?:fully)?"
)
FAILED_COUNT: Final = r"[1-9][0-9]{0,6} (?:failed|failures?|failing|errors?|problems?)"

SETS_STATE: Final[Mapping[TaskState, str]] = {
    "done": r"close|done|complete|finish|resolve|merge",
    "in_progress": r"start|claim|begin|take|pick|assign",
    "open": r"reopen",
}
"""Verbs of a tracker's commands, by the state in which they put a task."""
SHOW: Final = r"show|view|get|describe|info|read|cat"
STATES: Final[Mapping[TaskState, str]] = {
    "done": r"closed|done|completed?|finished|resolved|merged|cancelled|canceled",
    "in_progress": r"in[_ -]?progress|active|doing|(?<!not[_ -])started|working|claimed",
    "blocked": r"blocked|on hold|waiting",
    "open": r"open|todo|to do|to-do|pending|ready|not[_ -]started|new|backlog",
}

BACKGROUND: Final = (
    r"(?:running|started|moved|continu\w+)(?: in| to)?(?: the)? background|still running|script running"
    r"|process running"
)
JOB_ID: Final = r"(?:id|pid|session|cell|task|job|shell)"
FINISHED: Final = r"completed?|finished|exited|done|succeeded"
REJECTED: Final = (
    r"doesn['’]t want to (?:proceed|take)|(?:rejected|denied|declined|refused|cancelled|canceled"
    r"|interrupted|aborted) by"
    r"|request interrupted|was rejected|command aborted"
)
USER_WROTE: Final = r"the user said:?|user (?:feedback|message|comment):?|reason:"
TEXT_OPTION: Final = r"m|b|body|message|comment|reason|title|description|desc|notes?|text|content|summary"
"""Options of commands whose values are prose."""
TRANSIENT: Final = (
    r"(?:still|currently|now) (?:running|compiling|building|waiting)|in progress|nearly complete"
    r"|almost done|waiting for|(?:i|we)['’]m (?:\w+ing)"
)
"""Words for a state that will change."""
COUNTED: Final = r"tests?|specs?|examples?|passed|passing|issues|errors|warnings|failures"
"""What a check counts in the line that reports how it ended."""
REVISED: Final = (
    r"from now on|(?:is|are) now|changed to|moved to|no longer|rotated|switched|retired|instead"
    r"|change of plan|replaces"
)
"""What announces that something is different from before."""
CHANGED: Final = rf"{REVISED}|update|now|changed?|replaces?"
"""The same, with words that also begin a new request."""
STATES_VALUE: Final = (
    r"is|are|be|to|at|of|under|over|below|above|within|by|than|least|most|exactly|about|only|every|for"
)
"""Words in front of a value; a number after another word ("issue 12") tells which of several is meant."""
