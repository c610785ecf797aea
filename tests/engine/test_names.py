import pytest

from scenestore_engine.names import complaints, folded, proposal


@pytest.mark.parametrize(
    "filename",
    [
        "a.md",
        "东京马拉松.md",
        "東京マラソン.md",
        "_x.md",
        "a-b_c.d.md",
        "x" * 197 + ".md",
        "com10.md",
        "ἀ.md",
    ],
)
def test_a_good_name_has_no_complaint(filename: str) -> None:
    assert list(complaints(filename)) == []


@pytest.mark.parametrize(
    "filename",
    [
        "a.txt",
        "a.MD",
        ".md",
        "",
        "a b.md",
        "a/b.md",
        "a\\b.md",
        ".a.md",
        "-a.md",
        "a..md",
        "a\u200b.md",
        "a\ufe0f.md",
        "e\u0301.md",
        "\u3164.md",
        "x" * 198 + ".md",
        "场" * 66 + ".md",
        "CON.md",
        "aux.x.md",
        "Lpt9.md",
        "½.md",
        "Ⅷ.md",
    ],
)
def test_a_bad_name_gets_a_proposal_that_would_do(filename: str) -> None:
    assert list(complaints(filename))
    assert list(complaints(proposal(filename))) == []


@pytest.mark.parametrize(
    ("left", "right"),
    [("ＡＢ.md", "ab.md"), ("οδος.md", "οδοσ.md"), ("ﬁre.md", "FIRE.md")],
)
def test_names_that_look_alike_to_a_file_system_fold_alike(
    left: str, right: str
) -> None:
    assert folded(left) == folded(right)


def test_every_reason_is_told_at_once() -> None:
    assert len(list(complaints("-a b..txt"))) == 4
