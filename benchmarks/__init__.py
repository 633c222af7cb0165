"""How fast the kernels are beside C, plain Python and a linear programming solver."""
