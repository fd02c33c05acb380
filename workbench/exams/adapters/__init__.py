"""Adapters of engines, one per file, each run by a separate Python (`workbench.exams.protocol`)"""
