"""What a scene may be called, and what would do instead.

Source:
    CONTRACT section 5, "Filenames".
"""

import re
import unicodedata
from collections.abc import Iterator

from scenestore_engine.policy import MAX_FILENAME_BYTES

SUFFIX = ".md"
_PUNCTUATION = "-_."
_DEVICES = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10)),
    ]
)
# Letters and marks that show nothing. Source: Unicode, DerivedCoreProperties.txt,
# Default_Ignorable_Code_Point, as far as its members are letters or marks.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def folded(filename: str) -> str:
    """Return what two filenames share exactly when they count as the same name.

    NFKC, case folding, and both once more: folding can undo the normal form.
    """
    once = unicodedata.normalize("NFKC", filename).casefold()
    return unicodedata.normalize("NFKC", once).casefold()


def complaints(filename: str) -> Iterator[str]:
    """Yield each reason why *filename* cannot name a scene, as half a sentence."""
    if not filename.endswith(SUFFIX):
        yield f"does not end in {SUFFIX}"
    if filename in ("", SUFFIX):
        yield "has no name before its ending"
    wrong = sorted({char for char in filename if not _is_allowed(char)})
    if wrong:
        shown = ", ".join(_shown(char) for char in wrong[:5])
        yield f"holds {shown}; letters, digits, '-', '_' and '.' are allowed"
    if filename.startswith((".", "-")):
        yield "begins with '.' or '-'"
    if ".." in filename:
        yield "holds '..'"
    if unicodedata.normalize("NFC", filename) != filename:
        yield "is not in Unicode's normal form C (NFC)"
    size_bytes = len(filename.encode("utf-8", "surrogatepass"))
    if size_bytes > MAX_FILENAME_BYTES:
        yield f"is {size_bytes} bytes long; at most {MAX_FILENAME_BYTES} are allowed"
    if filename.partition(".")[0].casefold() in _DEVICES:
        yield "is a device name on Windows"


def proposal(filename: str) -> str:
    """Return a filename that would do, as near to *filename* as it goes."""
    stem = unicodedata.normalize("NFC", filename)
    stem = re.split(r"[/\\]", stem.rstrip("/\\ "))[-1] or stem  # of a path, its end
    stem = re.sub(
        r"(?i)\.(?:md|mdown|markdown|txt)$", "", stem.replace("\\", "/").rstrip()
    )
    stem = "".join(char if _is_allowed(char) else "-" for char in stem)
    stem = re.sub(r"\.{2,}", ".", re.sub(r"-{2,}", "-", stem)).strip(".-")
    room_bytes = MAX_FILENAME_BYTES - len(SUFFIX)
    stem = stem.encode()[:room_bytes].decode(errors="ignore").rstrip(".-") or "scene"
    if stem.partition(".")[0].casefold() in _DEVICES:
        stem = f"{stem.partition('.')[0]}-notes"
    return stem + SUFFIX


def _is_allowed(char: str) -> bool:
    if char in _PUNCTUATION:
        return True
    category = unicodedata.category(char)
    is_word = category[0] in "LM" or category == "Nd"
    return is_word and not _INVISIBLE.match(char)


def _shown(char: str) -> str:
    return "a space" if char == " " else f"U+{ord(char):04X}"
