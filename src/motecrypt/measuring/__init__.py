"""Benchmarks, experiments and audits: each result is measured once and stored."""
