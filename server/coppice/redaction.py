"""Keys and tokens, which transcripts and files hold and no result may give out.

They are recognized by the forms that providers give them, by what stands before them, and by how random they
are; files that hold them, by their names. A text is looked through as it is, and once more without escapes:
they put letters before a key, and divide it.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterator
from typing import Final

from coppice.escapes import without_escapes

MARK: Final = "[secret removed]"
"""What a reader sees instead of a secret."""

_FILL: Final = "\ue0f0"
"""Replaces each character of a secret: a text that is cut later keeps its places. Of a private-use area."""
_FILLED: Final = re.compile(f"{_FILL}+")

SECRET_NAMES: Final = (
    ".env", ".env.*", "*.env", "!.env.example", "!.env.sample", "!.env.template", ".envrc",
    ".env-*", "!.env-example", "!.env-sample", "!.env-template", ".dev.vars", "local.settings.json",
    "*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "!*.pub",
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd",
    ".git-credentials", ".dockercfg", ".vault-token", ".vault_pass*",
    ".ssh/", ".aws/", ".azure/", ".gnupg/", ".kube/", ".docker/config.json", "kubeconfig", "*.kubeconfig",
    "hosts.yml", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*", ".terraformrc",
    "application_default_credentials.json", "client_secret*.json", "rclone.conf", ".s3cfg", ".boto",
    "*service-account*.json", "*service_account*.json", "*serviceaccount*.json",
    "credentials", "credentials.*", ".credentials.json", "auth.json", "token.json",
    "secret.*", "secrets.*", ".secrets", "secrets/",
)  # fmt: skip
"""Names of files that usually hold credentials, as patterns of a `.gitignore` file, for names in any case."""

_BLOCK_CHARS: Final = 20_000
"""Most characters of a private key: of RSA with 16,384 bits it has some 12,600, by its numbers."""
_REACH: Final = _BLOCK_CHARS + 200
"""Characters around a part of a text that decide what is secret in it: a private key with its first line."""
_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:[^-]|(?:(?<=\n)|(?<=\\n))-(?!----)){{0,{_BLOCK_CHARS}}}+"
    r"(?:-?-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
"""Also as a diff takes it out: each line after a hyphen."""
_BEGIN: Final = "(?:(?<![A-Za-z0-9])|(?<![A-Z0-9])(?=AKIA|ASIA|AGE-))"
"""After anything but a letter or digit that the key could have itself; these have capitals only."""
_FORMS: Final = re.compile(
    rf"{_BEGIN}(?=[sprgxynhdAS])(?:"
    r"(?<!_)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+|glpat-[\w-]{16,}+"
    r"|xox[a-z]-[\w-]{10,}+|(?:AKIA|ASIA)[0-9A-Z]{16,}+|AIza[\w-]{30,}+"
    r"|ya29\.[\w.-]{20,}+|npm_[A-Za-z0-9]{30,}+|pypi-[\w-]{40,}+|hf_[A-Za-z0-9]{30,}+"
    r"|SG\.[\w-]{16,}+\.[\w-]{16,}+|do[opr]_v1_[a-f0-9]{64}|AGE-SECRET-KEY-1[A-Z0-9]{58})"
)
"""Each form ends where its alphabet does: one that does not match has read a few characters."""
_IN_NAME: Final = re.compile(r"(?<=_)[spr]k[-_][A-Za-z0-9_-]{16,}+")
_KEY_PART: Final = re.compile(r"[A-Za-z0-9]{16}")
"""What a key after an underscore has, and no name of several words, as `get_pk_and_foreign_keys`."""
_DOTTED: Final = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]++){2,}+")
"""Three parts or more with dots between them, as a JSON Web Token has. No part is read more than twice."""
_PART: Final = re.compile(r"[\w-]+")
_WEB_TOKEN: Final = re.compile(rf"{_BEGIN}eyJ(?=[\w-]{{8}})")
_SHORTEST_PART: Final = 8  # characters of a web token's second and third part
_CUT: Final = re.compile(r"(?<![\w.-])[\w.-]++…")
"""A text that was cut off within a run of the characters of tokens, as titles and facts are."""
_PREFIX: Final = (
    r"(?:(?<!_)[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|ya29\.|npm_|pypi-|hf_|eyJ"
    r"|SG\.|do[opr]_v1_|AGE-SECRET-KEY-1)"
)
_CUT_FORM: Final = re.compile(rf"{_BEGIN}{_PREFIX}(?!…)")
_KEY_BEGINS: Final = re.compile(_PREFIX)
_NAME: Final = (
    r"(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|account|private)[_-]?key|credentials?)"
)
_VALUE: Final = r"[A-Za-z0-9+/_.~!@#%^&*$=-]{8,}+"
_NAMED: Final = re.compile(
    rf"{_NAME}[\"'\\]{{0,3}}\s{{0,3}}[:=]\s{{0,3}}[\"'\\]{{0,3}}(?P<value>{_VALUE})"
    rf"|(?<![\w-])--[\w-]{{0,40}}{_NAME}\s{{1,3}}[\"'\\]{{0,3}}(?P<option>{_VALUE})"
    rf"|(?<=\s)-u\s{{0,3}}[\"'\\]{{0,3}}[\w.@+-]{{1,100}}:(?P<user>{_VALUE})"
    r"|\b(?:bearer|basic)\s{1,3}(?P<bearer>[A-Za-z0-9+/_.~=-]{16,}+)"
    r"|://[^\s/:@]{1,100}:(?P<login>[^\s/@]{3,200})@",
    re.IGNORECASE,
)
"""Each value ends where its alphabet does, of any length: a text of many names is read once."""
_CHECKED: Final = ("value", "option", "user")
_SHORTEST_VALUE: Final = 8  # characters
_LETTERS_AND_DIGITS: Final = string.ascii_letters + string.digits
_RANDOM: Final = re.compile(r"(?<![A-Za-z0-9+_=-])(?P<run>[A-Za-z0-9+_=-]{12,}+)(?P<cut>…)?")
_SHORTEST_RANDOM: Final = 24
"""Characters of a random text that was not cut off."""
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[A-Za-z]")
_CAPITAL: Final = re.compile(r"[A-Z]")
_SMALL: Final = re.compile(r"[a-z]")
_WORD: Final = re.compile(r"[A-Z]?[a-z]{2,}")
_LEAST_ENTROPY: Final = 4.0
"""Bits a character. Hexadecimal digits have at most log2 16, so that names of commits and files stay."""
_LOST_ENTROPY: Final = 0.6
"""Bits a character that a short random text may have less than one without repetitions: of 20,000 texts of 24
random letters and digits, 95 % have no less, and of shorter ones more."""
_LEAST_NAMED_ENTROPY: Final = 2.5
"""Bits a character, of what a name calls a secret: of 20,000 passwords of eight random letters and digits,
98 % have as many, and `00000000a` has 0.5."""
_LEAST_REST: Final = 0.4
"""Share of the characters in no run of small letters. Of random ones it is 0.67, of names at most 0.3."""


def masked(text: str) -> str:
    """`text` with the characters of its secrets replaced, of the same length."""
    places = sorted(_places(text))
    if not places:
        return text
    parts, end = [], 0
    for start, stop in places:
        if start >= end:
            parts.append(text[end:start])
        parts.append(_FILL * (stop - max(start, end)))
        end = max(end, stop)
    return "".join(parts) + text[end:]


def masked_part(text: str, start: int, end: int) -> str:
    """`masked(text)[start:end]` at the cost of that part: names beyond `_REACH` before it are not seen."""
    first = max(0, start - _REACH)
    return masked(text[first : end + _REACH])[start - first : end - first]


def with_marks(text: str) -> str:
    """`text` with the mark for each place that `masked` replaced."""
    return _FILLED.sub(MARK, text)


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets are in `text` as it is, and as who reads it sees it."""
    yield from _places_in(text)
    seen, places = without_escapes(text, _KEY_BEGINS)
    if seen != text:
        yield from ((places[start], places[end - 1] + 1) for start, end in _places_in(seen))


def _places_in(text: str) -> Iterator[tuple[int, int]]:
    for form in (_BLOCK, _FORMS):
        yield from (match.span() for match in form.finditer(text))
    yield from (match.span() for match in _IN_NAME.finditer(text) if _KEY_PART.search(text, *match.span()))
    yield from _web_tokens(text)
    for cut in _CUT.finditer(text) if "…" in text else ():
        if begins := _CUT_FORM.search(text, *cut.span()):
            yield begins.start(), cut.end()
    for match in _NAMED.finditer(text):
        name = match.lastgroup or ""
        start, end = match.span(name)
        if name in _CHECKED:
            value = match[name]
            if text.startswith(("(", "["), end):  # what is called is code, and what stands before its name
                value = value.rstrip(_LETTERS_AND_DIGITS)[:-1]
            if not _is_secret_value(value):
                continue
            end = start + len(value)
        yield start, end
    for match in _RANDOM.finditer(text):
        run = match["run"]
        if (match["cut"] or len(run) >= _SHORTEST_RANDOM) and _is_random(run):
            yield match.span("run")


def _web_tokens(text: str) -> Iterator[tuple[int, int]]:
    for dotted in _DOTTED.finditer(text) if "eyJ" in text else ():
        parts = [part.span() for part in _PART.finditer(text, *dotted.span())]
        for first, *others in zip(parts, parts[1:], parts[2:], strict=False):
            is_long = all(end - start >= _SHORTEST_PART for start, end in others)
            if is_long and (begins := _WEB_TOKEN.search(text, *first)):
                yield begins.start(), others[-1][1]


def _is_secret_value(value: str) -> bool:
    """Whether what follows `token =` is a value and no expression of code."""
    if len(value) < _SHORTEST_VALUE:
        return False
    has_both = _DIGIT.search(value) is not None and _LETTER.search(value) is not None
    return has_both and _entropy(value) >= _LEAST_NAMED_ENTROPY


def _is_random(text: str) -> bool:
    if not all(kind.search(text) for kind in (_DIGIT, _CAPITAL, _SMALL)):
        return False
    least = min(_LEAST_ENTROPY, math.log2(len(text)) - _LOST_ENTROPY)
    return len(_WORD.sub("", text)) >= _LEAST_REST * len(text) and _entropy(text) >= least


def _entropy(text: str) -> float:
    """Bits a character, by how often each occurs."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())
