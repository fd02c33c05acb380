"""Classes of matrices and solution sets of LCPs: verdicts with witnesses."""
