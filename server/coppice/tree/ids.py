"""Ids of entries: opaque, unique within a conversation."""

import secrets


def new_entry_id() -> str:
    """Sixteen hexadecimal digits: at a million entries a clash is one chance in tens of millions."""
    return secrets.token_hex(8)
