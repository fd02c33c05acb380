"""The experiments, one a file, each listed here"""

from workbench.exams.experiments import balance, bounce, groove, lift, rolling, slope, spin, stack, stopping, yaw

EXPERIMENTS = {
    x.EXPERIMENT.name: x.EXPERIMENT for x in (slope, stopping, yaw, lift, rolling, spin, groove, stack, bounce, balance)
}
"""In the order of the page."""
VERSION = "1"
"""Of the exam: it changes with every trial, truth or bound, so that results can be cited."""
