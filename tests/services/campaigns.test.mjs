// The command line of sponsors, and the demo: what it prints is pasted, step by step.
import { spawn } from "node:child_process";
import { test } from "node:test";
import { ANNAI, assert, environment, run, stop, temporary, within } from "./parts.mjs";

const flags = (name) => ["--name", name, "--sponsor", "Sencha Co", "--task", "survey", "--pays", "50", "--budget", "1000"];

test("annai campaigns: an empty list, new ones by flags, and a table with bars", async (t) => {
  const env = environment(temporary());
  const annai = (...args) => run(ANNAI, ["campaigns", ...args], { env });
  assert.match((await annai()).stdout, /^There are no campaigns/);
  const created = await annai("new", ...flags("Tea\u001b[31m survey"), "--service", "answer,echo", "--tag", "tea");
  assert.equal(created.status, 0, created.stderr);
  assert.match(created.stderr, /warning: no tool and no sponsored API has the key `echo`/);
  const second = await annai("new", ...flags("お茶"), "--service", "answer");
  assert.deepEqual([second.status, second.stderr], [0, ""]);
  const [head, ...rows] = (await annai()).stdout.trimEnd().split("\n");
  assert.match(head, /^budget +left +of +a run +campaign$/);
  assert.equal(rows.length, 4);
  assert.match(rows[0], /^█{10} +\$10\.00 +\$10\.00 +\$0\.50 +お茶$/);
  assert.match(rows[1], /^ {12}[0-9a-f-]{36} {2}Sencha Co: answer$/);
  assert.match(rows[2], /Tea\\u\{1b\}\[31m survey$/, "nothing in a name controls the terminal");
  assert.match(rows[3], /Sencha Co: answer, echo$/);
  for (const row of rows) assert.ok(row.length <= 80, row);
  for (const column of [/\$10\.00 {2}/, /\$0\.50/]) assert.equal(rows[0].search(column), rows[2].search(column), "columns are aligned");
  assert.match((await annai("--check")).stdout, /balance/);
});

test("annai campaigns new: what is missing or wrong is named", async (t) => {
  const env = environment(temporary());
  const annai = (...args) => run(ANNAI, ["campaigns", "new", ...args], { env });
  for (const [args, problem] of [
    [["--name", "x"], /--sponsor is required/],
    [[...flags("x").with(7, "0"), "--service", "answer"], /--pays: must be an integer from 1/],
    [[...flags("x").with(9, "1000000000001"), "--service", "answer"], /--budget: must be an integer from 0/],
    [[...flags("x").with(9, "ten"), "--service", "answer"], /--budget/],
    [[...flags(" "), "--service", "answer"], /--name: /],
    [[...flags("x"), "--service", "answer,"], /--service: /],
  ]) {
    const { status, stderr } = await annai(...args);
    assert.equal(status, 2, `${args}: ${stderr}`);
    assert.match(stderr, problem);
  }
});

/** Runs a program on a terminal and types an answer to each question. */
const TERMINAL = `
import os, pty, sys
answers = iter(sys.argv[1].split("|"))
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    said += more
    if said.endswith(b": "):
        os.write(terminal, (next(answers) + "\\n").encode())
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

test("annai campaigns new on a terminal asks for what is not given", async (t) => {
  const env = environment(temporary());
  const answers = "Tea survey|Sencha Co|survey|half a dollar|50|1000|answer, echo";
  const asked = await run("python3", ["-c", TERMINAL, answers, ANNAI, "campaigns", "new"], { env });
  assert.equal(asked.status, 0, asked.stdout + asked.stderr);
  for (const question of ["Name of the campaign", "Who pays", "Task that", "The most that it pays", "A whole number of US cents", "Budget", "Services"]) {
    assert.ok(asked.stdout.includes(`${question}`), asked.stdout);
  }
  assert.match((await run(ANNAI, ["campaigns"], { env })).stdout, /\$10\.00 +\$10\.00 +\$0\.50 +Tea survey\n +[0-9a-f-]{36} +Sencha Co: answer, echo\n/);
});

test("the demo: it runs a sponsored service, and what it prints can be pasted", async (t) => {
  const env = { ...environment(temporary()), TMPDIR: temporary() };
  const demo = spawn(ANNAI, ["demo"], { env, stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => stop(demo));
  let said = "";
  const ready = new Promise((resolve) => demo.stdout.setEncoding("utf8").on("data", (more) => (said += more).includes("Ctrl-C") && resolve()));
  await within(30_000, "the demo", ready);
  assert.match(said, /the way is the goal → 5 words, 19 characters\n +Sencha Co paid for this run of word-count\.\n/);
  const steps = said.split("In another terminal:\n")[1].split("\nCtrl-C")[0].split("\n").map((line) => line.trim());
  assert.equal(steps.length, 6, steps.join("\n"));
  const paste = async (line, expected = 0) => {
    const { status, stdout, stderr } = await run("bash", ["-c", line], { env });
    assert.equal(status, expected, `${line}: ${stdout}${stderr}`);
    return stdout + stderr;
  };
  assert.match(await paste(steps[0]), /rate-limits\.md:\d+/);
  // What is not shown on a terminal is JSON.
  const [found, run_, status] = await Promise.all(steps.slice(1, 4).map(async (line) => JSON.parse(await paste(line))));
  assert.ok(found.services.some(({ sponsor }) => sponsor === "Sencha Co"));
  assert.deepEqual([run_.output, run_.sponsored_by], ["5 words, 19 characters", "Sencha Co"]);
  // Without a key the tool behind `answer` cannot run, so it is not said to be ready; a run names the key and costs nothing.
  assert.deepEqual(status.available_services, [{ service: "word-count", sponsor: "Sencha Co", ready: true }]);
  assert.match(await paste(steps[2].replace("word-count", "answer"), 2), /OPENAI_API_KEY/);
  assert.match(await paste(steps[4]), /\$9\.90 +\$10\.00 +\$0\.20 +Tea survey\n +[0-9a-f-]{36} +Sencha Co: word-count, answer\n/);
});
