"""Reads a report with a reader of its format, and holds what that reader understood against the JSON
of the same result: the same tests, each as passed, failed or skipped, the same places, and nothing
that only the submission said.

usage: read.py FORMAT REPORT RESULT.json...
       read.py golden FORMAT tests/golden/expected SCRATCH

Exit status 0 fine, 1 not, 77 a reader is not installed (the sentence says which)."""
import base64
import html.parser
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Wrong(Exception):
    pass


class Lacks(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def run(*argv, **more):
    try:
        return subprocess.run(argv, capture_output=True, check=False, **more)
    except FileNotFoundError as error:
        raise Lacks(f"{argv[0]} is not installed") from error


def validate(document, schema):
    try:
        import jsonschema
    except ImportError as error:
        raise Lacks("python3-jsonschema is not installed") from error
    with open(schema, encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    for error in validator.iter_errors(document):
        raise Wrong(f"{schema}: {list(error.path)}: {error.message[:300]}")


# ---- what a result has to be told as ----

def tests_of(result):
    """(status, kind) of each test in order."""
    tests = [("passed" if c["verdict"] == "accepted" else
              "error" if c["verdict"] == "judge_error" else "failed", c["verdict"])
             for c in result["cases"]]
    tests += [("skipped", "not_judged")] * len(result.get("not_judged", []))
    blamed = any(status in ("failed", "error") for status, _ in tests)
    if not tests or (result["verdict"] != "accepted" and not blamed):
        whole = ("skipped" if "skipped" in result else
                 "error" if result["verdict"] in ("compile_error", "judge_error") else
                 "passed" if result["verdict"] == "accepted" else "failed")
        tests.append((whole, "not_judged" if "skipped" in result else result["verdict"]))
    return tests


def count(tests, status):
    return sum(one == status for one, _ in tests)


def lines_of(result):
    """(line, is an error) of the findings in the submission itself."""
    name = result["submission"].rpartition("/")[2]
    findings = [f for c in result["cases"] + result["timing"] for f in c.get("findings", [])]
    return {(f["line"], f["severity"] == "error")
            for f in findings if f.get("file") == name and "line" in f}


# ---- a function per format ----

def read_json(report, results):
    with open(report, encoding="utf-8") as file:
        text = file.read()
    documents = [json.loads(text)] if report.endswith(".json") else \
        [json.loads(line) for line in text.splitlines()]
    schema = os.path.join(HERE, "../../harness/judge/report/result.schema.json")
    expect(len(documents) == len(results), "not as many objects as results")
    for document, result in zip(documents, results):
        validate(document, schema)
        expect(document == result, "another result")


def read_junit(report, results):
    done = run("xmllint", "--noout", "--schema", os.path.join(HERE, "junit.xsd"), report)
    expect(done.returncode == 0, done.stderr.decode(errors="replace")[:600])
    try:
        import junitparser
    except ImportError as error:
        raise Lacks("python3-junitparser is not installed") from error
    suites = list(junitparser.JUnitXml.fromfile(report))
    expect(len(suites) == len(results), "not as many suites as results")
    names = {"Failure": "failed", "Error": "error", "Skipped": "skipped"}
    for suite, result in zip(suites, results):
        got = []
        for case in suite:
            outcome = [type(o).__name__ for o in case.result]
            expect(len(outcome) <= 1, f"{case.name}: more than one outcome")
            got.append(names[outcome[0]] if outcome else "passed")
        expected = [status for status, _ in tests_of(result)]
        expect(got == expected, f"{suite.name}: {got}, and should be {expected}")
        counted = [suite.tests, suite.failures, suite.errors, suite.skipped]
        expect(counted == [len(got)] + [got.count(s) for s in ("failed", "error", "skipped")],
               f"{suite.name}: the counts are {counted}")


def points_are_shared(tests, points, most, status):
    """What passed has its points and nothing else has any; no test is worth much more."""
    for test, (one, _) in zip(tests, status):
        expect(test[points] == (test[most] if one == "passed" else 0), f"points of {test['name']}")
    shares = [test[most] for test in tests]
    expect(max(shares) - min(shares) <= 1 / 32, f"shares differ: {min(shares)} to {max(shares)}")


def read_gradescope(report, results):
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    (result,) = results
    validate(document, os.path.join(HERE, "gradescope.schema.json"))
    if result["verdict"] == "judge_error":
        expect("score" not in document and document["tests"] == [],
               "a failure of the judge is graded")
        return
    expected = tests_of(result)
    expect(len(document["tests"]) == len(expected), "not as many tests as cases")
    points_are_shared(document["tests"], "score", "max_score", expected)
    expect(sum(t["max_score"] for t in document["tests"]) == 100, "not worth 100 points")
    expect(document["score"] == sum(t["score"] for t in document["tests"]), "the sum is wrong")
    for test, case in zip(document["tests"], result["cases"]):
        expect(test["visibility"] == ("visible" if case["public"] else "hidden"),
               f"{test['name']}: visibility")
    times = [t["ms"] for t in result["timing"] if "note" not in t]
    expect([row["value"] for row in document.get("leaderboard", [])] == times, "leaderboard")


def read_prairielearn(report, results):
    expect(os.path.getsize(report) < 1000000, "more than a megabyte")
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    (result,) = results
    validate(document, os.path.join(HERE, "prairielearn.schema.json"))
    gradable = result["verdict"] not in ("judge_error", "compile_error")
    expect(document["gradable"] == gradable, "gradable")
    if not gradable:
        return
    expected = tests_of(result)
    expect(len(document["tests"]) == len(expected), "not as many tests as cases")
    points_are_shared(document["tests"], "points", "max_points", expected)
    sums = [sum(t[key] for t in document["tests"]) for key in ("points", "max_points")]
    expect(abs(document["score"] - sums[0] / sums[1]) < 1e-9, "score")


def read_classroom(report, results):
    with open(report, "rb") as file:
        text = file.read()
    expect(text.count(b"\n") == 1, "more than a line: it would set other outputs")
    document = json.loads(base64.b64decode(text.strip(), validate=True).decode("utf-8"))
    (result,) = results
    validate(document, os.path.join(HERE, "classroom.schema.json"))
    expected = tests_of(result)
    words = {"passed": "pass", "failed": "fail"}
    got = [test["status"] for test in document["tests"]]
    expect(got == [words.get(status, "error") for status, _ in expected], f"statuses: {got}")
    if result["verdict"] == "judge_error":
        expect(document["max_score"] == 0, "a failure of the judge is graded")
    else:
        # As the reporter adds them up, in doubles.
        total = sum(test["score"] for test in document["tests"])
        expect((total == document["max_score"]) == (count(expected, "passed") == len(expected)),
               f"{total} of {document['max_score']} points")


def sarif_schema():
    """The published schema, from a package of npm; kept below the build folder."""
    folder = os.environ.get("READERS_CACHE", "/tmp")
    member = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
    path = os.path.join(folder, member)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        package = "@microsoft/jest-sarif@1.0.0-beta.0"
        done = run("npm", "pack", "--silent", package, cwd=folder, timeout=60)
        if done.returncode != 0:
            raise Lacks(f"npm cannot get {package}, which has the schema of SARIF")
        archive = done.stdout.decode().split()[-1]
        expect(run("tar", "xzf", archive, member, cwd=folder).returncode == 0, archive)
    return path


def read_sarif(report, results):
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    (sarif_run,) = document["runs"]
    rules = sarif_run["tool"]["driver"]["rules"]
    found = sarif_run["results"]
    for one in found:
        expect(rules[one["ruleIndex"]]["id"] == one["ruleId"], "ruleIndex")
        (location,) = one["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        expect(re.fullmatch(r"[A-Za-z0-9._~%/-]+|file:///[A-Za-z0-9._~%/-]+", artifact["uri"]),
               f"URI {artifact['uri']}")
    got = {(one["locations"][0]["physicalLocation"]["region"]["startLine"],
            one["level"] == "error")
           for one in found if "region" in one["locations"][0]["physicalLocation"]}
    for result in results:
        expect(lines_of(result) <= got, f"lines {lines_of(result)} are not all in {got}")
    wrong = [r for r in results if r["verdict"] not in ("accepted", "judge_error")]
    expect(not wrong or any(one["level"] == "error" for one in found), "no error is told")
    expect([i["executionSuccessful"] for i in sarif_run["invocations"]] ==
           [r["verdict"] != "judge_error" for r in results], "invocations")
    validate(document, sarif_schema())


COMMANDS = {"error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "set-output",
            "set-env", "add-path", "save-state", "echo", "add-matcher", "remove-matcher",
            "stop-commands"}


def runner_commands(text):
    """The commands that a runner of GitHub Actions takes from a log: "::name key=value,...::data"
    after blanks, or "##[name key=value;...]data" anywhere, until told to stop by a token."""
    known, token, taken = set(COMMANDS), None, []
    for line in text.split("\n"):
        found = re.match(r"\s*::([^ :]+)(?: ([^\n]*?))?::(.*)$", line, re.S)
        if not (found and found[1].lower() in known):
            found = re.search(r"##\[([^\] ]+)(?: ([^\]]*))?\](.*)$", line)
            if not (found and found[1].lower() in known):
                continue
        name, properties, data = found[1].lower(), found[2] or "", found[3]
        if token is not None:
            if name == token:
                known.discard(token)
                token = None
            continue
        for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            data = data.replace(escape, character)
        if name == "stop-commands":
            token = data.lower()
            known.add(token)
            continue
        pairs = dict(p.split("=", 1) for p in properties.split(",") if "=" in p)
        for key, value in pairs.items():
            for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","),
                                      ("%25", "%")):
                value = value.replace(escape, character)
            pairs[key] = value
        taken.append((name, pairs, data))
    expect(token is None, "the runner waits for a token to the end")
    return taken


def read_github(report, results):
    with open(report, encoding="utf-8", newline="") as file:
        text = file.read()
    taken = runner_commands(text)
    titles = re.compile(r"^(compile error|compiler warning|not judged|judge error|[a-z0-9 -]+, in "
                        r"case '.*'( and \d+ more)?)$", re.S)
    shown = {}
    for name, pairs, _ in taken:
        expect(name in ("error", "warning", "notice"), f"a command of the submission: {name}")
        expect(set(pairs) <= {"file", "line", "col", "title"}, f"properties: {pairs}")
        expect(titles.match(pairs.get("title", "")), f"a title of the submission: {pairs}")
        shown[name] = shown.get(name, 0) + 1
    expect(all(n <= 10 for n in shown.values()), "more annotations than a runner keeps")
    got = {(int(p["line"]), name == "error") for name, p, _ in taken if "line" in p}
    for result in results:
        if len(results) == 1 and shown.get("error", 0) < 10:
            expect(lines_of(result) <= got, f"lines {lines_of(result)} are not all in {got}")
        own = {p.get("file") for n, p, _ in taken if p.get("title") != "judge error"}
        expect(len(results) > 1 or len(own) <= 1, f"other files are annotated: {own}")
    judged = [r for r in results if "skipped" not in r]
    expect(any(n == "error" for n, _, _ in taken) ==
           any(r["verdict"] != "accepted" for r in judged), "errors")


def read_tap(report, results):
    source = """
        use TAP::Parser; binmode STDOUT;
        my $p = TAP::Parser->new({exec => ['cat', $ARGV[0]]});
        while (my $r = $p->next) {
            if ($r->is_test) { print $r->has_skip ? 'skipped' : $r->is_actual_ok ? 'passed' : 'failed', "\\n" }
            elsif ($r->is_yaml) { die 'verdict' unless $r->data->{verdict} =~ /^[a-z_]+$/ }
            elsif (!$r->is_plan && !$r->is_version) { print 'odd: ', $r->as_string, "\\n" }
        }
        print join("\\n", map "error: $_", $p->parse_errors), "\\n" if $p->parse_errors;
        print 'plan ', $p->tests_planned, "\\n";"""
    done = run("perl", "-e", source, report)
    got = done.stdout.decode(errors="replace").split("\n")[:-1]
    expected = [("failed" if status == "error" else status)
                for result in results for status, _ in tests_of(result)]
    expect(got == expected + [f"plan {len(expected)}"],
           f"{str(got)[:400]}, and should be {str(expected)[:400]}: "
           f"{done.stderr.decode(errors='replace')[:400]}")
    done = run("prove", "--exec", "cat", report)
    expect((done.returncode == 0) == ("failed" not in expected),
           f"prove: {done.stdout.decode(errors='replace')}")


class Page(html.parser.HTMLParser):
    """Counts the rows of the tables; every element has to be one that we write, without attributes."""
    OURS = {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "pre"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.rows, self.cells = [], 0

    def handle_starttag(self, tag, attrs):
        expect(tag in self.OURS and not attrs, f"an element of the submission: {tag} {attrs}")
        if tag == "td":
            self.cells += 1

    def handle_endtag(self, tag):
        if tag == "tr" and self.cells:
            self.rows.append(self.cells)
            self.cells = 0

    def handle_comment(self, data):
        raise Wrong("a comment of the submission")


def read_markdown(report, results):
    done = run("cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough",
               report)
    page = Page()
    page.feed(done.stdout.decode("utf-8"))
    rows = len(results) if len(results) > 1 else 0
    for result in results:
        if len(results) > 1 and result["verdict"] == "accepted":
            continue
        tests = tests_of(result)
        rows += min(50, len(tests) - count(tests, "passed")) if result["cases"] else 0
        rows += len(result["timing"])
    expect(len(page.rows) == rows, f"{len(page.rows)} rows, and should be {rows}")
    expect(set(page.rows) <= {3, 4}, f"cells in a row: {set(page.rows)}")


# ---- what is read ----

READERS = {"json": read_json, "jsonl": read_json, "junit": read_junit,
           "gradescope": read_gradescope, "prairielearn": read_prairielearn,
           "classroom": read_classroom, "sarif": read_sarif, "github": read_github,
           "tap": read_tap, "markdown": read_markdown}

# What a report must not hold: the reader of the format has to notice it.
PLANTED = {
    "json": lambda text: text.replace('"verdict"', '"verdikt"', 1),
    "jsonl": lambda text: text.replace('"verdict"', '"verdikt"', 1),
    "junit": lambda text: text.replace("</testcase>", "<script/></testcase>", 1),
    "gradescope": lambda text: text.replace('"status": "', '"status": "nearly ', 1),
    "prairielearn": lambda text: text.replace('"gradable": true', '"gradable": "yes"', 1),
    "classroom": lambda text: text + "result=\n",
    "sarif": lambda text: text.replace('"level": "', '"level": "fatal ', 1),
    "github": lambda text: "  ::error file=a.cu,line=1::not from the judge\n" + text,
    "tap": lambda text: text + "Bail out! not from the judge\n",
    "markdown": lambda text: text + "\n![x](http://x)\n",
}


def load(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [json.loads(line) for line in text.splitlines()] if path.endswith(".jsonl") \
        else [json.loads(text)]


def golden(name, expected, scratch):
    """All reports of the format in tests/golden; and what has to be noticed is."""
    reader, folder = READERS[name], os.path.join(expected, name)
    for file in sorted(os.listdir(folder)):
        record = file.rpartition(".")[0]
        of = "jsonl/all.jsonl" if record == "all" else f"json/{record}.json"
        try:
            reader(os.path.join(folder, file), load(os.path.join(expected, of)))
        except Wrong as error:
            raise Wrong(f"{file}: {error}") from error
        print(f"ok - {file}")
    os.makedirs(scratch, exist_ok=True)
    sample = next(f for f in os.listdir(folder) if f.startswith("wrong_answer."))
    results = load(os.path.join(expected, "json/wrong_answer.json"))
    with open(os.path.join(folder, sample), encoding="utf-8") as file:
        text = file.read()
    planted = os.path.join(scratch, f"{name}-{sample}")
    with open(planted, "w", encoding="utf-8") as file:
        file.write(PLANTED[name](text))
    others = load(os.path.join(expected, "json/run_time_error.json"))
    for report, held, what in ((planted, results, "what was planted"),
                               (os.path.join(folder, sample), others, "another result")):
        try:
            reader(report, held)
        except (Wrong, ValueError) as error:
            print(f"ok - notices {what}: {str(error)[:100]}")
        else:
            raise Wrong(f"{what} is not noticed in {report}")


def main():
    try:
        if sys.argv[1] == "golden":
            golden(*sys.argv[2:5])
        else:
            name, report, *files = sys.argv[1:]
            READERS[name](report, [result for file in files for result in load(file)])
            print(f"ok - {report}")
    except Wrong as error:
        print(f"not ok - {error}")
        return 1
    except Lacks as error:
        print(f"skipped: {error}")
        return 77
    return 0


sys.exit(main())
