"""Exports a session as compressed lines of JSON, and asks DuckDB the questions of the guide's page `json`.

    duckdb_queries.py SLUICE DIRECTORY PAGE

Prints a line for each thing that is wrong, and nothing where all is right.
"""

import gzip
import json
import os
import re
import subprocess
import sys

import duckdb

SLUICE, DIRECTORY, PAGE = sys.argv[1:4]


def run(*arguments):
    done = subprocess.run([SLUICE, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{arguments} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def check(holds, text):
    if not holds:
        print(text)


os.environ["HOME"] = DIRECTORY
os.chdir(DIRECTORY)
run("demo", "--plain", "--session", "demo.sluice")
run("export", "demo.sluice", "--body-limit", "64kb", "-o", "all.jsonl.zst")
for name in ("whole.jsonl", "whole.jsonl.gz", "limited.json"):
    run("export", "demo.sluice", *(["--body-limit", "10"] if name == "limited.json" else []), "-o", name)

whole = [json.loads(line) for line in open("whole.jsonl")]
check([json.loads(line) for line in gzip.open("whole.jsonl.gz", "rt")] == whole, "gzip changed the lines")
check(duckdb.sql("SELECT count(*) FROM 'all.jsonl.zst'").fetchall() == [(len(whole),)], "DuckDB misses lines")
bodies = [entry["response"]["body"] for entry in json.load(open("limited.json")) if "body" in entry["response"]]
check(bodies and all(len(body["text"]) <= 16 for body in bodies), "--body-limit 10 left more of a body")
check(any(body["decodedSize"] > 10 and "beginning" in body["comment"] for body in bodies), "no body says that it was cut")

queries = re.findall(r"^```sql\n(.*?)^```$", open(PAGE).read(), re.MULTILINE | re.DOTALL)
check(len(queries) == 3, f"the page has {len(queries)} queries")
slowest, failures, hosts = (duckdb.sql(query).fetchall() for query in queries)

http = [entry for entry in whole if entry["kind"] == "http"]
calls = {}
for entry in http:
    key = (entry["method"], entry["url"].split("?")[0])
    calls[key] = calls.get(key, 0) + 1
check(len(slowest) == min(10, len(calls)), f"the slowest endpoints: {slowest}")
check(all(calls[method, endpoint] == count for method, endpoint, count, _ in slowest), f"other counts: {slowest}")
check(all(a[3] >= b[3] for a, b in zip(slowest, slowest[1:])), f"not by their time: {slowest}")
failed = [entry for entry in whole if entry["status"] >= 500]
check(failed and [row[0] for row in failures] == [entry["id"] for entry in failed], f"other failures: {failures}")
check([row[5] for row in failures] == [entry["response"].get("body", {}).get("text") for entry in failed],
      f"other answers: {failures}")
totals = {}
for entry in whole:
    for header in entry["request"].get("received", {}).get("headers", []):
        if header["name"].lower() == "host":
            totals[header["value"]] = totals.get(header["value"], 0) + entry["sizes"]["responseWire"]
check({row[0]: row[2] for row in hosts} == totals, f"other hosts: {hosts}")
