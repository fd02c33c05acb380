"""The exam: experiments with analytic truths, for every formulation and for the engines that people use"""
