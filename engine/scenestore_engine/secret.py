"""Text that must not reach a history that keeps for ever.

Source:
    CONTRACT section 5, "Batch rules"; the forms are those that their issuers publish.
"""

import re

import msgspec

_FORMS = {
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "an AWS access key": r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "a Stripe key": r"\b[rs]k_live_[A-Za-z0-9]{16,}",
    "an Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "an OpenAI key": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a PyPI token": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "a SendGrid key": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "a JSON web token": r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
}
_ANY = re.compile(
    "|".join(f"(?P<f{i}>{form})" for i, form in enumerate(_FORMS.values()))
)
_KINDS = tuple(_FORMS)
MASK = "[secret]"
_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)"
)


def kind_of_secret(text: str) -> str | None:
    """Return what kind of secret *text* holds, never the secret itself; or None."""
    found = _ANY.search(text)
    return _KINDS[int(str(found.lastgroup)[1:])] if found else None


def masked(text: str) -> str:
    """Return *text* with each secret in it blotted out, a private key to its end."""
    return _ANY.sub(MASK, _KEY_BLOCK.sub(MASK, text))


def masked_all(value: object) -> object:
    """Return *value*, made of JSON's kinds, with each text masked and writable."""
    if isinstance(value, str):
        return masked(value).encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        pairs = msgspec.convert(value, dict[str, object]).items()
        return {str(masked_all(key)): masked_all(item) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [masked_all(item) for item in msgspec.convert(value, list[object])]
    return value
