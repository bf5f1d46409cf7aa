"""Writes the document of the API without the parameter fields, with which answers are not whole: whole.py <openapi.json"""
import json, sys

document = json.load(sys.stdin)
for operations in document["paths"].values():
    for operation in operations.values():
        parameters = operation.get("parameters", [])
        if not any(p["name"] == "fields" for p in parameters):
            continue
        operation["parameters"] = [p for p in parameters if p["name"] != "fields"]
        answer = operation["responses"]["200"]["content"]["application/json"]
        answer["schema"] = answer["schema"]["anyOf"][0]
json.dump(document, sys.stdout)
