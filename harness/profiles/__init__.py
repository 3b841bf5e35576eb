"""Frozen named sets of clauses and scenarios: what a loop is held to does not change by an upgrade.

A profile is a file, `core-1.yaml`, that is never changed: `frozen.yaml` holds its digest. What it leaves out
stands there with the reason. Later clauses wait for the next number (`python -m harness.profiles core`).
"""
