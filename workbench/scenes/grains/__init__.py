"""Grains: spheres of any sizes between walls"""
