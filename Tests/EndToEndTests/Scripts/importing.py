"""Files of other programs and bundles: read by each command, brought into a session, and refused where they are bad.

usage: importing.py SLUICE DIRECTORY FIXTURES

Prints a line for each thing that is wrong; nothing where all is right.
"""

import json
import os
import stat
import subprocess
import zipfile

from sluice_story import directory, end, environment, further, sluice, temporary, wrong

fixtures = further[0]


def run(*arguments, status=0, text=None):
    done = subprocess.run(
        [sluice, *arguments], env=environment, input=text, capture_output=True, cwd=directory, timeout=60
    )
    out, errors = done.stdout.decode(), done.stderr.decode()
    if done.returncode != status:
        wrong(f"{arguments} ended with {done.returncode}, not {status}: {out[-300:]}{errors[-500:]}")
    left = [name for name in os.listdir(temporary) if name.startswith("sluice-")]
    if left:
        wrong(f"{arguments} leaves {left}")
    return out, errors


def entries(path):
    return json.loads(run("export", path, "--format", "har", "--secrets")[0])["log"]["entries"]


# Each file as it is, and in a session: the same exchanges.

expected = {
    "mitmproxy-11.0.2.flows": (6, "/chat", 101), "mitmproxy-10.1.6.flows": (6, "/chat", 101),
    "mitmproxy-9.0.1.flows": (6, "/chat", 101), "built-format-7.flows": (6, "/chat", 101),
    "built-session.chlsj": (4, "/orders?page=1", 201), "built-session.xml": (2, "/items?a=1&b=2", 200),
    "playwright-chromium-156.har": (14, "/socket", 101), "firefox-153.har": (15, "/socket", 101),
    "built-bash.curl": (3, "/items?page=2", 0), "built-cmd.curl": (2, "/a?x=1&y=2", 0),
}
for name, (count, path, status) in expected.items():
    file, session = f"{fixtures}/{name}", f"{directory}/{name}.sluice"
    told, _ = run("import", "session", file, "-o", session)
    if f"{count} exchanges, numbers from 1" not in told or f"Imported {count} exchanges into {session}" not in told:
        wrong(f"{name}: import says {told}")
    if stat.S_IMODE(os.stat(session).st_mode) != 0o600:
        wrong(f"{name}: others may read the session")
    direct, brought = run("list", file)[0], run("list", session)[0]
    if direct != brought or len(brought.splitlines()) != count + 1:
        wrong(f"{name}: listed as it is\n{direct}and in a session\n{brought}")
    if not any(path in run("show", session, str(number))[0] for number in range(1, count + 1)):
        wrong(f"{name}: show has no {path}")
    found = entries(session)
    if len(found) != count or not any(
        entry["request"]["url"].endswith(path) and entry["response"]["status"] == status for entry in found
    ):
        wrong(f"{name}: the HAR has {[(entry['request']['url'], entry['response']['status']) for entry in found]}")
    # What we export is read again, and has the same requests.
    run("export", session, "--format", "har", "--secrets", "-o", f"{directory}/{name}.har")
    again = entries(f"{directory}/{name}.har")
    if [entry["request"]["url"] for entry in again] != [entry["request"]["url"] for entry in found]:
        wrong(f"{name}: read again it has {[entry['request']['url'] for entry in again]}")

chat = next(entry for entry in entries(f"{fixtures}/mitmproxy-11.0.2.flows") if entry["request"]["url"].endswith("/chat"))
if sorted(message["data"] for message in chat["_webSocketMessages"] if message["opcode"] == 1) != ["abc", "hello"]:
    wrong(f"the messages of mitmproxy's WebSocket are {chat['_webSocketMessages']}")
packed = next(entry for entry in entries(f"{fixtures}/mitmproxy-9.0.1.flows") if entry["request"]["url"].endswith("/gzip"))
if packed["response"]["content"].get("text") != '{"colour":"green","n":[1,2,3]}':
    wrong(f"mitmproxy's compressed body is {packed['response']['content']}")

# Several at once, into a session that is there, by numbers of its own.
several = directory + "/several.sluice"
files = [f"{fixtures}/{name}" for name in ("built-session.chlsj", "built-bash.curl")]
told, _ = run("import", "session", *files, f"{directory}/built-cmd.curl.sluice", "-o", several)
told, _ = run("import", "session", f"{fixtures}/built-session.xml", "-o", several)
if "numbers from 10" not in told or len(run("list", several)[0].splitlines()) != 12:
    wrong(f"the second import says {told}")
for origin in ("Charles built-session.chlsj", "cURL built-bash.curl", "session built-cmd.curl.sluice"):
    if not any(origin in run("show", several, str(number))[0] for number in range(1, 10)):
        wrong(f"no exchange says that it came from {origin}")

# A bundle: what it is made of is not in the way, and everything takes it.
bundle = directory + "/no-name-that-tells"
run("export", several, "--format", "bundle", "--secrets", "-o", bundle)
if run("list", bundle)[0] != run("list", several)[0]:
    wrong("a bundle lists other exchanges than its session")
told, _ = run("import", "session", bundle, "-o", directory + "/of-bundle.sluice")
if "a bundle, 11 exchanges" not in told:
    wrong(f"the import of a bundle says {told}")
out, errors = run("open", bundle, "--linear", text=b"quit\n")
with zipfile.ZipFile(bundle) as archive:
    if archive.testzip() is not None or "Connection refused" not in archive.read("README.txt").decode():
        wrong("Python's zipfile or the reader of README.txt would not be pleased")
    good = archive.read("session.sluice")

# Zips that are traps, and files that are others than they were given for.


def zipped(name, *members, **options):
    path = f"{directory}/{name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


def link(name):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def changed(path, change):
    with open(path, "rb") as file:
        content = change(file.read())
    with open(path, "wb") as file:
        file.write(content)
    return path


session = ("session.sluice", good)
many = directory + "/many.zip"
with zipfile.ZipFile(many, "w", allowZip64=True) as archive:
    for number in range(100_000):
        archive.writestr(f"{number}-meta.json", "")
import warnings
warnings.simplefilter("ignore")
bad = {
    zipped("out", session, ("../out", "x")): "name outside of it",
    zipped("absolute", session, ("/tmp/out", "x")): "name outside of it",
    zipped("drive", session, ("C:\\out", "x")): "name outside of it",
    zipped("twice", session, session): "is there twice",
    zipped("link", (link("session.sluice"), "/etc/passwd")): "is a link",
    zipped("none", ("a", "b")): "has nothing in it that can be read",
    zipped("no-session", ("session.sluice", "hello")): "not a Sluice session",
    zipped("bomb", ("session.sluice", bytes(400 << 20))): "too large when unpacked",
    many: "more than 65535 entries",
    changed(zipped("cut", session), lambda content: content[: len(content) // 2]): "cut off or damaged",
    changed(zipped("crypt", session), lambda content: content.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01")):
        "is encrypted",
}
bad[changed(zipped("changed", session), lambda content: content[:1_000] + bytes(64) + content[1_064:])] = "damaged"
with open(directory + "/old.chls", "wb") as file:
    file.write(b"\xac\xed\x00\x05sr\x00\x1c")
bad[directory + "/old.chls"] = "export as .chlsj"
with open(directory + "/settings.xml", "w") as file:
    file.write("<?xml version='1.0'?><?charles x?><charles-export/>")
bad[directory + "/settings.xml"] = "sluice import charles"
with open(directory + "/web.xml", "w") as file:
    file.write("<html/>")
bad[directory + "/web.xml"] = "not a Charles session"
with open(directory + "/entity.xml", "w") as file:
    file.write("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><charles-session>&x;</charles-session>")
bad[directory + "/entity.xml"] = "document type"
for path, reason in bad.items():
    for command in (["list", path], ["import", "session", path, "-o", directory + "/bad.sluice"]):
        _, errors = run(*command, status=1)
        if reason not in errors:
            wrong(f"{command[0]} {os.path.basename(path)} says {errors}, not '{reason}'")
    if os.path.exists(directory + "/bad.sluice"):
        wrong(f"{path} leaves a session")
        os.remove(directory + "/bad.sluice")
for path in ("/tmp/out", directory + "/out", os.path.dirname(directory) + "/out"):
    if os.path.exists(path):
        wrong(f"there is {path}")

# The two imports name each other.
_, errors = run("import", "charles", f"{fixtures}/built-session.xml", status=1)
if "sluice import session" not in errors:
    wrong(f"import charles says {errors} of a session")

# A file that is cut off: what came before is there, and it is told.
cut = directory + "/cut.chlsj"
with open(f"{fixtures}/built-session.chlsj", "rb") as file:
    content = file.read()
with open(cut, "wb") as file:
    file.write(content[: content.index(b'"bank.example.com"')])
told, _ = run("import", "session", cut, "-o", directory + "/cut.sluice", status=1)
if "2 exchanges, numbers from 1" not in told or "the rest could not be read" not in told or "cut.chlsj:" not in told:
    wrong(f"a file that is cut off says {told}")
run("import", "session", directory + "/missing.har", "-o", directory + "/x.sluice", status=1)
run("import", "session", status=2)
end()
