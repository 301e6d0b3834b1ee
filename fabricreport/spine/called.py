"""Options as a memo's body calls them: each by the phrase that tells it from the others where two are weighed."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.books.names import Names, option_names
from fabricreport.findings import Listing, Name, Named, OptionName, Phrase
from fabricreport.inputs import Inputs


def body_names(given: Inputs, choice: str, rival: str) -> Mapping[str, Names]:
    """The names of every option, compared or not, in a body that weighs these two."""
    return option_names(given.options, choice, rival, tuple(given.all_options.values()))


def called(names: Mapping[str, Names], value: object) -> object:
    """A word of the body: options by their phrases, also those within a name; one alone keeps its whole name as `full`."""
    if isinstance(value, tuple | list):
        return type(value)(called(names, one) for one in value)
    if isinstance(value, Listing) or not isinstance(value, Name):
        return value
    if not isinstance(value, Named):
        alone = value.parts[0] if len(value.parts) == 1 else None
        return called(names, alone) if isinstance(alone, OptionName) else Name(text_called(names, value))
    said = {what: called(names, one) for what, one in value.said.items()}
    if isinstance(value, OptionName):
        return Phrase(names[value.key].phrase, value.key, **{**said, "full": Name(names[value.key].name)})
    return type(value)(text_called(names, value), value.key, **said)


def text_called(names: Mapping[str, Names], text: str) -> str:
    """A text with the options that it is made of by their phrases."""
    if isinstance(text, OptionName):
        return names[text.key].phrase
    return "".join(text_called(names, part) for part in text.parts) if isinstance(text, Name) else text
