"""The ids of tool calls that a provider did not write itself."""

import re
from hashlib import blake2b
from typing import Final

LONGEST: Final = 64
"""Characters. OpenAI's Responses API and Anthropic's refuse a request with a longer one."""

_PRINTED: Final = re.compile(rf"[!-~]{{1,{LONGEST}}}")
_STRICT: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")


def sent_id(call_id: str, *, strict: bool = True) -> str:
    """The id as it can be sent: itself, or where it cannot, one that is always the same for it.

    Pi writes `call_…|fc_…` of 83 characters, Kimi `functions.read:0`. Anthropic takes letters, digits, `_`
    and `-` alone (`strict`).
    """
    if (_STRICT if strict else _PRINTED).fullmatch(call_id):
        return call_id
    return f"call_{blake2b(call_id.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"
