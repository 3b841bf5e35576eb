"""Mutants made by a tool: each small change of the code, and whether anything notices.

`python -m tests.mutation reference` changes the reference loop and plays scenarios to it; `python -m
tests.mutation checks` changes the checks, judges kept histories by them and runs their tests. cosmic-ray
makes the changes and keeps the session, so that a run can be stopped and taken up again. What it would do by
itself, one new process for each of some thousand changes, would take a day: here a process that has
everything imported forks, and the fork imports the changed module.
"""
