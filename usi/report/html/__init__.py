"""The report as one self-contained page: verdict, reasons, evidence, gaps, doubts."""

from usi.report.html.page import render

__all__ = ["render"]
