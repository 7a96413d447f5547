"""Code that means harm, and all that happens to a grader: `make test-classroom` runs these tests, `make test` does not.

They fill memory and disk, start processes without end and keep every core busy, for minutes. Nobody who wants to see
numbers computed again has asked for that on their own machine. `.ci/run` runs them before each change is taken.
"""
