/** Promise: steps of make test that run side by side print readable output, and the first failure stops all of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type CommandResult, repositoryRoot } from './process.ts';
import { waitFor } from './wait.ts';

/** runSteps runs .ci/side-by-side and returns its exit code and output. */
function runSteps(...steps: string[]): Promise<CommandResult> {
  const child = spawn(`${repositoryRoot}.ci/side-by-side`, steps, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}

/** isAlive reports whether a process exists. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('side-by-side prints the output of the second step in one piece, and both steps pass', async () => {
  const { code, stdout } = await runSteps('first', 'echo one', 'second', 'echo two; echo three >&2');
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^one$/m);
  assert.match(stdout, /^== output of second\ntwo\nthree\n== second: passed after \d+ s$/m);
});

const folder = mkdtempSync(join(tmpdir(), 'opentabs-steps-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

for (const failing of ['first', 'second']) {
  const started = join(folder, failing);
  const failingStep = `until [ -e ${started} ]; do sleep 0.1; done; exit 7`;
  // A child process that does not end by itself, and a shell that waits for it.
  const endlessStep = `sh -c 'echo "pid $$"; touch ${started}; exec sleep 600'; echo unreachable`;
  const steps =
    failing === 'first' ? ['first', failingStep, 'second', endlessStep] : ['first', endlessStep, 'second', failingStep];
  test(`when the ${failing} step fails, the other one is stopped with its child processes`, async () => {
    const { code, stdout } = await runSteps(...steps);
    assert.equal(code, 1, stdout);
    assert.match(stdout, new RegExp(`^== ${failing}: FAILED after \\d+ s \\(exit code 7\\)$`, 'm'));
    assert.match(stdout, /: stopped after \d+ s, because another step failed$/m);
    assert.doesNotMatch(stdout, /^unreachable$/m);
    const pid = Number(/^pid (\d+)$/m.exec(stdout)?.[1]);
    assert.ok(pid > 0, stdout);
    await waitFor('the child process to end', () => !isAlive(pid));
  });
}

test('side-by-side refuses a step without a command', async () => {
  const { code, stderr } = await runSteps('first');
  assert.equal(code, 2);
  assert.match(stderr, /^usage: /);
});
