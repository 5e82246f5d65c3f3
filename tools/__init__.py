"""Tools that ci/ runs: generators, experiments and measurements. Nothing in the product imports them."""
