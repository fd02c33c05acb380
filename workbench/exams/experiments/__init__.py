"""The experiments, one per file, each listed here"""

from workbench.exams.experiments import (
    balance,
    bounce,
    chain,
    conveyor,
    groove,
    halving,
    lift,
    painleve,
    rest,
    rolling,
    slope,
    spin,
    stack,
    stopping,
    wedge,
    yaw,
)

EXPERIMENTS = {
    x.EXPERIMENT.name: x.EXPERIMENT
    for x in (
        rest, slope, conveyor, stopping, yaw, lift, rolling, spin, groove, wedge, stack, bounce, chain, painleve,
        halving, balance,
    )
}  # fmt: skip
"""Experiments in the order of the page."""
VERSION = "2"
"""Version of the exam: it changes with every trial, truth or bound, so that results can be cited."""
