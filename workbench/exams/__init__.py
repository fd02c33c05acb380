"""The exam: experiments with analytic truths, for every formulation and for common physics engines"""
