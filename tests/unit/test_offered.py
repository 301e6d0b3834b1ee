"""Offers are read strictly, alike in the params and in a file of their own, and their amounts are prices of the book."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from rows import rows
from scenario_cases import PARAMS, minimal

from fabricreport.base.errors import InputError, Problem
from fabricreport.books.sellers import spoken
from fabricreport.case import Case, open_case

pytestmark = pytest.mark.slow
EXAMPLE = PARAMS / "offers" / "example-cloud.yaml"


def written() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    return {key: str(value) if key in ("date", "expiry", "start") else value for key, value in data.items()}


def renter(*offers: dict[str, Any], **more: Any) -> dict[str, Any]:
    data = {**minimal(), "cluster": {"gpus": 16}, "money": {"acquisition": "rent", "horizon_months": 12}}
    return {**data, "offers": list(offers), **more}


def folder_with(tmp_path: Path, offer: dict[str, Any], **more: Any) -> Path:
    (tmp_path / "offers").mkdir(exist_ok=True)
    if not (tmp_path / "prices").exists():
        shutil.copytree(PARAMS / "prices", tmp_path / "prices")
    (tmp_path / "offers" / "one.yaml").write_text(yaml.safe_dump(offer, sort_keys=False), encoding="utf-8")
    path = tmp_path / "client.yaml"
    path.write_text(yaml.safe_dump(renter({"file": "offers/one.yaml"}, **more), sort_keys=False), encoding="utf-8")
    return path


def fault(tmp_path: Path, **changes: Any) -> Problem:
    with pytest.raises(InputError) as caught:
        open_case(folder_with(tmp_path, {**written(), **changes}))
    assert len(caught.value.problems) == 1, [str(p) for p in caught.value.problems]
    return caught.value.problems[0]


def test_an_offer_of_a_file_is_the_same_as_one_in_the_params(tmp_path: Path) -> None:
    (of_file,) = open_case(folder_with(tmp_path, written())).inputs.offers
    (inline,) = open_case(renter(written())).inputs.offers
    assert (of_file.id, of_file.rungs, of_file.add_ons, of_file.refuses) == (
        inline.id,
        inline.rungs,
        inline.add_ons,
        inline.refuses,
    )
    assert of_file.file.endswith("one.yaml") and inline.key == "offers[0]"


def test_the_amounts_are_prices_with_the_day_the_seller_and_the_grade_of_a_quote(tmp_path: Path) -> None:
    case = open_case(folder_with(tmp_path, written()))
    (offer,) = case.inputs.offers
    record = case.inputs.record(offer.rungs[0].price)
    assert (record["value"], record["date"], record["grade"]) == (2.6, "2026-11-12", "quote")
    assert record["source"].startswith("Example Cloud") and record["expiry"] == "2026-12-12"
    assert [case.inputs.central(a.price) for a in offer.add_ons] == [400, 1500]
    assert not case.prices["offer-example-cloud-hour"].stale


def test_an_offer_past_its_last_day_is_old(tmp_path: Path) -> None:
    case = open_case(folder_with(tmp_path, {**written(), "expiry": "2026-11-15"}))
    assert case.prices["offer-example-cloud-hour"].stale


def test_two_offers_of_one_seller_have_ids_of_their_own() -> None:
    case = open_case(renter(written(), {**written(), "price_per_gpu_hour": 2.5}))
    assert [o.id for o in case.inputs.offers] == ["example-cloud", "example-cloud-2"]
    assert case.inputs.central("price:offer-example-cloud-2-hour") == 2.5


@rows(
    ("changes", "key", "says", "suggests"),
    [
        ({"seler": "x"}, "seler", "not a known key", "seller"),
        ({"date": "2026-12-01"}, "date", "after the memo's date", ""),
        ({"fabric": "infiniban"}, "fabric", "no option that is compared", "infiniband"),
        ({"gpu": "h200"}, "gpu", "another GPU", ""),
        ({"size": 8}, "size", "fewer GPUs", ""),
        ({"start": "2028-06-01"}, "start", "after the horizon", ""),
        ({"price_per_gpu_hour": -2}, "price_per_gpu_hour", "at least", ""),
        ({"price_per_gpu_hour": "2.60 USD"}, "price_per_gpu_hour", "must be a number", ""),
        ({"network": "incl"}, "network", "not one of the values", "included"),
        ({"refuses": ["acceptence-test"]}, "refuses[0]", "no term or question", "acceptance-test"),
        ({"add_ons": [{"name": "Tier"}]}, "add_ons[0]", "needs one price", ""),
        ({"network": "add-on", "add_ons": []}, "network", "no add-on is needed", ""),
        ({"ladder": [{"months": 6, "price_per_gpu_hour": p} for p in (2, 3)]}, "ladder", "twice", ""),
        ({"credits": {"cap": 30}}, "credits.cap", "at most", ""),
        ({"items": [{"item": "switch-qm9700", "price": 1.0}]}, "items", "rents", ""),
    ],
)
def test_each_fault_of_a_file_is_told_with_line_key_and_remedy(
    changes: dict[str, Any], key: str, says: str, suggests: str, tmp_path: Path
) -> None:
    found = fault(tmp_path, **changes)
    assert found.file.endswith("one.yaml") and found.key == key and says in found.message
    lines = (tmp_path / "offers" / "one.yaml").read_text(encoding="utf-8").splitlines()
    first = key.partition("[")[0].partition(".")[0]
    assert found.line is not None and any(line.startswith(f"{first}:") for line in lines[: found.line])
    assert found.suggestion == suggests and (found.remedy or found.suggestion)


@rows("text", ["Ex\u202eample", "Exa\u200bmple", "Exam\x07ple", ""])
def test_hostile_text_of_a_seller_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        open_case(folder_with(tmp_path, {**written(), "seller": text}))


def test_an_offer_that_is_no_mapping_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    path = folder_with(tmp_path, written())
    (tmp_path / "offers" / "one.yaml").write_text("- 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="must hold keys and values"):
        open_case(path)
    (tmp_path / "offers" / "one.yaml").unlink()
    with pytest.raises(InputError, match="does not exist"):
        open_case(path)


def test_another_offer_is_another_figure_and_the_rest_stays() -> None:
    case = open_case(renter(written()))
    other = case.changed(offers=[{**written(), "price_per_gpu_hour": 1.5, "ladder": []}])
    assert isinstance(other, Case)
    assert other.inputs.central("price:offer-example-cloud-hour") == 1.5
    assert "offer-example-cloud-hour-12" not in other.prices and "offer-example-cloud-hour-12" in case.prices


def test_a_buyers_offer_names_pieces_that_its_option_takes() -> None:
    bill = {k: v for k, v in written().items() if k in ("seller", "date", "expiry", "fabric")}
    buyer = {**minimal(), "offers": [{**bill, "items": [{"item": "switch-qm970", "price": 28_000}]}]}
    with pytest.raises(InputError, match="is no item that infiniband-ndr takes") as caught:
        open_case(buyer)
    assert caught.value.problems[0].suggestion == "switch-qm9700"


def told(offer: dict[str, Any] | str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        open_case(renter(offer if isinstance(offer, dict) else {"file": offer}))
    return list(caught.value.problems)


def test_one_fault_of_an_offer_is_told_once(tmp_path: Path) -> None:
    offer = written()
    misspelt = {"sellr": offer.pop("seller"), **offer}
    (one,) = told(misspelt)
    assert one.suggestion == "seller" and one.key == "offers[0].sellr"
    with pytest.raises(InputError) as caught:
        open_case(folder_with(tmp_path, misspelt))
    assert [p.suggestion for p in caught.value.problems] == ["seller"]
    alone = {key: value for key, value in offer.items() if key != "ladder"} | {"seller": "Example"}
    path = tmp_path / "client.yaml"
    text = yaml.safe_dump(renter(alone), sort_keys=False)
    path.write_text(text.replace("price_per_gpu_hour: 2.6", "price_per_gpu_hour: .nan"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        open_case(path)
    assert [p.key for p in caught.value.problems] == ["offers[0].price_per_gpu_hour"]


def test_a_path_out_of_the_folder_is_refused_with_what_to_do() -> None:
    (one,) = told("../../../etc/passwd")
    assert "may not leave the folder" in one.message and "Put the file into that folder" in one.remedy


@rows("term", ["claim-window", "Q-COM-04"])
def test_a_question_refused_is_told_by_its_id_and_title_under_whatever_name_it_was_refused(term: str) -> None:
    assert spoken(term) == "Q-COM-04 Claim window for credits"


def test_a_term_refused_is_told_in_words() -> None:
    assert spoken("liquidated-damages") == "liquidated damages"
