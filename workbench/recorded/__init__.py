"""Formulations held against recorded motions: which predicts best, and whether the difference is beyond the noise"""
