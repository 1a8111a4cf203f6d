"""A verdict as JUnit XML, as CI systems show it.

One suite ``usi`` a simulator; PASS is a passed case, FAIL a ``<failure>``, INCONCLUSIVE a
``<skipped>`` (a ``<failure>`` where the criteria count it as one).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from usi.decisions.verdict import Check, SimulatorVerdict, Verdict

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""Replace what XML 1.0 can't hold by its escape.

    >>> xml_text("a\x00b")
    'a\\x00b'
    """
    return _NOT_XML.sub(
        lambda found: found.group().encode("unicode_escape", "surrogatepass").decode("ascii"), text
    )


def render(verdict: Verdict) -> str:
    """JUnit XML text of a verdict; identical verdicts give identical bytes."""
    from junitparser import JUnitXml

    document = JUnitXml("usi")
    for part in verdict.simulators:
        document.add_testsuite(_suite(verdict, part))
    document.update_statistics()  # type: ignore[no-untyped-call]
    for element in document._elem.iter():
        element.attrib.pop("time", None)  # nothing here takes time, and bytes must not change
    data: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f"<!-- written by usi {verdict.usi_version} -->\n{data.decode('utf-8')}\n"
    )


def _suite(verdict: Verdict, part: SimulatorVerdict) -> TestSuite:
    from junitparser import TestSuite

    suite = TestSuite(xml_text(f"usi.{part.name}"))
    for name, value in (
        ("verdict", part.verdict),
        ("exit_code", str(verdict.exit_code)),
        ("signature", part.signature),
        ("profile", verdict.profile),
        ("criteria", verdict.criteria_label),
        ("criteria_fingerprint", verdict.criteria_fingerprint),
        ("synthetic", str(verdict.synthetic).lower()),
        ("as_of", verdict.as_of or ""),
        ("expires", verdict.expires or ""),
        ("unverified", "; ".join(reason.text for reason in verdict.unverified)),
    ):
        if value:
            suite.add_property(name, xml_text(value))
    for check in part.checks:
        suite.add_testcase(_case(verdict, part, check))
    return suite


def _case(verdict: Verdict, part: SimulatorVerdict, check: Check) -> TestCase:
    from junitparser import Failure, Skipped, TestCase

    case = TestCase(xml_text(check.rule), classname=xml_text(f"usi.{part.name}.{check.id}"))
    message = xml_text(check.message)
    open_fails = verdict.criteria.get("on_inconclusive") == "fail"
    if check.state == "fail" or (check.state == "inconclusive" and open_fails):
        kind = "usi.FAIL" if check.state == "fail" else "usi.INCONCLUSIVE"
        failure = Failure(message, kind)
        failure.text = message
        case.result = [failure]
    elif check.state == "inconclusive":
        case.result = [Skipped(f"INCONCLUSIVE: {message}")]
    elif check.state == "not_asked":
        case.result = [Skipped(f"not asked: {message}")]
    else:
        case.system_out = message
    return case
