"""How long a week, a month and a year are, once for every model, section and chart.

A year is 365.25 days: leap years are counted, because the incident rates of the evidence are per calendar year and a
horizon of 48 months holds a leap day. A month is a twelfth of it, so that 12 months are a year to the last digit in
hours, in days and in money. An article that reckons with years of 8,760 hours states that in its own claim.
"""

from __future__ import annotations

HOURS_PER_DAY = 24.0
DAYS_PER_WEEK = 7.0
MONTHS_PER_YEAR = 12
DAYS_PER_YEAR = 365.25

SECONDS_PER_HOUR = 3600.0
SECONDS_PER_DAY = SECONDS_PER_HOUR * HOURS_PER_DAY
HOURS_PER_WEEK = HOURS_PER_DAY * DAYS_PER_WEEK
HOURS_PER_YEAR = HOURS_PER_DAY * DAYS_PER_YEAR
HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR
DAYS_PER_MONTH = DAYS_PER_YEAR / MONTHS_PER_YEAR
