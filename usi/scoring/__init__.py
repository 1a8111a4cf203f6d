"""score: session tables become scorecards, by a named and versioned profile.

The profiles stand in `usi.scoring.profiles`. The pieces of the published index (profile `tau-usi`,
arXiv 2603.11245) are `dice`, `calibration`, `survey`, `index` and `ceiling`, put together by
`tau_usi`; those of the profile `robust` stand in their own folder.
"""
