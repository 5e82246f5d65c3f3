"""What a cluster asks of the operator beside its work: is it alive, is it ready, how much does it do."""
