"""Prints the variables that Sceptre makes of arguments: oracle.py [--var-file FILE | --var NAME=VALUE]..."""
import json, sys

from sceptre.cli.helpers import setup_vars

files, variables = [], []
for kind, value in zip(sys.argv[1::2], sys.argv[2::2]):
    if kind == "--var-file":
        files.append(open(value, "rb"))
    else:
        variables.append(value)
print(json.dumps(setup_vars(files, variables, False, False, True), sort_keys=True))
