"""A live incident on a cluster: started, handed over, judged and cleaned up."""
