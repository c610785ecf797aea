"""What a batch came to: the receipt or the refusal, for programs and for people.

Source:
    CONTRACT section 5, "Receipt".
"""

import sys
from collections.abc import Iterable, Iterator

from scenestore import Receipt, Refusal, Store
from scenestore.receipts import CoverageFacts, Replayed, answer
from scenestore_cli.errors import ExitCode
from scenestore_cli.output import counted, diff, facts, line, print_json, say, short
from scenestore_engine.decide import Rejected
from scenestore_engine.faults import Fault, FaultCode, MemberGap

_SHOWN_IDS = 5


def tell_outcome(
    outcome: Receipt | Replayed | Rejected,
    store: Store,
    *,
    before: str | None,
    as_json: bool,
) -> ExitCode:
    """Print what a batch came to, and return the exit code that says so.

    Args:
        outcome: Of the batch.
        store: Which decided it.
        before: The head before.
        as_json: Whether to print the answer of ``l2_commit``.
    """
    if as_json:
        print_json(answer(outcome, store.ledger.head()))
    elif isinstance(outcome, Rejected):
        _tell_rejected(outcome)
    elif isinstance(outcome, Replayed):
        revision = outcome.revision[:8]
        line(
            f"This very batch was accepted before, as {revision}. Nothing was changed."
        )
    else:
        _tell_receipt(outcome, is_new=outcome.revision != before)
    if not isinstance(outcome, Rejected):
        return ExitCode.DONE
    is_busy = any(fault.code is FaultCode.STORE_BUSY for fault in outcome.faults)
    return ExitCode.FAILED if is_busy else ExitCode.REJECTED


def tell_refusal(refusal: Refusal | Fault, store: Store, *, as_json: bool) -> ExitCode:
    """Print why a question has no answer; return the exit code."""
    if isinstance(refusal, Fault):
        refusal = Refusal(errors=(refusal,))
    rejected = Rejected(faults=refusal.errors, retry=refusal.retry)
    return tell_outcome(rejected, store, before=None, as_json=as_json)


def tell_faults(faults: Iterable[Fault]) -> None:
    """Print *faults* on stderr: code, place, message, hint."""
    for fault in faults:
        places = [fault.path, f"({fault.filename})" if fault.filename else ""]
        place = " ".join(part for part in places if part)
        line(f"{fault.code}  {place}".rstrip(), style="bold red", err=True)
        line(fault.message, before="    ", err=True)
        if fault.hint:
            line(f"Hint: {fault.hint}", before="    ", err=True)


def coverage_text(coverage: CoverageFacts) -> str:
    """Return how many records are in no scene."""
    text = f"{counted(coverage.unassigned, 'record')} up to the cursor"
    return f"{text}, {coverage.dismissed} dismissed" if coverage.dismissed else text


def _tell_rejected(outcome: Rejected) -> None:
    count = counted(len(outcome.faults), "fault")
    say(f"Rejected: {count}. Nothing was changed.")
    tell_faults(outcome.faults)
    for fact in outcome.lines:
        where = f"{fact.source}, line {fact.line}"
        line(f"{where}: {fact.text}", before="    ", err=True)
        if fact.missing:
            line(f"missing: {', '.join(fact.missing)}", before="      ", err=True)
    for conflict in outcome.conflicts:
        for row in conflict.diff.splitlines():
            line(row, before="    ", err=True)
    for gap in outcome.member_gaps:
        line(_gap_text(gap), before="    ", err=True)


def _gap_text(gap: MemberGap) -> str:
    return f"{gap.filename} would lose {counted(len(gap.ids), 'member')}: " + _first(
        gap.ids
    )


def _first(ids: tuple[str, ...]) -> str:
    more = len(ids) - _SHOWN_IDS
    return ", ".join(ids[:_SHOWN_IDS]) + (f" and {more} more" if more > 0 else "")


def _tell_receipt(receipt: Receipt, *, is_new: bool) -> None:
    if receipt.revision is None:
        line(f"This would become revision {receipt.seq}. Nothing was written.")
    elif is_new:
        line(f"Revision {receipt.seq} ({short(receipt.revision)}) is on disk.")
    else:
        line(f"There was nothing to change. Revision {receipt.seq} is the newest.")
    facts(_receipt_facts(receipt), before="  ")
    for notice in receipt.warnings:
        name = f" ({notice.filename})" if notice.filename else ""
        say(f"Notice: {notice.code}{name}: {notice.message}")
    if receipt.commit_hint:
        say(f"Hint: {receipt.commit_hint}")
    if receipt.diff:
        sys.stderr.flush()
        line()
        diff(receipt.diff)


def _receipt_facts(receipt: Receipt) -> Iterator[tuple[str, str]]:
    for action in ("created", "updated", "deleted", "archived", "restored"):
        names: tuple[str, ...] = getattr(receipt, action)
        if names:
            yield action, ", ".join(names)
    for one in receipt.consolidations:
        size = f"{counted(one.members, 'member')}, heat {one.heat}"
        yield "consolidated", f"{', '.join(one.sources)} into {one.filename} ({size})"
    if receipt.members_missing:
        yield "no members", ", ".join(receipt.members_missing)
    move = receipt.cursor
    if move.before != move.after:
        yield "cursor", f"{move.before or 'start'} -> {move.after or 'start'}"
    yield "in no scene", coverage_text(receipt.coverage)
    shelf = receipt.capacity
    yield "shelf", f"{shelf.live} of {shelf.max_scenes} scenes"
