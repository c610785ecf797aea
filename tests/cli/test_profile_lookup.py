"""Which profile a command is about."""

import os
from pathlib import Path
from typing import Any

import pytest

from scenestore_cli.errors import ExitCode


def test_the_nearest_folder_upwards_that_holds_a_memory_is_the_profile(
    run: Any, world: Any
) -> None:
    below = world.profile / "notes" / "2026"
    below.mkdir(parents=True)

    ran = run("status", "--json", cwd=below)

    assert Path(ran.document["profile"]) == world.profile


def test_the_repo_of_the_scenes_is_inside_of_the_profile(run: Any, world: Any) -> None:
    ran = run("status", "--json", cwd=world.l2 / "scene-blocks")

    assert Path(ran.document["profile"]) == world.profile


def test_the_variable_names_the_profile(run: Any, world: Any, tmp_path: Path) -> None:
    env = {"SCENESTORE_PROFILE": str(world.profile)}

    ran = run("status", "--json", cwd=tmp_path, env=env)

    assert ran.document["profile"] == str(world.profile)


def test_an_empty_variable_names_nothing(run: Any, world: Any) -> None:
    ran = run("status", "--json", cwd=world.profile, env={"SCENESTORE_PROFILE": ""})

    assert ran.code == ExitCode.DONE


def test_the_option_is_stronger_than_the_variable(
    run: Any, world: Any, tmp_path: Path
) -> None:
    env = {"SCENESTORE_PROFILE": str(tmp_path / "other")}

    ran = run("status", "--json", "-P", world.profile, env=env)

    assert ran.document["profile"] == str(world.profile)


def test_no_profile_anywhere_is_told_with_what_to_do(run: Any, tmp_path: Path) -> None:
    ran = run("status", cwd=tmp_path)

    assert ran.code == ExitCode.REJECTED
    assert str(tmp_path) in ran.err
    assert "-P" in ran.err
    assert "SCENESTORE_PROFILE" in ran.err
    assert ran.out == ""


def test_a_profile_that_is_missing_is_named(run: Any, tmp_path: Path) -> None:
    ran = run("status", "-P", tmp_path / "nowhere", "--json")

    assert ran.code == ExitCode.REJECTED
    (error,) = ran.document["errors"]
    assert error["code"] == "no_profile"
    assert f"{tmp_path}/nowhere does not exist" in error["message"]


@pytest.mark.parametrize("name", ["init", "status", "organize"])
def test_a_file_in_the_place_of_the_profile_is_refused(
    run: Any, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "file"
    path.write_text("x")

    ran = run(name, "-P", path)

    assert ran.code == ExitCode.REJECTED
    assert f"{path} is no folder" in ran.err
    assert path.read_text() == "x"


@pytest.mark.parametrize("name", ["init", "status"])
def test_a_file_in_the_place_of_the_memory_is_refused(
    run: Any, tmp_path: Path, name: str
) -> None:
    (tmp_path / "memoryDB").write_text("x")

    ran = run(name, "-P", tmp_path)

    assert ran.code == ExitCode.REJECTED
    assert "memoryDB is no folder" in ran.err


def test_the_memory_itself_is_not_the_profile_and_the_right_one_is_named(
    run: Any, world: Any
) -> None:
    ran = run("status", "-P", world.profile / "memoryDB")

    assert ran.code == ExitCode.REJECTED
    assert f"Did you mean {world.profile}?" in ran.err


def test_a_profile_whose_name_is_no_utf8_can_be_used(run: Any, tmp_path: Path) -> None:
    profile = Path(os.fsdecode(bytes(tmp_path / "caf") + b"\xe9"))
    try:
        profile.mkdir()
    except OSError:
        pytest.skip("this file system takes only UTF-8")

    made = run("init", "-P", profile, "--json")
    told = run("status", "-P", profile)

    assert made.document["profile"] == str(profile)
    assert told.code == ExitCode.DONE


def test_init_makes_the_store_in_the_current_folder_if_there_is_no_profile(
    run: Any, tmp_path: Path
) -> None:
    ran = run("init", cwd=tmp_path)

    assert ran.code == ExitCode.DONE
    assert (tmp_path / "memoryDB" / "l2" / ".git").is_dir()


def test_init_takes_the_profile_that_the_current_folder_lies_in(
    run: Any, tmp_path: Path
) -> None:
    below = tmp_path / "notes"
    below.mkdir()
    (tmp_path / "memoryDB").mkdir()

    run("init", cwd=below)

    assert (tmp_path / "memoryDB" / "l2").is_dir()
    assert not (below / "memoryDB").exists()


def test_init_a_second_time_changes_nothing(run: Any, world: Any) -> None:
    before = world.bytes_under()

    ran = run("init", "-P", world.profile, "--json")

    assert ran.document["created"] is False
    assert world.bytes_under() == before


def test_the_next_steps_name_the_profile_only_where_it_is_not_found_by_itself(
    run: Any, tmp_path: Path
) -> None:
    inside, outside = tmp_path / "in", tmp_path / "o u t"
    inside.mkdir()

    here = run("init", cwd=inside)
    there = run("init", "-P", outside, cwd=tmp_path)

    assert "scenestore status\n" in here.out
    assert f"scenestore status -P '{outside}'\n" in there.out
