// A test for each scenario, in whatever test runner there is, of a loop that runs in the test's own process:
//
//     import { test } from "node:test"; // or "vitest"
//     import { conformance } from "./harness.mjs";
//     await conformance(test, async (turn) => ({ shown: [await agent(turn)] }), ["text", "pause"]);
//
// A turn is that of docs/protocol.md, with `tool(name, input)` and `hook(method, path, value)` beside it. Turns are
// played while the tests are collected; each test tells what became of its scenario.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

// What the harness starts: a line between it and the test's process.
const LINE = `const line = require("net").connect(process.argv[1]); process.stdin.pipe(line).pipe(process.stdout);`;

export async function conformance(test, loop, select = [], options = {}) {
  for (const result of await judged(loop, select, options)) {
    (result.grade === "unsupported" ? test.skip : test)(`${result.scenario}[${result.variant}]`, () => {
      if (["fail", "error"].includes(result.grade)) throw new Error(explained(result));
    });
  }
}

// Options: `command` of the harness, what the loop's owner declares, and `json` where JSON's own loses something.
async function judged(loop, select, { command = "loop-harness", declaration = {}, json = JSON }) {
  const folder = mkdtempSync(join(tmpdir(), "harness-"));
  const [socket, report] = [join(folder, "line"), join(folder, "report.json")];
  const server = createServer((line) => serve(line, loop, declaration, json));
  await once(server.listen(socket), "listening");
  try {
    const line = `'${process.execPath}' -e '${LINE}' '${socket}'`;
    const args = ["run", "--command", line, "--keep-alive", "--jobs", "1", "--report", `json:${report}`, ...select];
    const run = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [run.stdout, run.stderr]) stream.on("data", (bytes) => (said += bytes));
    await once(run, "close");
    if (!existsSync(report)) throw new Error(said.trim());
    return JSON.parse(readFileSync(report, "utf8")).loops[0].results;
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

async function serve(line, loop, declaration, json) {
  const say = (value) => line.write(`${json.stringify(value)}\n`);
  say({ hello: { protocol: 1, declaration } });
  for await (const text of createInterface({ input: line })) {
    const { run: turn } = json.parse(text);
    if (!turn) return line.end();
    try {
      say({ outcome: (await loop({ ...turn, ...hooks(turn, json) })) ?? null });
    } catch (error) {
      const { message, stack, constructor } = error;
      say({ outcome: { raised: { type: constructor.name, message, traceback: stack } } });
    }
  }
}

function hooks({ harness_url }, json) {
  const hook = async (method, path, value) => {
    const answer = await fetch(harness_url + path, { method, body: value && json.stringify(value) });
    return json.parse(await answer.text());
  };
  return { hook, tool: (name, input) => hook("POST", `/tools/${name}`, input) };
}

function explained({ reason, checks }) {
  const broken = checks.filter(({ grade }) => grade === "fail");
  const told = broken.map((one) => [`${one.clause}: ${one.message}`, one.where, one.expected, one.advice].join("\n  "));
  return [reason, ...told].join("\n");
}
