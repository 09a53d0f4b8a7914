"""The parts of test/corpus/evaluate."""
