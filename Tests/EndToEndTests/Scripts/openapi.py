"""Checks a description of an API against OpenAPI's own schema, and the bodies of a HAR against the description."""
import base64
import json
import re
import sys

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

with open(sys.argv[1]) as file:
    api = json.load(file)
problems = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in OpenAPIV31SpecValidator(api).iter_errors()]

with open(sys.argv[2]) as file:
    entries = json.load(file)["log"]["entries"]


def template(path):
    for known in api["paths"]:
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(known))
        if re.fullmatch(pattern, path):
            return known
    return None


checked = 0
for entry in entries:
    request, response = entry["request"], entry["response"]
    path = re.sub(r"^https?://[^/]+", "", request["url"]).split("?")[0]
    known = template(path)
    if known is None:
        problems.append(f"no path for {path}")
        continue
    operation = api["paths"][known].get(request["method"].lower())
    if operation is None:
        problems.append(f"no {request['method']} of {known}")
        continue
    content = response["content"]
    kind = content["mimeType"].split(";")[0]
    described = operation["responses"][str(response["status"])].get("content", {}).get(kind, {})
    if kind == "application/json" and content.get("text"):
        text = content["text"]
        if content.get("encoding") == "base64":
            text = base64.b64decode(text)
        for error in Draft202012Validator(described["schema"]).iter_errors(json.loads(text)):
            problems.append(f"{request['url']}: {error.message}")
        checked += 1
print(json.dumps({"problems": problems, "checked": checked, "paths": sorted(api["paths"])}))
