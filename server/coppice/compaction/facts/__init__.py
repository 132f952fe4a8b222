"""What must not be lost of a conversation, found by rules: no model, no network, the same every time."""
