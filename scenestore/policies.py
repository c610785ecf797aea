"""The host's limits as written in ``scenestore.toml``, with where each comes from.

Source:
    CONTRACT section 6.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from scenestore import layout
from scenestore.errors import CallerError
from scenestore_engine.policy import Policy


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One value in force."""

    name: str
    value: bool | int | str
    source: str
    """``default``, or the file that says so."""


def load(profile: Path) -> Policy:
    """Return the limits of *profile*.

    Raises:
        CallerError: The file is no TOML, or holds what is no setting; all that is
            wrong with it is named.
    """
    return _converted(profile, _written(profile))


def settings(profile: Path) -> list[Setting]:
    """Return every limit in force and where it comes from, in the order of `Policy`."""
    written = _written(profile)
    path = layout.policy_file(profile)
    return [
        Setting(
            name=name, value=value, source=path.name if name in written else "default"
        )
        for name, value in values(_converted(profile, written)).items()
    ]


def values(policy: Policy) -> dict[str, bool | int | str]:
    """Return *policy* as plain values, as each revision keeps them."""
    return {name: getattr(policy, name) for name in policy.__struct_fields__}


def _written(profile: Path) -> dict[str, object]:
    path = layout.policy_file(profile)
    if not os.path.lexists(path):
        return {}
    if not path.is_file():  # a link to a file is followed: the host put it there
        raise _refused(path, ["it is no file"])
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _refused(path, [str(error)]) from error
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refused(path, [f"it is no TOML ({error})"]) from error


def _converted(profile: Path, written: Mapping[str, object]) -> Policy:
    wrong: list[str] = []
    for name, value in written.items():
        if name not in Policy.__struct_fields__:
            wrong.append(f"{name} is no setting{_near(name)}")
            continue
        try:
            msgspec.convert({name: value}, Policy)
        except msgspec.ValidationError as error:
            wrong.append(f"{name}: {str(error).partition(' - at')[0]}")
    if wrong:
        raise _refused(layout.policy_file(profile), wrong)
    return msgspec.convert(dict(written), Policy)


def _near(name: str) -> str:
    import difflib  # noqa: PLC0415 - only for who mistyped

    near = difflib.get_close_matches(name, Policy.__struct_fields__, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _refused(path: Path, wrong: list[str]) -> CallerError:
    return CallerError(
        f"{path} cannot be used: {'; '.join(wrong)}. Nothing was changed. "
        "Mend the file; scenestore policy shows what is in force."
    )
