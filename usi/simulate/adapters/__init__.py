"""Adapters: a candidate of ours as the user inside other benchmarks."""
