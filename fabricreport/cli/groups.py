"""The commands by what somebody wants to do: how `fabricreport --help` lists them, each with one line."""

from __future__ import annotations

import click

GROUPS = {
    "Make and send a memo": {
        "new": "Begin a client's params, a section of its own, or a project",
        "check": "Read all that a build would, and tell every fault at once",
        "build": "Make the memo of each params file",
        "preview": "Show the memo in the browser, again at every save",
        "what-if": "Vary keys and prices, and read what each answer costs",
        "adopt": "Sign for a number that was changed in a notebook",
        "sign": "Say who stands for an edition",
    },
    "Ask, and file the answers": {
        "quotes": "Forms on which sellers quote, and what they answer",
        "questionnaire": "The questions to a seller, as a form to fill in",
        "answers": "Check and file a filled questionnaire",
        "elicit": "Ask an expert for what nobody has published",
        "prices": "Show, check and import prices; settle held ones",
    },
    "Watch and explain": {
        "refresh": "Build again where advice or numbers moved, and say why",
        "list": "The editions and what changed since, or a client's history",
        "diff": "What changed from one edition to another, and why",
        "explain": "From a number to its sources",
        "evidence": "What the numbers rest on, and which assumptions carry them",
        "report": "Make the evidence report: what is the same for everybody",
    },
    "Hold sellers to it, and us": {
        "trace": "From a question to its answer, clause, tests and result",
        "accept": "Judge the logs of a delivery against the plan",
        "measure": "Read benchmark logs: curves and findings",
        "validate": "Our models beside what others measured and paid",
    },
}
"""Every command once, by the title of its group."""


class Grouped(click.Group):
    """A group of commands that are listed by `GROUPS`."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One section for each group."""
        width = max(map(len, self.commands))
        for title, lines in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in lines.items()])
