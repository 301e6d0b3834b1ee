"""Every rule by which a well-formed params file is refused: what is physically or contractually contradictory.

A file that breaks none of these, whose keys are known and whose figures lie within their bounds, builds. What is
merely unlikely is a caution and never stands here. `fabricreport check --rules` prints the list.
"""

from __future__ import annotations

from collections.abc import Mapping

REFUSALS: Mapping[str, str] = {
    "memo-date": "No price or source is dated outside these years, so nothing could be said as of such a day.",
    "production-before-memo": "Production cannot be due before anything is ordered.",
    "reserved-slug": "The folder of that name is used by the program itself, or no file system takes it.",
    "folder-of-others": "Quotes and answers of one client lie in a folder of its own, so no book's folder may be it.",
    "stages-out-of-order": "A later size of the cluster cannot stand before an earlier one.",
    "cluster-shrinks": "The models buy what a stage adds; a cluster that shrinks has no bill to add up.",
    "stage-beyond-horizon": "Costs are counted to the end of the horizon, and a stage after it would cost nothing.",
    "part-of-a-node": "Servers are bought whole, so beyond one server the GPUs are a multiple of those in one.",
    "more-sites-than-servers": "A site of the cluster holds at least one of its servers.",
    "too-few-ports": "A server cannot have more links than ports.",
    "maker-of-the-gpu": "Each GPU type has one maker.",
    "plan-does-not-multiply": "Every GPU has exactly one place in a parallel plan.",
    "experts-do-not-divide": "Expert ranks are taken from the other ranks and must divide them.",
    "jobs-do-not-sum": "The GPU time of a cluster is spent in jobs of some size, so the shares make up the whole.",
    "job-beyond-site": "A job that spans sites needs a network that joins them.",
    "sites-apart-cut-the-job": "A job that finds no room within a site is not made smaller in silence.",
    "links-of-no-sites": "Without sites that are joined there is no link between them.",
    "sites-beyond-links": "A site sends the others no more than the links of its GPUs carry.",
    "plan-does-not-divide-jobs": "A stated plan is run on every job with whole replicas, more or fewer of them.",
    "profile-of-no-simulation": "What a profile of a simulation says moves nothing where no simulation runs.",
    "method-of-no-fine-tuning": "How a model is fine-tuned moves nothing where none is.",
    "rented-servers-used": "Whoever rents pays for hours, whatever the age of the servers.",
    "office-of-others": "A cluster that others host does not stand in an office of the client.",
    "no-weight": "Weights are read as ratios, and no ratio can be formed of zeros alone.",
    "nothing-to-compare": "A decision between fabrics needs two of them, unless there is no fabric to choose.",
    "question-of-others": "Whoever rents has sellers to choose between, and whoever buys a network to choose.",
    "operations-of-others": "Whoever rents has nobody to pay but the provider for running the network.",
    "nothing-grows": "A plan of stages needs a second size.",
    "option-of-other-gpus": "An option is sold with the GPUs of some makers only, and its adapter fits no others.",
    "given-twice": "Two statements on the same thing cannot both hold.",
    "override-expired": "Whoever vouched for the figure did so only until that day.",
    "override-of-itself": "A figure cannot be replaced by a reference to itself.",
    "override-moves-nothing": "Whoever vouches for a figure expects it to count, and nothing in the memo rests on this one.",
    "elicited-moves-nothing": "Whoever was asked expects the answers to count, and nothing in the memo rests on these.",
    "elicited-and-overridden": "An entry that experts judged and the client replaced would have two figures.",
    "offer-after-memo": "What is offered after the memo's day is not known on it.",
    "offer-ends-before-it-begins": "A seller is bound from the day of the offer to its last day.",
    "offer-after-horizon": "What begins after the months over which costs are counted does none of their work.",
    "offer-of-other-gpus": "An offer of other GPUs is an offer for other work.",
    "offer-too-small": "GPUs in two places are joined by no fabric, so an offer is for all of them.",
    "offer-of-another-trade": "Who rents pays for hours and who buys pays for pieces; no bill adds up both.",
    "offer-without-price": "What costs nothing that anybody states cannot be compared.",
    "offer-of-no-option": "What a network loses is worked out for the options compared, and for no other.",
    "dragonfly-has-no-taper": "A dragonfly has no leaf-to-spine ratio to state: its balanced form fixes every link.",
    "switches-cannot-connect": "Three tiers of a switch connect no more links than its ports allow.",
    "partner-rule-leaves-too-few": "A decision needs two options that NVIDIA's requirement on its cloud partners allows.",
    "model-does-not-fit": "Weights, in the fewest bits anybody uses, must find room in the memory of all the GPUs.",
}
"""Rule -> why, in one sentence."""
