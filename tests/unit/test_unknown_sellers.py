"""A seller that the library does not know is told of with the nearest name, and one who is known or answers is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

from fabricreport.books.sellers import Kind, Network, Offer
from fabricreport.check.examination import unknown_sellers
from fabricreport.memo.run.plan import Places, load_checked
from fabricreport.scenario import Params, load_params_file
from fabricreport.sections.rents import listed_sellers

PARAMS = Path(__file__).parents[2] / "params"
PRICES = (
    "gpu-hour-h100-on-demand",
    "gpu-hour-h100-hetzner-list",
    "gpu-hour-gb200-nvl72-ovh-cloud-spot",
    "switch-qm9700",
)


def client(*names: str, rents: bool = True, answers: str | None = None) -> Params:
    shipped = load_params_file(PARAMS / ("tern-finetuning.yaml" if rents else "example.yaml")).params
    made = shipped.providers[0]
    named = tuple(made.model_copy(update={"name": name, "answers": answers}) for name in names)
    return shipped.model_copy(update={"providers": named, "offers": ()})


def offer(seller: str) -> Offer:
    return Offer("x", seller, Kind.OFFER, "infiniband", Network.INCLUDED, "", "", "", key="offers[0]")


def told(params: Params, *offers: Offer) -> list[tuple[str, str]]:
    return [(note.key, note.suggestion) for note in unknown_sellers(params, offers, PRICES)]


KNOWN = (
    "CoreWeave",
    "voltage  park",
    "Verda",
    "datacrunch",
    "DataCrunch/Verda",
    "Vast",
    "vast.ai",
    "AWS",
    "Hetzner",
    "OVH Cloud",
)
MEANT = {
    "Lambada": "Lambda",
    "Nebuis": "Nebius",
    "CoreWeeve": "CoreWeave",
    "Lambda Labs": "Lambda",
    "Vreda": "Verda",
    "Hetzer": "hetzner",
    "NVIDIA": "NVIDIA DGX Cloud",
}


@rows("name", KNOWN)
def test_a_seller_of_the_tables_or_of_a_rent_is_known(name: str) -> None:
    assert told(client(name)) == []


@rows("name, meant", MEANT.items())
def test_a_slip_is_told_with_the_seller_that_is_meant_whoever_made_it(name: str, meant: str) -> None:
    for params in (client(name), client(name, rents=False), client(name, answers="providers/x.yaml")):
        assert told(params) == [("providers[0].name", meant)]
    assert told(client(), offer(name)) == [("offers[0].seller", meant)]


def test_a_stranger_is_told_only_where_nothing_but_published_prices_speaks_for_him() -> None:
    stranger = "Acme Cloud"  # much like GMI Cloud by its letters, and no slip of it
    assert told(client(stranger)) == [("providers[0].name", "")]
    assert told(client(stranger, rents=False)) == []
    assert told(client(stranger, answers="providers/acme.yaml")) == []
    assert told(client(stranger), offer(stranger)) == []


def test_a_seller_of_an_offer_and_of_the_params_who_differ_by_a_slip_are_one() -> None:
    assert told(client("Acme Cloud", answers="a.yaml"), offer("Acme Cluod")) == [
        ("providers[0].name", "Acme Cluod"),
        ("offers[0].seller", "Acme Cloud"),
    ]


def test_the_note_stands_at_its_line_and_names_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    text = (PARAMS / "tern-finetuning.yaml").read_text(encoding="utf-8").replace("name: Crusoe", "name: Cruseo")
    path.write_text(text, encoding="utf-8")
    loaded = load_params_file(path)
    (note,) = unknown_sellers(loaded.params, (), PRICES)
    line = next(n for n, row in enumerate(text.splitlines(), start=1) if "Cruseo" in row)
    assert str(loaded.placed(note)) == (
        f"{path}:{line}: providers[1].name: no published price or network of 'Cruseo' is in the library. "
        "Did you mean 'Crusoe'? Right if it is a seller we do not know."
    )


@pytest.mark.slow
def test_a_build_is_told_what_a_check_is(tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    path.write_text(
        (PARAMS / "tern-finetuning.yaml").read_text("utf-8").replace("name: Crusoe", "name: Cruseo"), "utf-8"
    )
    assert any("Did you mean 'Crusoe'?" in note for note in load_checked(path, Places()).notes)


def test_sellers_are_read_from_the_ids_of_rents() -> None:
    assert listed_sellers(PRICES) == ("hetzner", "ovh-cloud")
