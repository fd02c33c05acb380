"""Scenes: systems whose contacts come and go, such as models of robots"""
