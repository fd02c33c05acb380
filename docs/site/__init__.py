"""What of the documentation's site is made from the code, and what is checked of it."""
