"""Defects injected into scenarios, one module per family; the validator must catch each of them."""
