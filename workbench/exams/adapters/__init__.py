"""Adapters of engines, one a file, each run by a Python of its own (`workbench.exams.protocol`)"""
