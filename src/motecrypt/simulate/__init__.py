"""Runs firmware: drivers of simulators, boards, profiles, virtual ports."""
