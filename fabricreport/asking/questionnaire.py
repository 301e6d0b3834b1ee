"""The questionnaire for one seller of one client: the questions it should put, and what it asks for."""

from __future__ import annotations

from fabricreport.books.families import families
from fabricreport.books.gpus import gpu_types
from fabricreport.books.providers import read_providers
from fabricreport.books.questionnaire.form import Questionnaire, in_groups, provider_name, wording
from fabricreport.case import Case
from fabricreport.inputs import Inputs
from fabricreport.sections.client import stages_of
from fabricreport.sections.diligence.study import asked, nodes_of


def questionnaire_of(case: Case, provider: str) -> Questionnaire:
    """The questions this client puts, for a seller of any name; `InputError` for a name that is none."""
    name = provider_name(provider)
    fabrics = (
        *(option.id for option in case.options),
        *(f for f in families() if f not in {o.id for o in case.options}),
    )
    questions = in_groups(asked(case.inputs, read_providers(), joins_nodes=case.decision().joins_nodes))
    return Questionnaire(name, _cluster(case.inputs), fabrics, questions)


def _cluster(given: Inputs) -> str:
    """What is asked for, in words."""
    words, cluster = wording(), given.params.cluster
    text = words.cluster.format(
        gpus=f"{cluster.gpus:,}",
        gpu=gpu_types().of(str(cluster.gpu)).name,
        nodes=f"{nodes_of(given):,}",
        links=cluster.links_per_gpu,
        rate=f"{cluster.link_gbits_per_s:g}",
    )
    later = [words.stage.format(gpus=f"{gpus:,}", month=month) for month, gpus in stages_of(given)[1:]]
    return text + (words.stages.format(stages=", ".join(later)) if later else "")
