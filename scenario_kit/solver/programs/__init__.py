"""Solvers that are programs: started apart from this machine, asked by lines, ended whatever happens."""
