"""Keys and tokens, which transcripts and files hold and no result may give out.

They are recognized by the forms that providers give them, by what stands before them, and by how random they
are; files that hold them, by their names.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

MARK: Final = "[secret removed]"
"""What a reader sees instead of a secret."""

_FILL: Final = "\ue0f0"
"""Replaces each character of a secret: a text that is cut later keeps its places. Of a private-use area."""
_FILLED: Final = re.compile(f"{_FILL}+")

SECRET_NAMES: Final = (
    ".env", ".env.*", "*.env", "!.env.example", "!.env.sample", "!.env.template", ".envrc",
    "*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "!*.pub",
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd",
    ".git-credentials", ".dockercfg", ".vault-token", ".vault_pass*",
    ".ssh/", ".aws/", ".azure/", ".gnupg/", ".kube/", ".docker/config.json", "kubeconfig", "*.kubeconfig",
    "hosts.yml", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*", ".terraformrc",
    "application_default_credentials.json",
    "*service-account*.json", "*service_account*.json", "*serviceaccount*.json",
    "credentials", "credentials.*", "secrets.*",
)  # fmt: skip
"""Names of files that usually hold credentials, as patterns of a `.gitignore` file, for names in any case."""

_FORMS: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
    r"|\b(?=[sprgxAynhSed])(?:"
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,400}"
    r"|gh[pousr]_[A-Za-z0-9]{20,300}|github_pat_\w{20,300}|glpat-[\w-]{16,100}"
    r"|xox[a-z]-[\w-]{10,300}|(?:AKIA|ASIA)[0-9A-Z]{16}\b|AIza[\w-]{30,60}"
    r"|ya29\.[\w.-]{20,400}|npm_[A-Za-z0-9]{30,100}|pypi-[\w-]{40,300}|hf_[A-Za-z0-9]{30,100}"
    r"|SG\.[\w-]{16,60}\.[\w-]{16,100}|do[opr]_v1_[a-f0-9]{64}|AGE-SECRET-KEY-1[A-Z0-9]{58}"
    r"|eyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{8,4000}"
    # One that was cut off, as titles and facts are.
    r"|(?:[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|ya29\.|npm_|pypi-|hf_|eyJ)"
    r"[\w.-]{1,400}…)"
)
_NAMED: Final = re.compile(
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
    r"[\"'\\]{0,3}\s{0,3}[:=]\s{0,3}[\"'\\]{0,3}(?P<value>[A-Za-z0-9+/_.~!@#%^&*$=-]{8,400})(?![A-Za-z0-9(\[])"
    r"|\b(?:bearer|basic)\s{1,3}(?P<bearer>[A-Za-z0-9+/_.~=-]{16,4000})"
    r"|://[^\s/:@]{1,100}:(?P<login>[^\s/@]{3,200})@",
    re.IGNORECASE,
)
_RANDOM: Final = re.compile(
    r"(?<![A-Za-z0-9+_=-])(?:[A-Za-z0-9+_=-]{24,400}(?![A-Za-z0-9+_=-])|[A-Za-z0-9+_=-]{12,400}(?=…))"
)
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


def with_marks(text: str) -> str:
    """`text` with the mark for each place that `masked` replaced."""
    return _FILLED.sub(MARK, text)


def _places(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _FORMS.finditer(text))
    for match in _NAMED.finditer(text):
        name = match.lastgroup or ""
        if name != "value" or _is_secret_value(match[name]):
            yield match.span(name)
    yield from (match.span() for match in _RANDOM.finditer(text) if _is_random(match[0]))


def _is_secret_value(value: str) -> bool:
    """Whether what follows `token =` is a value and no expression of code."""
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
