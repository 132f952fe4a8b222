"""Times as session files write them."""

from datetime import UTC, datetime


def iso_of_milliseconds(value: object) -> str | None:
    """The ISO 8601 UTC string of milliseconds since 1970; None for what is no such time."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        moment = datetime.fromtimestamp(value / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
