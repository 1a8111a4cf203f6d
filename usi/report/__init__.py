"""Scorecards as people read them: terminal table, Markdown, a plain page, files by suffix."""
