"""Text from a conversation, made unable to open or close the tags it is put between."""

import re
from typing import Final

TAGS: Final = ("conversation", "previous-summary", "summary", "pinned", "read-files", "modified-files")
_TAG: Final = re.compile(rf"<(?=\s{{0,8}}/?\s{{0,8}}(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


def escape_tags(text: str) -> str:
    """`text` with `&lt;` for the `<` of every tag of ours. Text without such tags stays as it is."""
    return _TAG.sub("&lt;", text)


def tagged(tag: str, text: str) -> str:
    """`text` between `<tag>` and `</tag>`, unable to leave them."""
    return f"<{tag}>\n{escape_tags(text)}\n</{tag}>"
