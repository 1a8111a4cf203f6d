"""The published User-Sim Index (arXiv 2603.11245), profile `tau-usi`."""
