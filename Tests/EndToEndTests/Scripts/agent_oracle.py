"""The scenario 'oracle' of agent.py: a right guess of a part of a secret gets the same answers as a wrong guess."""

import json
import re

from agent_client import Agent, check, entry, session

HEADER, PASSWORD, QUERY, COOKIE = "Qz7Xv9Kw4Jq2Zx8Vy3Gh", "Wv5Zq8Xj3Kz7Gy2Vx9Qw", "Xk9Vz4Qj7Wy2Gx5Kq8Zv", "Jx3Qv8Zk5Gw9Xy4Wz7Qk"
# A secret, and filters with which parts of it could be guessed: from its beginning, and anywhere in a text.
BEGINNINGS = [
    (HEADER, ["req.header.authorization:Bearer?{}*", "req.header.authorization:/^Bearer.{}/", "path:/u/{}*", "req.path:/u/{}*",
              "sent.req.header.authorization:Bearer?{}*", "not path:/u/{}*", "url:/u/{}", "method:POST path:/u/{}* status:200",
              "reqheader:\"Authorization: Bearer {}\"", "header:\"Authorization: Bearer {}\"", "req.json.note:{}*"]),
    (PASSWORD, ["res.json.password:{}*", "res.json.password:/^{}/", "req.json.password:{}*", "sent.res.json.password:{}*",
                "body:\\\"{}", "resbody:/\"{}/"]),
    (QUERY, ["query:token={}", "req.query.token:{}*", "req.url:*token={}*", "url:token={}", "(query:token={} or status:999)"]),
    (COOKIE, ["req.cookie.sid:{}*", "req.header.cookie:sid={}*", "header:\"Cookie: sid={}\""]),
]
PARTS = [
    (HEADER, ["{}", "url:{}", "req.header.authorization:*{}*", "reqbody:{}", "body:/{}/", "req.body:*{}*"]),
    (PASSWORD, ["body:{}", "resbody:{}", "res.body:*{}*"]), (QUERY, ["query:{}", "not {}"]), (COOKIE, ["header:\"Cookie: {}\""]),
]
# Rules that act, or act differently, if they see the secret that a guess is for.
RULES = [
    (HEADER, "block: [ {{ at: \"http://api.example.com/*\", when: 'req.header.authorization:*{}*' }} ]"),
    (HEADER, "block: [ {{ at: \"http://api.example.com/u/{}*\" }} ]"),
    (HEADER, "block: [ {{ at: \"http://api.example.com/*\", except: [ \"http://api.example.com/u/{}*\" ] }} ]"),
    (HEADER, "rewrite: [ {{ at: \"*\", rules: [ {{ modify: header, name: authorization, on: request, match: \"{}\", to: hit }} ] }} ]"),
    (HEADER, "rewrite: [ {{ at: \"http://*/*\", rules: [ {{ modify: path, match: \"/{}/\", to: /hit }} ] }} ]"),
    (PASSWORD, "rewrite: [ {{ at: \"http://*/*\", rules: [ {{ modify: body, on: response, match: \"{}\", to: hit }} ] }} ]"),
    (PASSWORD, "rewrite: [ {{ at: \"http://*/*\", when: \"reqbody:{}\", rules: [ {{ add: req.header.x, to: hit }} ] }} ]"),
    (QUERY, "block: [ {{ at: \"http://api.example.com/*?token={}*\" }} ]"),
    (QUERY, "rewrite: [ {{ at: \"http://*/*\", rules: [ {{ remove: query, name: token, match: \"{}\" }} ] }} ]"),
    (QUERY, "map-remote: [ {{ from: \"http://*/*?token={}*\", to: \"http://127.0.0.1/\" }} ]"),
    (QUERY, "map-local: [ {{ from: \"http://*/*\", when: \"url:{}\", answer: {{ body: hit }} }} ]"),
    (COOKIE, "block-cookies: [ {{ only: \"http://api.example.com/*\", when: 'req.cookie.sid:*{}*' }} ]"),
    (COOKIE, "breakpoints: [ {{ at: \"http://api.example.com/*\", on: request, when: 'reqheader:\"Cookie: sid={}\"' }} ]"),
]


def mistaken(guess):
    """A guess of the same length that is in no secret: its last character is different."""
    for letter in "qzxvkw":
        candidate = guess[:-1] + letter.upper()
        if not any(candidate.lower() in secret.lower() for secret in (HEADER, PASSWORD, QUERY, COOKIE)):
            return candidate
    # Single letters are guessed only at the beginning of a secret.
    return guess[:-1] + ("K" if guess[-1].lower() != "k" else "V")


def neutral(result, guess, sent):
    """A result without the guess itself, and without the numbers of placeholders."""
    text = json.dumps(result).replace(json.dumps(sent)[1:-1], "SENT")
    if len(guess) > 2:
        text = re.sub(re.escape(guess), "GUESS", text, flags=re.IGNORECASE)
    return re.sub(r"sluice-([a-z-]+)-[0-9a-f]+", r"sluice-\1-N", text)


async def oracle():
    api = "http://api.example.com"
    guessed = [HEADER[:10] + letters * 10 for letters in "ab"] + ["b" * 20]
    path = session(
        entry(f"{api}/u/{HEADER}/x?token={QUERY}", body=json.dumps({"user": "ann", "password": PASSWORD}), kind="application/json",
              request=[("Authorization", "Bearer " + HEADER), ("Cookie", "sid=" + COOKIE), ("X-Tenant", "acme")],
              posted=json.dumps({"password": PASSWORD, "note": HEADER})),
        *(entry(f"{api}/other", status=404, body="{}", kind="application/json", request=[("Authorization", "Bearer " + value)])
          for value in guessed),
    )
    async with Agent("oracle", path) as agent:
        agent.secrets += [HEADER, PASSWORD, QUERY, COOKIE]
        # Filters do work: on public values, and on placeholders.
        for term, expected in (("req.header.x-tenant:ac*", [1]), ("req.header.x-tenant:zz*", []), ("body:ann", [1]),
                               ("req.header.authorization:*sluice-token-*", [4, 3, 2, 1]), ("path:/u/sluice-token-*", [1])):
            rows = (await agent.call("list", filter=term))["exchanges"]
            check([row["number"] for row in rows] == expected, f"{term} finds {rows}")
        shown, _ = await agent.pages("show", number=1)
        check(shown.count("sluice-") >= 5, f"the report is not masked: {shown}")

        async def compare(tool, guess, template, key, **more):
            results = []
            for one in (guess, mistaken(guess)):
                text = template.format(one)
                result, code = await agent.result(tool, {key: text, **more})
                # Other tools may refuse a rule or filter that could find out a secret; then they refuse each guess.
                check(code is None and not (tool == "list" and result.get("isError")), f"{tool} {text}: {code} {result['content']}")
                results.append(neutral(result, one, text))
            check(results[0] == results[1], f"{tool} tells {template!r} with {guess} from a wrong guess: {results}")

        for secret, templates in BEGINNINGS:
            for template in templates:
                for length in (1, 2, 19):
                    await compare("list", secret[:length], template, "filter")
        for secret, templates in PARTS:
            for template in templates:
                for guess in (secret[:3], secret[7:11], secret[1:20]):
                    await compare("list", guess, template, "filter")
        for secret, rules in RULES:
            for guess in (secret[:4], secret[:19]):
                await compare("try_rule", guess, "version: 1\n" + rules + "\n", "profile")
        for tool, more in (("stats", {"by": "host"}), ("export", {"format": "har"}), ("wait", {"after": 0, "seconds": 1}),
                           ("try_rule", {"profile": "version: 1\nblock: [ { at: \"http://*/*\" } ]\n"})):
            for secret, template in ((HEADER, "req.header.authorization:*{}*"), (PASSWORD, "res.json.password:{}*"), (QUERY, "url:{}")):
                await compare(tool, secret[:4], template, "filter", **more)
        # Whether two placeholders are taken for identifiers depends on their digits, which are of this run.
        near = []
        for number in (2, 3, 4):
            text = (await agent.call("diff", first=1, second=number))["untrusted"].split("Ignored:")[0]
            near.append(neutral(text, "", "\0"))
        check(len({re.sub(r"\b[234]\b", "N", one) for one in near}) == 1, f"diff tells guesses apart: {near}")
