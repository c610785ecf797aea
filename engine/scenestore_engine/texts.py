"""The one form in which a body is kept.

Source:
    CONTRACT section 5, "Batch rules" (LF, outer blank lines trimmed).
"""

_BLANK = " \t\n"


def normal_body(text: str) -> str:
    """Return *text* with LF and without outer blank lines; what is within stays."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip(_BLANK):
        return ""
    start = text.rfind("\n", 0, len(text) - len(text.lstrip(_BLANK))) + 1
    end = text.find("\n", len(text.rstrip(_BLANK)))
    return text[start:] if end < 0 else text[start:end]
