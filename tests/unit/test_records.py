"""What the ledger says of an input: its unit, its value in words a reader understands, and no day nobody noted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rows import rows

from fabricreport.base.formats import NBSP
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.fields import Unit
from fabricreport.books.messages import choices_of
from fabricreport.books.prices.book import PriceBook
from fabricreport.inputs.records import param_record, price_record
from fabricreport.memo.document.derivations import SourceBook
from fabricreport.scenario import (
    Bounds,
    Offer,
    OfferFile,
    Override,
    Parallelism,
    Params,
    Provider,
    Reference,
    Stage,
    load_params,
)
from fabricreport.scenario.candidates import AddOn, Quoted, Rung
from fabricreport.scenario.schema import Adopted, JobSize

ROOT = Path(__file__).parents[2]
BASE = load_params(ROOT / "params" / "example.yaml")
PERT = Uncertain.of({"low": 1.0, "mode": 2.0, "high": 3.0})
OFFER = Offer(
    seller="Example Cloud",
    date=date(2026, 11, 12),
    expiry=date(2026, 12, 12),
    fabric="unknown",
    price_per_gpu_hour=2.6,
    ladder=(Rung(months=12, price_per_gpu_hour=2.2),),
    add_ons=(AddOn(name="Storage", price_per_month=500.0),),
    refuses=("price-cap",),
    items=(Quoted(item="switch-qm9700", price=28_000.0),),
)
SIGNED = {"who": "Me", "why": "Quote", "until": date(2027, 1, 31)}
ITEMS: dict[str, tuple[Any, ...]] = {
    "cluster.trajectory": (Stage(month=24, gpus=2048), Stage(month=36, gpus=4096)),
    "providers": (Provider(name="CoreWeave", answers="a.yaml"), Provider(name="Other")),
    "offers": (OFFER, OfferFile(file="offers/b.yaml")),
    "offers[0].ladder": OFFER.ladder,
    "offers[0].add_ons": OFFER.add_ons,
    "offers[0].items": OFFER.items,
    "measurements": ("logs/a.txt", "logs/b.txt"),
    "workload.jobs": (JobSize(gpus=64, share=0.4), JobSize(gpus=512, share=0.6)),
    "overrides": (Override(id="price:switch-qm9700", value=PERT, who="Me", why="Quote", until=date(2027, 1, 31)),),
    "adopted": (Adopted(id="tco.mine", cell="tco.ipynb:5", value="$5", source="0" * 64, **SIGNED),),
    "extra": ("power.ipynb", "space.ipynb"),
}
FULL = BASE.model_copy(
    update={
        **{key: items for key, items in ITEMS.items() if "." not in key},
        "cluster": BASE.cluster.model_copy(update={"trajectory": ITEMS["cluster.trajectory"]}),
        "workload": BASE.workload.model_copy(
            update={"parallelism": Parallelism(tp=8, pp=4, dp=32), "jobs": ITEMS["workload.jobs"]}
        ),
    }
)


def leaves(model: BaseModel, at: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key of the schema that holds no further keys, those of list entries and of a named plan included."""
    for name, field in type(model).model_fields.items():
        key, value = f"{at}{field.alias or name}", getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{key}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            yield key, field
            yield from leaves(value[0], f"{key}[0].")
        else:
            yield key, field


LEAVES = dict(leaves(FULL))


def holding(key: str, value: Any) -> Params:
    """The example with a value put at a key, whatever the rules that join keys would say of it."""
    *sections, last = key.replace("[0]", ".0").split(".")
    return put(FULL, [*sections, last], value)


def put(model: Any, path: list[str], value: Any) -> Any:
    name, *rest = path
    if isinstance(model, tuple):
        return (put(model[0], rest, value), *model[1:])
    field = "from_" if name == "from" else name
    return model.model_copy(update={field: put(getattr(model, field), rest, value) if rest else value})


def drawn_between(low: float, mode: float, high: float) -> list[Uncertain]:
    """Every kind of figure that is not known exactly."""
    ends = {"low": low, "high": high}
    return [Uncertain.of(w) for w in (ends | {"mode": mode}, {"p5": low, "p95": high}, ends)]


def forms(key: str, field: FieldInfo) -> list[Any]:
    """One value of each form the key may hold."""
    uncertain = next((m for m in field.metadata if isinstance(m, Bounds)), None)
    if uncertain is not None:
        ranges = drawn_between(1.25, 2.5, 5.0)
        return [2.5, *ranges, Reference("price", "some-item"), Reference("evidence", "some-entry"), *uncertain.words]
    kinds = [field.annotation, *get_args(field.annotation)]
    found: list[Any] = [*choices_of(field), ITEMS.get(key), *([()] if key in ITEMS else [])]
    found += [True, False] if bool in kinds else []
    found += [123456] if int in kinds else []
    found += [12.5] if float in kinds else []
    found += ["some-words"] if str in kinds or Annotated in map(get_origin, kinds) else []
    found += [date(2026, 11, 20)] if date in kinds else []
    return [v for v in found if v is not None] + ([None] if type(None) in kinds else [])


CASES = [(key, value) for key, field in LEAVES.items() for value in forms(key, field)]


def test_the_cases_reach_every_key_and_every_form() -> None:
    held = {key for key, _ in CASES}
    assert held | {"options", "sections"} >= set(LEAVES) and len(LEAVES) > 55
    assert {type(value) for _, value in CASES} >= {Uncertain, Reference, bool, str, tuple, type(None)}
    assert {value.kind for _, value in CASES if isinstance(value, Uncertain)} == {"pert", "interval", "range"}


@rows(("key", "value"), CASES)
def test_a_param_of_any_form_is_told_in_words(key: str, value: Any) -> None:
    record = param_record(holding(key, value), key)
    text, unit = record["text"], record["unit"]
    assert text and not set(text) & set('[]{}=<>"_') - set("_" if isinstance(value, str) else ""), text
    assert not any(word in text for word in ("None", "True", "False", "Uncertain", "Reference("))
    stated = [m.unit for m in LEAVES[key].metadata if isinstance(m, Unit | Bounds)]
    assert unit == (next(filter(None, stated), "text"))
    if isinstance(value, Uncertain):
        assert " to " in text and value.low <= record["value"] <= value.high
    elif isinstance(value, int | float) and not isinstance(value, bool):
        assert record["value"] == value
    else:
        assert record["value"] == 8 if key == "cluster.nic_ports_per_node" else record["value"] is None


@rows(
    ("key", "value", "text"),
    [
        ("money.price_of_delay_usd_per_day", Uncertain("pert", 0.0, 5000.0, 20000.0), "$0 per day to $20,000 per day, most likely $5,000 per day"),
        ("money.discount_rate_per_year", 0.08, f"8{NBSP}%"),
        ("money.discount_rate_per_year", Uncertain.of({"low": 0.05, "high": 0.1}), f"5{NBSP}% to 10{NBSP}%"),
        ("money.gpu_hour_value", 3.0, "$3 per GPU-hour"),
        ("money.gpu_hour_value", "amortised", "amortised"),
        ("money.gpu_hour_value", Reference("price", "gpu-hour-h100-on-demand"), "what price:gpu-hour-h100-on-demand says"),
        ("workload.model_parameters_billion", 70.0, f"70{NBSP}billion"),
        ("workload.parallelism", Parallelism(tp=8, pp=4, dp=32), "tp 8, pp 4, dp 32, ep 1, cp 1"),
        ("workload.latency_variance_bound", True, "yes"),
        ("cluster.trajectory", ITEMS["cluster.trajectory"], f"2,048{NBSP}GPUs from month 24 on; 4,096{NBSP}GPUs from month 36 on"),
        ("cluster.trajectory", (), "none: the cluster keeps its size"),
        ("cluster.nic_ports_per_node", None, "8"),
        ("cluster.link_gbits_per_s", 400, f"400{NBSP}Gb/s"),
        ("providers", ITEMS["providers"], "CoreWeave; Other"),
        ("offers", ITEMS["offers"], "Example Cloud of 2026-11-12; offers/b.yaml"),
        ("overrides", ITEMS["overrides"], "price:switch-qm9700 is 1 to 3, most likely 2, by Me, until 2027-01-31"),
        ("seed", 20261120, "20261120"),
    ],
)  # fmt: skip
def test_known_texts(key: str, value: Any, text: str) -> None:
    assert param_record(holding(key, value), key)["text"].replace(f"per{NBSP}", "per ") == text


@given(
    st.sampled_from(sorted(k for k, f in LEAVES.items() if any(isinstance(m, Bounds) for m in f.metadata))), st.data()
)
def test_the_number_that_stands_for_a_range_lies_in_it(key: str, data: Any) -> None:
    low = data.draw(st.floats(1e-6, 1e9))
    high = low * data.draw(st.floats(1.001, 1e3))
    mode = low + (high - low) * data.draw(st.floats(0, 1))
    value = data.draw(st.sampled_from(drawn_between(low, min(mode, high), high)))
    assert low <= param_record(holding(key, value), key)["value"] <= high


def test_a_price_names_the_day_of_its_row_and_no_day_on_which_it_was_read(tmp_path: Path) -> None:
    head = "item,unit,price,low,high,currency,date,expiry,source,grade\n"
    (tmp_path / "a.csv").write_text(head + "widget,each,9,,,USD,2027-03-01,,A list,quote\n", encoding="utf-8")
    price = PriceBook.read(tmp_path).at(date(2027, 4, 1))["widget"]
    record = price_record(price)
    assert (record["date"], record["read"]) == ("2027-03-01", "")
    sources = SourceBook({record["id"]: record})
    assert sources.number(record["id"]) == 1
    (listed,) = sources.listed()
    assert (listed.dates, listed.read) == (("2027-03-01",), "")
