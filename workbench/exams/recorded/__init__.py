"""Comparison of formulations with recorded motions: which predicts best, and is the difference beyond the noise"""
