"""A durable commit of three scenes, beside other ways to keep scenes, in one run.

    python benchmarks/bench_commit.py [--commits 40] [--rounds 3] [--json] [--dir DIR]

Every way keeps the same 15 scenes and rewrites the same three a commit. The rounds take
turns, so that a noisy neighbour hits all. Ratios are medians over the median of the
*unit*: dulwich's plumbing with each object, each directory and the ref synced. A way
that does not sync all that it needs is marked "not durable"; one whose library is not
installed is left out (``pip install pygit2 GitPython``).
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dulwich import porcelain
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo

from scenestore import Store

SCENES = 15
START_MS = 1_772_323_200_000
TOUCHED = 3
WORDS = (
    *("ledger", "migration", "Tuesday", "rollback", "kettle", "violin", "42"),
    *("minutes", "river", "clinic", "backup", "林晓", "跑步", "花生", "周二"),
    *("发布", "tram", "invoice", "nine", "hundred", "copper"),
)
Files = dict[str, bytes]


class Workload:
    """Scenes of about 1,400 characters, three of them with one new line a commit."""

    def __init__(self) -> None:
        self.bodies = {f"scene-{i:02d}.md": self._lines(i, 24) for i in range(SCENES)}
        self.step = 0

    def _lines(self, seed: int, count: int) -> list[str]:
        return [
            "- "
            + " ".join(WORDS[(seed * 7 + n * 3 + k) % len(WORDS)] for k in range(9))
            for n in range(count)
        ]

    def advance(self) -> dict[str, str]:
        """Return the bodies of the scenes that the next commit rewrites."""
        self.step += 1
        names = [
            f"scene-{(self.step * TOUCHED + k) % SCENES:02d}.md" for k in range(TOUCHED)
        ]
        for name in names:
            lines = self.bodies[name]
            lines[self.step % len(lines)] = (
                f"- step {self.step} of {name}: " + WORDS[self.step % len(WORDS)]
            )
        return {name: "\n".join(self.bodies[name]) for name in names}

    def files(self, changed: dict[str, str]) -> Files:
        """Return what a folder of Markdown needs written for that."""
        files = {
            f"scene-blocks/{name}": (
                f"-----META-START-----\ncreated: x\nupdated: {self.step}\n"
                f"summary: about {name}\nheat: {self.step}\n"
                f"-----META-END-----\n\n{body}\n"
            ).encode()
            for name, body in changed.items()
        }
        index = [{"filename": n, "heat": self.step, "summary": n} for n in self.bodies]
        files["index/scene_index.json"] = json.dumps(index).encode()
        files["cursor.json"] = f'{{"lastRecordId": "m_{self.step}"}}\n'.encode()
        return files

    def all_files(self) -> Files:
        return self.files({n: "\n".join(b) for n, b in self.bodies.items()})


def put(root: Path, files: Files, *, sync: bool) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(path.name + ".tmp")
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.rename(path)
        if sync:
            sync_dir(path.parent)


def sync_dir(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


class Way:
    """One way to keep scenes."""

    name = ""
    durable = True

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = Workload()
        root.mkdir()
        self.begin()

    def begin(self) -> None:
        raise NotImplementedError

    def prepare(self) -> Callable[[], None]:
        """Return what is timed: one commit of three scenes."""
        files = self.work.files(self.work.advance())
        return lambda: self.commit(files)

    def commit(self, files: Files) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of open files."""


class Scenestore(Way):
    """The whole call: lock, look-ups, validation, five syncs, projection."""

    name = "scenestore"

    def begin(self) -> None:
        self.store = Store(self.root)
        self.store.init()
        for name, body in self.work.bodies.items():
            self._send([("create", name, "\n".join(body))])

    def _send(self, writes: list[tuple[str, str, str]]) -> None:
        answer = self.store.l2_commit(
            {
                "sceneWrites": [
                    {
                        "action": action,
                        "filename": name,
                        "content": body,
                        "meta": {"summary": f"about {name}"},
                        "addMembers": [f"m_{START_MS + self.work.step}_{len(name):x}"],
                    }
                    for action, name, body in writes
                ]
            }
        )
        if not answer["success"]:
            raise SystemExit(f"scenestore refused: {answer}")

    def prepare(self) -> Callable[[], None]:
        writes = [("update", name, body) for name, body in self.work.advance().items()]
        return lambda: self._send(writes)

    def close(self) -> None:
        self.store.close()


class ScenestoreUncompared(Scenestore):
    """The same without a look at what the new bodies keep of the old ones.

    Each update of this workload drops a line, which is the dear case: an update that
    keeps every line costs no comparison.
    """

    name = "scenestore, bodies not compared"

    def begin(self) -> None:
        policy = self.root / "memoryDB" / "scenestore.toml"
        policy.parent.mkdir(parents=True)
        policy.write_text('retention_update = "off"\n', encoding="utf-8")
        super().begin()


class ScenestoreAcknowledged(ScenestoreUncompared):
    """That up to the acknowledgement: what comes after is not counted."""

    name = "scenestore, not compared, acknowledged"

    def begin(self) -> None:
        super().begin()
        self.acknowledged_s = 0.0
        publish = self.store.ledger.publish

        def publish_and_note(revision: str, *, parent: str | None) -> None:
            publish(revision, parent=parent)
            self.acknowledged_s = time.perf_counter()

        self.store.ledger.publish = publish_and_note  # type: ignore[method-assign]


class Plumbing(Way):
    """The unit: dulwich's plumbing, each object, directory and the ref synced."""

    name = "dulwich plumbing, synced"

    def begin(self) -> None:
        self.repo = Repo.init(str(self.root))
        self.parent: bytes | None = None
        self.blobs: dict[str, bytes] = {}
        self.commit(self.work.all_files())

    def commit(self, files: Files) -> None:
        put(self.root, files, sync=False)
        made = [Blob.from_string(data) for data in files.values()]
        self.blobs |= {name: blob.id for name, blob in zip(files, made, strict=True)}
        folders: dict[str, Tree] = {"": Tree()}
        for name, blob_id in self.blobs.items():
            folder, _, leaf = name.rpartition("/")
            folders.setdefault(folder, Tree()).add(leaf.encode(), 0o100644, blob_id)
        for folder, tree in folders.items():
            if folder:
                folders[""].add(folder.encode(), 0o040000, tree.id)
        commit = Commit()
        commit.tree = folders[""].id
        commit.parents = [self.parent] if self.parent else []
        commit.author = commit.committer = b"a <a@b>"
        commit.author_time = commit.commit_time = 1_772_323_200 + self.work.step
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = b"c"
        for thing in (*made, *folders.values(), commit):
            self._write(thing)
        ref = self.root / ".git" / "refs" / "heads" / "main"
        put(ref.parent, {"main": commit.id + b"\n"}, sync=True)
        self.parent = commit.id

    def _write(self, thing: Blob | Tree | Commit) -> None:
        text = thing.id.decode()
        folder = self.root / ".git" / "objects" / text[:2]
        if not folder.exists():
            folder.mkdir()
            sync_dir(folder.parent)
        if not (folder / text[2:]).exists():
            put(folder, {text[2:]: thing.as_legacy_object()}, sync=True)

    def close(self) -> None:
        self.repo.close()


class GitProgram(Way):
    """``git add`` and ``git commit`` with core.fsync=all."""

    name = "git program, durable"

    def begin(self) -> None:
        self._git("init", "-q", "-b", "main")
        self.commit(self.work.all_files())

    def _git(self, *args: str) -> None:
        settings = [
            "-c",
            "core.fsync=all",
            "-c",
            "core.fsyncMethod=fsync",
            "-c",
            "gc.auto=0",
        ]
        who = {
            f"GIT_{role}_{part}": "a@b"
            for role in ("AUTHOR", "COMMITTER")
            for part in ("NAME", "EMAIL")
        }
        env = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": "/nonexistent",
            **who,
        }
        subprocess.run(["git", *settings, *args], cwd=self.root, env=env, check=True)

    def commit(self, files: Files) -> None:
        put(self.root, files, sync=False)
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "c")


class GitPython(Way):
    """GitPython, which runs the git program for part of it."""

    name = "GitPython"
    durable = False

    def begin(self) -> None:
        import git

        self.repo = git.Repo.init(self.root)
        self.who = git.Actor("a", "a@b")
        self.commit(self.work.all_files())

    def commit(self, files: Files) -> None:
        put(self.root, files, sync=False)
        self.repo.index.add([str(self.root / name) for name in files])
        self.repo.index.commit("c", author=self.who, committer=self.who)

    def close(self) -> None:
        self.repo.close()


class Pygit2(Way):
    """pygit2 (libgit2) with core.fsyncObjectFiles."""

    name = "pygit2, durable"

    def begin(self) -> None:
        import pygit2

        repo = pygit2.init_repository(str(self.root))
        repo.config["core.fsyncObjectFiles"] = True
        self.repo = pygit2.Repository(str(self.root))
        self.who = pygit2.Signature("a", "a@b")
        self.parents: list[object] = []
        self.commit(self.work.all_files())

    def commit(self, files: Files) -> None:
        put(self.root, files, sync=False)
        index = self.repo.index
        for name in files:
            index.add(name)
        index.write()
        tree = index.write_tree()
        made = self.repo.create_commit(
            "HEAD", self.who, self.who, "c", tree, self.parents
        )
        self.parents = [made]


class Porcelain(Way):
    """dulwich's porcelain, as its manual shows it."""

    name = "dulwich porcelain"
    durable = False

    def begin(self) -> None:
        porcelain.init(str(self.root))
        self.commit(self.work.all_files())

    def commit(self, files: Files) -> None:
        put(self.root, files, sync=False)
        porcelain.add(str(self.root), [str(self.root / name) for name in files])
        porcelain.commit(
            str(self.root), message=b"c", author=b"a <a@b>", committer=b"a <a@b>"
        )


class FolderCopy(Way):
    """A copy of the whole folder as a backup, then the files written."""

    name = "folder copied as a backup, synced"
    sync = True

    def begin(self) -> None:
        self.live = self.root / "live"
        put(self.live, self.work.all_files(), sync=self.sync)

    def commit(self, files: Files) -> None:
        backup = self.root / f"backup-{self.work.step}"
        shutil.copytree(self.live, backup)
        if self.sync:
            for path in backup.rglob("*"):
                sync_dir(path)
            sync_dir(backup)
            sync_dir(self.root)
        put(self.live, files, sync=self.sync)
        old = self.root / f"backup-{self.work.step - 10}"
        shutil.rmtree(old, ignore_errors=True)


class FolderCopyUnsynced(FolderCopy):
    """The same as it is mostly done: without a sync."""

    name = "folder copied as a backup, not synced"
    durable = False
    sync = False


WAYS: tuple[type[Way], ...] = (
    Plumbing,
    Scenestore,
    ScenestoreUncompared,
    ScenestoreAcknowledged,
    GitProgram,
    Pygit2,
    GitPython,
    Porcelain,
    FolderCopy,
    FolderCopyUnsynced,
)


def measure(base: Path, commits: int, rounds: int) -> dict[str, list[float]]:
    """Return seconds a commit, by way."""
    ways: list[Way] = []
    for index, kind in enumerate(WAYS):
        try:
            ways.append(kind(base / f"way-{index}"))
        except (ImportError, FileNotFoundError) as error:
            print(f"left out: {kind.name} ({error})", file=sys.stderr)
    seconds: dict[str, list[float]] = {way.name: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            for _ in range(commits):
                timed = way.prepare()
                start_s = time.perf_counter()
                timed()
                end_s = getattr(way, "acknowledged_s", None) or time.perf_counter()
                seconds[way.name].append(end_s - start_s)
    for way in ways:
        way.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commits", type=int, default=40, help="a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one object of ratios")
    parser.add_argument("--dir", type=Path, help="where to write; a real disk")
    arguments = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="bench-commit-", dir=arguments.dir))
    try:
        seconds = measure(base, arguments.commits, arguments.rounds)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    unit_s = statistics.median(seconds[Plumbing.name])
    ratios: dict[str, float] = {}
    for way in WAYS:
        taken = seconds.get(way.name)
        if taken:
            ratios[f"{way.name}: p50"] = round(statistics.median(taken) / unit_s, 3)
            p95_s = statistics.quantiles(taken, n=20)[-1]
            ratios[f"{way.name}: p95"] = round(p95_s / unit_s, 3)
    if arguments.json:
        print(json.dumps(ratios))
        return
    print(f"unit: {unit_s * 1000:.2f} ms (dulwich plumbing, all synced) = 1")
    for way in WAYS:
        if way.name in seconds:
            p50, p95 = (ratios[f"{way.name}: {p}"] for p in ("p50", "p95"))
            note = "" if way.durable else "   not durable"
            print(f"{way.name:38s} p50 {p50:6.2f}   p95 {p95:6.2f}{note}")


if __name__ == "__main__":
    main()
