"""Figures of a report: one description each, drawn into the page and into files alike."""
