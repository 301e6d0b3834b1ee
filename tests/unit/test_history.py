"""What became of a client's advice is told edition by edition; who signed one is known, and what was pruned may be missed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows import rows

from fabricreport.cli.main import main
from fabricreport.memo.editions.editions import (
    Files,
    edition_info,
    latest_edition,
    list_editions,
    prune,
    publish,
    verify,
)
from fabricreport.memo.editions.history import histories, write_index
from fabricreport.memo.editions.locks import INDEX, scratch_folder
from fabricreport.memo.editions.manifest import MANIFEST, RUN, key_prices, list_outputs, read_sealed, sealed

BOUGHT = {"question": "buy-once", "choice": "a", "course": "take:a", "confidence": "clear", "decided_by": "money"}
SWITCH, CABLE = "price:switch-a", "price:cable"
EVIL = "<script>alert(1)</script>\x1b[2J\u202e"


def name_of(number: int) -> str:
    return f"2026-11-{number:02d}-{number:08x}"


def put(output: Path, number: int, slug: str = "acme", **said: Any) -> Path:
    """An edition with a headline, a difference of so many dollars and two prices; it is named by its number."""
    edition, difference = name_of(number), said.pop("difference", 1000.0)
    draft, partial, run = (said.pop(k, d) for k, d in (("draft", False), ("partial", False), ("run", {})))
    prices = [(SWITCH, "Price of a switch", said.pop("switch", 33300.0)), (CABLE, "Price of a cable", 100.0)]
    facts: dict[str, Any] = {
        "edition": edition,
        "as_of": edition[:10],
        "status": "Draft" if draft else "Client copy",
        "only": "tco" if partial else "",
        "fingerprint": said.pop("fingerprint", {"params": edition, "inputs": {}}),
        "logs": said.pop("logs", {}),
        "headline": {
            "recommendation": f"Buy {said.get('choice', 'a')}",
            **BOUGHT,
            "numbers": [
                {"id": "decision.difference", "label": "D", "text": "$1k", "unit": "usd", "value": difference},
                {"id": "decision.probability", "label": "P", "text": "93 %", "unit": "share", "value": 0.93},
            ],
            **said,
        },
        "prices": [{"id": i, "label": label, "value": value, "unit": "usd"} for i, label, value in prices],
    }
    with scratch_folder(output) as scratch:
        folder = scratch / edition
        (folder / "data").mkdir(parents=True)
        (folder / "memo.html").write_text(f"<p>memo {number}</p>", encoding="utf-8")
        (folder / "data" / "fig.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        (folder / MANIFEST).write_bytes(sealed({**facts, "outputs": list_outputs(folder)}))
        return publish(scratch, output, slug, edition, run=run, draft=draft, aside="partial" if partial else "").folder


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def there(output: Path, slug: str = "acme") -> set[int]:
    return {int(path.name[8:10]) for path in (output / slug).glob("2026-*") if path.is_dir()}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_history_marks_where_action_class_or_sign_turned_and_which_price_moved(tmp_path: Path) -> None:
    put(tmp_path, 1)
    put(tmp_path, 2, draft=True, choice="b")
    put(tmp_path, 3, switch=28700.0)
    put(tmp_path, 4, switch=28700.0, choice="b", course="take:b", difference=-5.0)
    put(tmp_path, 5, switch=28700.0, choice="b", course="take:b", confidence="leaning", difference=-6.0)
    entries = histories(tmp_path)
    assert [entry.turns for entry in entries] == [(), (), (), ("action", "sign"), ("class",)]
    assert entries[2].prices == ("Price of a switch $33,300 -> $28,700", "Price of a cable $100")
    assert entries[3].prices == ("Price of a switch $28,700", "Price of a cable $100")
    code, out, _ = run("list", "acme", "--output", str(tmp_path))
    assert code == 0 and "Buy b (leaning, 93 % of outcomes)" in out
    assert "Price of a switch $33,300 -> $28,700" in out and out.count("turned: ") == 2
    told = json.loads(run("list", "acme", "--output", str(tmp_path), "--json")[1])
    assert [one["turns"] for one in told][3:] == [["action", "sign"], ["class"]]
    code, _, err = run("list", "acmee", "--output", str(tmp_path))
    assert code == 2 and "Did you mean 'acme'" in err


def test_the_page_of_all_editions_escapes_what_they_say_and_fetches_nothing(tmp_path: Path) -> None:
    put(tmp_path, 1, recommendation=EVIL)
    put(tmp_path, 2, slug="other")
    code, out, _ = run("list", "acme", "--output", str(tmp_path))
    page = (tmp_path / INDEX).read_text(encoding="utf-8")
    assert code == 0 and "\x1b" not in out + page and "\u202e" not in out + page
    style = base64.b64encode(hashlib.sha256(page.split("<style>")[1].split("</style>")[0].encode()).digest()).decode()
    assert f"style-src 'sha256-{style}'" in page, "the page's own style is the only one allowed"
    assert "<script" not in page and "&lt;script&gt;" in page and "default-src 'none'; style-src 'sha256-" in page
    assert re.findall(r'(?:src|href)="([^"#]*)"', page) == [
        f"acme/{name_of(1)}/memo.html",
        f"other/{name_of(2)}/memo.html",
    ]


def test_the_page_is_true_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edition = put(tmp_path, 1)
    assert write_index(tmp_path) == "" and name_of(1) in (tmp_path / INDEX).read_text(encoding="utf-8")
    put(tmp_path, 1)
    assert (tmp_path / INDEX).exists(), "nothing was published"
    put(tmp_path, 2)
    assert not (tmp_path / INDEX).exists()
    write_index(tmp_path)
    assert run("sign", str(edition), "--by", "Jane Doe")[0] == 0
    assert "Jane Doe" in (tmp_path / INDEX).read_text(encoding="utf-8")

    def late(output: Path) -> Any:
        found = histories(output)
        put(tmp_path, 9)  # published after it was read
        return found

    monkeypatch.setattr("fabricreport.memo.editions.history.histories", late)
    write_index(tmp_path)
    assert not (tmp_path / INDEX).exists() or name_of(9) in (tmp_path / INDEX).read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_told_and_fails_nothing(tmp_path: Path) -> None:
    put(tmp_path, 1)
    (tmp_path / INDEX).mkdir()
    code, _, err = run("list", "acme", "--output", str(tmp_path))
    assert code == 0 and INDEX in err


def test_key_prices_are_those_that_the_headline_rests_on_and_what_could_turn_it_comes_first() -> None:
    inputs = [
        {"id": i, "label": i, "value": v, "unit": "usd", "grade": "quote"} for i, v in ((SWITCH, 1.0), (CABLE, 2.0))
    ]
    numbers = [
        {"id": "decision.difference", "inputs": ["evidence:x", CABLE, SWITCH]},
        {"id": "decision.in_use.price.switch-a", "inputs": [SWITCH]},
        {"id": "tco.other", "inputs": ["price:server"]},
    ]
    found = key_prices({"numbers": [{"id": "decision.difference"}]}, {"numbers": numbers, "inputs": inputs})
    assert found == [{"id": i, "label": i, "value": v, "unit": "usd"} for i, v in ((SWITCH, 1.0), (CABLE, 2.0))]
    assert key_prices({}, {"numbers": numbers, "inputs": inputs}) == []


def test_pruning_keeps_the_newest_the_signed_the_latest_and_the_accepted(tmp_path: Path) -> None:
    prints: dict[str, Any] = {"params": "p", "inputs": {"prices/a.csv": "h"}}
    put(tmp_path, 1, fingerprint=prints)
    for number in (2, 3, 4, 5):
        put(tmp_path, number)
    put(tmp_path, 6, draft=True)
    put(tmp_path, 7, draft=True)
    put(tmp_path, 8, slug="other")
    logged = {"params": "p", "inputs": {**prints["inputs"], "as-delivered/0/a.log": "l"}}
    put(
        tmp_path / "acme",
        9,
        "acceptance",
        fingerprint=logged,
        logs={"as-delivered/0/a.log": "l"},
        run={"memo": name_of(3)},
    )
    put(tmp_path, 10, partial=True)
    run("sign", f"acme/{name_of(2)}", "--by", "Jane Doe", "--output", str(tmp_path))
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (tmp_path / "acme" / name_of(11)).symlink_to(foreign)
    done = prune(tmp_path, 1)
    assert done == {
        f"acme/{name_of(1)}": "kept: accepted",
        f"acme/{name_of(2)}": "kept: signed",
        f"acme/{name_of(3)}": "kept: accepted",
        f"acme/{name_of(4)}": "removed",
    }, "drafts count for nothing, and go with the copies before which they were made"
    assert there(tmp_path) - {11} == {1, 2, 3, 5, 6, 7} and there(tmp_path, "other") == {8} and foreign.is_dir()
    assert (tmp_path / "acme" / "partial" / name_of(10)).is_dir() and not list(tmp_path.glob(".scratch-*"))
    assert sorted(i.sequence for i in list_editions(tmp_path, "acme")) == [1, 2, 3, 5, 6, 7]
    put(tmp_path, 12)
    assert max(i.sequence for i in list_editions(tmp_path, "acme")) == 8, "no number is given twice"


def test_nothing_is_pruned_of_a_client_whose_acceptance_cannot_be_read(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        put(tmp_path, number)
    acceptance = put(tmp_path / "acme", 9, "acceptance")
    (acceptance / RUN).write_text("{}", encoding="utf-8")
    code, out, _ = run("list", "acme", "--prune", "1", "--output", str(tmp_path))
    assert code == 0 and "accepted" in out and there(tmp_path) == {1, 2, 3}


class Killing(Files):
    """Kills its own process at the n-th operation, before it or after."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _step(self) -> None:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

    def rename(self, *args: Any) -> None:
        self._step()
        super().rename(*args)
        self._step()

    def fsync_open(self, folder: Any) -> None:
        self._step()


def test_a_kill_while_pruning_leaves_each_edition_whole_or_gone(tmp_path: Path) -> None:
    for number in range(1, 5):
        put(tmp_path, number)
    for at in (1, 2, 2, 3):
        pid = os.fork()
        if pid == 0:
            prune(tmp_path, 1, files=Killing(at))
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        assert [verify(info.folder) for info in list_editions(tmp_path)] == [[]] * len(there(tmp_path))
        latest = latest_edition(tmp_path, "acme")
        assert latest is not None and latest.edition == name_of(4)
    assert there(tmp_path) == {4} and list(tmp_path.glob(".scratch-*")), "the third was renamed, and not yet deleted"
    prune(tmp_path, 1)
    assert there(tmp_path) == {4} and not list(tmp_path.glob(".scratch-*"))


def test_a_signature_stands_beside_the_edition_and_changes_no_byte_of_it(tmp_path: Path) -> None:
    edition = put(tmp_path, 1)
    before = bytes_of(edition)
    asked = ("sign", "acme", "--output", str(tmp_path), "--today", "2026-11-28", "--by")
    assert run(*asked, "Jane Doe")[0] == 0
    signed = (tmp_path / "acme" / f"{name_of(1)}.signed.json").read_bytes()
    assert run(*asked[:-2], "2026-12-24", "--by", "Jane Doe")[0] == 0
    assert (tmp_path / "acme" / f"{name_of(1)}.signed.json").read_bytes() == signed, (
        "the same name again changes nothing"
    )
    assert run(*asked, "Max Mix")[0] == 0
    assert bytes_of(edition) == before and verify(edition) == []
    both = [{"name": "Jane Doe", "date": "2026-11-28"}, {"name": "Max Mix", "date": "2026-11-28"}]
    (listed,) = json.loads(run("list", "--output", str(tmp_path), "--json")[1])
    assert listed["signed"] == both and listed["latest"] and not listed["damaged"]
    assert "signed by Jane Doe, Max Mix" in run("list", "--output", str(tmp_path))[1]
    latest = latest_edition(tmp_path, "acme")
    assert latest is not None and [s["name"] for s in latest.signed] == ["Jane Doe", "Max Mix"]
    code, out, _ = run("check", f"acme/{name_of(1)}", "--output", str(tmp_path))
    assert code == 0 and "whole" in out and "Jane Doe on 2026-11-28" in out
    (tmp_path / "acme" / f"{name_of(1)}.signed.json").unlink()
    assert "not signed" in run("check", str(tmp_path / "acme" / "latest"))[1]


def test_drafts_trials_damaged_editions_and_hostile_names_are_not_signed(tmp_path: Path) -> None:
    draft, trial, damaged, good = (
        put(tmp_path, 1, draft=True),
        put(tmp_path, 2, partial=True),
        put(tmp_path, 3),
        put(tmp_path, 4),
    )
    (damaged / "memo.html").write_text("forged", encoding="utf-8")
    told = [
        run("sign", str(e), "--by", n)
        for e, n in ((draft, "J"), (trial, "J"), (damaged, "J"), (good, EVIL), (good, " "))
    ]
    assert [code for code, _, _ in told] == [2] * 5 and not list(tmp_path.rglob("*signed.json"))
    for (_, _, err), word in zip(told, ("draft", "trial", "memo.html: was changed", "--by", "--by"), strict=True):
        assert word in err and "\x1b" not in err
    assert run("sign", "acme/2026-01-01-00000000", "--by", "J", "--output", str(tmp_path))[0] == 2


def test_a_signature_of_another_manifest_does_not_fit(tmp_path: Path) -> None:
    edition = put(tmp_path, 1)
    assert run("sign", str(edition), "--by", "Jane Doe")[0] == 0
    manifest = read_sealed(edition / MANIFEST)
    (edition / MANIFEST).write_bytes(sealed({**manifest, "headline": {"recommendation": "Buy b"}}))
    assert verify(edition) == [], "made again with its seal"
    code, _, err = run("check", str(edition))
    assert code == 2 and "signed.json: " in err
    assert run("sign", str(edition), "--by", "Max Mix")[0] == 2
    (info,) = list_editions(tmp_path)
    assert info.verified().damaged


def test_every_one_of_a_hundred_flipped_bits_is_found(tmp_path: Path) -> None:
    edition = put(tmp_path, 1)
    assert run("sign", str(edition), "--by", "Jane Doe")[0] == 0
    files = [path for path in (tmp_path / "acme").rglob("*") if path.is_file() and not path.name.startswith(".")]
    files = [path for path in files if "latest" not in path.parts]
    draw, missed = random.Random(34), []
    for _ in range(100):
        path = draw.choice(files)
        whole = path.read_bytes()
        bad = bytearray(whole)
        bad[at := draw.randrange(len(whole))] ^= 1 << (bit := draw.randrange(8))
        path.write_bytes(bytes(bad))
        if not edition_info(edition).verified().faults:
            missed.append((path.name, at, bit))
        path.write_bytes(whole)
    assert len(files) == 5 and missed == [] and run("check", str(edition))[0] == 0


@rows("damage", ["missing", "added", "swapped", "renamed", "manifest"])
def test_missing_added_and_swapped_files_are_found_by_check(tmp_path: Path, damage: str) -> None:
    edition, other = put(tmp_path, 1), put(tmp_path, 2)
    if damage == "missing":
        (edition / "memo.html").unlink()
    elif damage == "added":
        (edition / "more.csv").write_text("x", encoding="utf-8")
    elif damage == "swapped":
        shutil.copyfile(other / "memo.html", edition / "memo.html")
    elif damage == "renamed":
        shutil.rmtree(edition)
        shutil.copytree(other, edition)
    else:
        (edition / MANIFEST).unlink()
    code, _, err = run("check", str(edition), str(other))
    assert code == 2 and str(edition) in err and str(other) not in err


def test_editions_and_params_are_not_checked_together(tmp_path: Path) -> None:
    assert run("check", str(put(tmp_path, 1)), "params/example.yaml")[0] == 2
