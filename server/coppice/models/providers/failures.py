"""An error response, or a fault in an answer, as the error that a person reads and a program decides by."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coppice.models.chat import FailureKind, ModelError
from coppice.models.providers.error_response import ErrorResponse
from coppice.models.providers.keys import KeySource
from coppice.recovery.overflow import is_overflow

_LONGEST_QUOTE: Final = 300  # characters of a provider's message that are quoted: three lines


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# The first line that fits decides: by status, by code, or by words.
_CASES: Final[tuple[tuple[FailureKind, frozenset[int], frozenset[str], re.Pattern[str] | None], ...]] = (
    (
        "quota",
        frozenset({402}),
        frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"}),
        _words(
            r"""credit\ balance | insufficient\ (?:balance|credit|fund) | more\ credits | can\ only\ afford
            | exceeded\ your\ current\ quota | payment\ required | settings/credits"""
        ),
    ),
    (
        "auth",
        frozenset({401, 403, 407}),
        frozenset({"invalid_api_key", "authentication_error", "permission_error"}),
        _words(r"(?:invalid|incorrect|missing)\ api[ _-]?key | api\ key\ not\ valid | no\ auth\ credentials"),
    ),
    (
        "rate-limit",
        frozenset({429}),
        frozenset({"rate_limit_exceeded", "rate_limit_error", "throttlingexception"}),
        _words(
            r"""rate.?limit | too\ many\ requests | tokens?\ per\ (?:min|day)
            | wait\ before\ trying\ again"""
        ),
    ),
    (
        "not-found",
        frozenset({404, 405, 410}),
        frozenset({"model_not_found", "not_found_error", "deploymentnotfound"}),
        _words(
            r"""model\b.{0,120}(?:not\ found|does\ not\ exist|not\ exist) | not\ a\ valid\ model
            | no\ such\ model | unknown\ model"""
        ),
    ),
    (
        "server",
        frozenset({408}),
        frozenset({"overloaded_error", "api_error", "server_error", "internal_server_error"}),
        None,
    ),
)
_REFUSED_CODES: Final = frozenset({"invalid_request_error", "badrequesterror", "content_filter"})


class RefusedInStreamError(Exception):
    """An error in the middle of an answer that began well."""

    def __init__(self, error_response: ErrorResponse) -> None:
        super().__init__("refused in the stream")
        self.error_response = error_response


def kind_of(error_response: ErrorResponse, phrases: Sequence[str] = ()) -> FailureKind:
    """Which case an error response is. Overflow first, since servers send it with every status."""
    if is_overflow(error_response.status, error_response.code, error_response.message, phrases):
        return "overflow"
    status, code = error_response.status or 0, (error_response.code or "").lower()
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own numbers, here and below
        return "not-found"
    for kind, statuses, codes, words in _CASES:
        if status in statuses or code in codes or (words and words.search(error_response.message)):
            # Gemini calls a limit by the minute a quota, and gives its end.
            return "rate-limit" if kind == "quota" and error_response.retry_after is not None else kind
    if 400 <= status < 500 or (not status and code in _REFUSED_CODES):  # noqa: PLR2004
        return "refused"
    return "server"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who was asked, for sentences: provider and model, where, and with which key."""

    name: str
    keys: KeySource
    phrases: Sequence[str] = ()

    def refused(self, error_response: ErrorResponse) -> ModelError:
        """The error for a response with an error status, without the key."""
        kind = kind_of(error_response, self.phrases)
        code = error_response.code
        return ModelError(
            self._sentence(kind, error_response),
            kind=kind,
            status=error_response.status,
            provider_code=code if code and code == self._redacted(code) else None,
            retry_after=error_response.retry_after,
        )

    def failed(self, kind: FailureKind, what: str) -> ModelError:
        """`what` is half a sentence: `did not answer within 180 s. …`."""
        return ModelError(self._redacted(f"{self.where} {what}"), kind=kind)

    @property
    def where(self) -> str:
        """Provider and origin, for sentences."""
        return f"{self.name} at {self.keys.address.origin}"

    def _redacted(self, text: str) -> str:
        return self.keys.redacted(text)

    def _sentence(self, kind: FailureKind, error_response: ErrorResponse) -> str:
        status = "" if error_response.status is None else f" ({error_response.status})"
        quote = self._quoted(error_response.message)
        match kind:
            case "overflow":
                text = f"The request is too long for {self.where}{status}{quote}"
                return f"{text} Compact the conversation, or set contextWindow to the model's real window."
            case "auth":
                # A server's words about a key may hold the key, whole or in part: they are not repeated.
                return f"{self.where} did not accept the key{status}. {self._about_the_key()}"
            case "rate-limit":
                pause = error_response.retry_after
                wait = "" if pause is None else f" It asks to wait {pause:.0f} s."
                return f"{self.where} has had too many requests{status}{quote}{wait} Try again later."
            case "quota":
                text = f"{self.where} has nothing left to spend on this account{status}{quote}"
                return f"{text} Add credit there, or choose another model."
            case "not-found" if error_response.status is not None and 300 <= error_response.status < 400:  # noqa: PLR2004
                return (
                    f"{self.where} answered with a redirect{status}, which is not followed: it could take the"
                    " key elsewhere. Set baseUrl to the final address."
                )
            case "not-found":
                text = f"{self.where} has no such model or endpoint{status}{quote}"
                return (
                    f"{text} Check the model's name, and that baseUrl is right (for openai it ends in /v1)."
                )
            case "server":
                return f"{self.where} failed{status}{quote} Try again, or choose another model."
            case _:
                return f"{self.where} refused the request{status}{quote}"

    def _about_the_key(self) -> str:
        variable = self.keys.variable
        if variable is None:
            return "Name the environment variable that holds the key for this address in apiKeyEnv."
        if self.keys.held is None:
            return f"Set the environment variable {variable} to your key, or name another one in apiKeyEnv."
        return f"Check the key in the environment variable {variable}, and that it may use this model."

    def _quoted(self, message: str) -> str:
        text = self._redacted(message)
        if not text:
            return "."
        if len(text) > _LONGEST_QUOTE:
            text = f"{text[:_LONGEST_QUOTE].rstrip()}…"
        return f': "{text.rstrip(".")}".'
