collect_ignore = ["transforms", "models", "benchmarks"]
