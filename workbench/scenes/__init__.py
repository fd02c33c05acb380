"""Scenes: systems with a varying set of contacts, such as robot models"""
