"""Comparing on a scene: formulations and engines by body, up to where the reference itself is known"""
