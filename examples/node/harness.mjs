// A test for each scenario, in whatever test runner there is, of a loop that runs in the test's own process:
//
//     import { test } from "node:test"; // or "vitest"
//     import { conformance } from "./harness.mjs";
//     await conformance(test, async (turn) => ({ shown: [await agent(turn)] }), ["text", "pause"]);
//
// The loop is given a turn as in docs/protocol.md, and `tool(name, input)` and `hook(method, path, value)` with it.
// It is played while the tests are collected; each test tells what became of its scenario.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(import.meta.url);

// Started by the harness, this file is a line between it and the test's process.
if (process.argv[1] === HERE && process.argv[2] === "line") {
  const socket = connect(process.argv[3]);
  process.stdin.pipe(socket).pipe(process.stdout);
}

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
  await new Promise((listening) => server.listen(socket, listening));
  try {
    const line = `'${process.execPath}' '${HERE}' line '${socket}'`;
    const args = ["run", "--command", line, "--keep-alive", "--jobs", "1", "--report", `json:${report}`, ...select];
    const said = await finished(spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] }));
    try {
      return JSON.parse(readFileSync(report, "utf8")).loops[0].results;
    } catch {
      throw new Error(said.trim());
    }
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
    if (!turn) break;
    try {
      say({ outcome: (await loop({ ...turn, ...hooks(turn, json) })) ?? null });
    } catch (error) {
      const { message, stack, constructor } = error;
      say({ outcome: { raised: { type: constructor.name, message, traceback: stack } } });
    }
  }
  line.end();
}

function hooks(turn, json) {
  const hook = async (method, path, value) => {
    const answer = await fetch(turn.harness_url + path, { method, body: value && json.stringify(value) });
    return json.parse(await answer.text());
  };
  return { hook, tool: (name, input) => hook("POST", `/tools/${name}`, input) };
}

function explained({ reason, checks }) {
  const broken = checks.filter(({ grade }) => grade === "fail");
  const told = broken.map((one) => [`${one.clause}: ${one.message}`, one.where, one.expected, one.advice].join("\n  "));
  return [reason, ...told].join("\n");
}

const finished = (child) => new Promise((done, failed) => {
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (said += bytes));
  child.on("error", failed).on("close", () => done(said));
});
