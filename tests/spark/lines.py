"""Which cases a line of Spark cannot express, and why. Nothing else is left out; docs/compatibility.md has this list."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """cases: a regular expression over ids such as `types::types[variant-pack]`; lines: those that cannot express them."""

    cases: str
    lines: tuple[str, ...]
    reason: str


_3 = ("3.4", "3.5")
_BEFORE_41 = (*_3, "4.0")

MISSING = (
    Missing(r"types::types\[(array_)?variant\b.*", _3, "no type variant"),
    Missing(r"types::types\[collated.*", _3, "no collations"),
    Missing(r"types::types\[time\b.*", _BEFORE_41, "no type time"),
    Missing(r"types::geospatial.*", _BEFORE_41, "no types geometry and geography"),
    Missing(r"fields::large_variants_in_a_small_heap.*", _3, "no type variant"),
    Missing(r"predicates::collated_strings.*", _3, "no collations"),
)


def reason(case_id: str, line: str) -> str | None:
    """Why a line cannot express a case; None if it can."""
    return next((m.reason for m in MISSING if line in m.lines and re.fullmatch(m.cases, case_id)), None)
