"""One computation written in several ways, as different users write it; `python benchmarks/spellings` measures them."""
