"""What may be found of a decision, named: prose cells ask `when=finding.opens_clear`."""

from __future__ import annotations

from enum import StrEnum


class DecisionFinding(StrEnum):
    """What may be true of a decision; those of one group exclude each other."""

    # what is offered
    BIDS = "a buyer: sellers quote the pieces of an option"
    # the date
    UNDATED = "no date was stated"
    TOO_LATE = "the course advised is not likely to meet the date stated, nor is either of two networks that is ordered at once"
    TOO_LATE_ALONE = "it is not, and no two networks are held against each other"
    LATE_BY_ASKING = "it is not, for it asks first: one of the two, ordered at once, is"
    LATE_CHOICE = "it is not, and the one of the two not advised is"
    LATE_RENT = "machines that are rented first would meet it"
    LATE_MOVE = "nor would they"
    LATE_BUT_FOR_LEAD = "it hangs on a lead time that is assumed"
    LEAD_ASSUMED = "what the course advised waits for is delivered when we assume it is"
    # the advice
    TAKE = "take the choice, as it stands"
    SETTLE_FIRST = "take the choice once the figures named are settled"
    ASK_BOTH = "ask for offers on both"
    ON_PRICE = "take whichever offer is better"
    TAKE_SMALL = "so few GPUs: take what costs least"
    SIGN_STAGE_ONE = "take the choice, and sign for the first stage alone"
    SETTLE_STAGE_ONE = "the same, once the figures named are settled"
    OFFERS_FIRST = "ask for offers on both before choosing"
    PILOT_FIRST = "run a pilot on both before choosing"
    OFFERS_SHOW = "offers on both are asked for, and what they show is worth more than its noise"
    PILOT_SHOWS = "a pilot is run, and what it shows is"
    ORDER_AHEAD = "take the choice, and order the fabric of every stage now"
    SINGLE_NODES = "keep each job within a node"
    RENT_FIRST = "rent first, for its cost"
    RENT_FIRST_LATE = "rent first, for the date"
    DATE_DEAR = "what would meet the date costs more than being late"
    DELAY_DEAR = "so it does, and a price of delay is stated"
    # why
    NEAR_BY_DATE = "a close lead, decided by the date"
    NEAR_BY_STATED = "a close lead, decided by something else that the client stated"
    ALSO_TIED = "more options than the two compared tie with the choice, which is advised"
    TIE_SETTLED = "and what the client stated prefers the choice to one of its own side that costs less"
    BARRED = "a requirement of contract takes options out of the advice"
    # courses of action
    COURSES = "courses beside taking an option are priced"
    HALLS_ASSUMED = "and links between halls are, of an assumed length or rate"
    COURSES_PLAIN = "and none takes the place of the plain one"
    COURSES_INVOLVED = "and one takes the place of the plain one"
    STAGES_PRICED = "a plan in stages is priced to the end of each"
    NOT_TAKEN = "jobs within nodes are advised: the courses with a network between them are what was not taken"
    # cash and time
    TURNS_DRAWN = "uncertain inputs turn the advice or the order of the two compared"
    # the framework
    MONEY_AND_FRAMEWORK_PART = "the framework leans away from an advice that money or the client decided"
    # what would change the answer
    # what nobody publishes a price for
    QUOTE_TURNS = "a quote of such an item can turn the money"
    ANSWERS_TURNED = "the answers of sellers change what is advised"
    # what to read with care
    JUDGES_MISSED = "experts were asked, and all missed the known answers by more than chance explains"
    LISTING_TURNS = "without the choice, whose switch has one listed price, another fabric is advised"
    OLDER_GPU = "the GPUs that are bought are of an older generation than their maker has on sale"
    GENERATION_TURNS = "a clear lead that the other side has in one generation"
    LATER = "equipment is bought later than prices hold"
    STALE = "prices used are past their shelf life"
    STOOD_IN = "the price files lack an item that the package's own price stands in for"
    # what to do before signing
    MONDAY_LISTED = "there is something to do before signing"
    MONDAY_MORE = "and more than page one has room for"
    # the annex
    OPTIONS_TOLD = "a network is advised, or neither of two: jobs within nodes are not"
    LIMIT_STATED = "the client states the amount below which a lead is close"
    LIMIT_RULED = "the client does not, and the rule sets it"
    FEW_GPUS = "the client plans so few GPUs that the rule of size comes near"
    ASSUMED = "keys were left out"
    # reasons beyond money
    BEYOND_STATED = "the client orders what counts beyond money, and one option comes first by that order"
