/**
 * `opentabs demo` shows a long call, a cancellation and an approval in the user's browser, and leaves nothing
 * behind.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { opentabsBinary, type StartedCommand, startOpentabs } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

const siteAddress = 'http://opentabs-demo.localhost';
let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

interface DemoCall {
  readonly tool: string;
  readonly status: string;
}

function isDemoOpen(): boolean {
  return stack.page
    .context()
    .pages()
    .some((page) => page.url().startsWith(siteAddress));
}

async function assertDemoRemoved(): Promise<void> {
  await waitFor('the tab of the demo to close', () => Promise.resolve(!isDemoOpen()));
  const names = (await stack.readStatus()).plugins?.map((plugin) => plugin.name) ?? [];
  assert.ok(!names.includes('demo'), `plugins after the demo = ${names.join(', ')}, want no demo`);
  assert.equal(existsSync(join(stack.homeFolder, 'demo')), false);
  assert.doesNotMatch(readFileSync(join(stack.homeFolder, 'plugins.json'), 'utf8'), /demo/);
  assert.doesNotMatch(readFileSync(join(stack.homeFolder, 'permissions.json'), 'utf8'), /"demo"/);
}

async function waitForApproval(): Promise<void> {
  await waitFor('the call count_authors to wait for approval', async () =>
    (await stack.listCalls()).some(
      ({ tool_name, waiting: waitingView }) => tool_name === 'demo__count_authors' && waitingView,
    ),
  );
}

function startDemo(...flags: string[]): StartedCommand {
  return startOpentabs(['demo', ...flags], stack.env);
}

test('the demo shows progress, a stop, and an approval in the side panel', async (t) => {
  const startMs = Date.now();
  const demoProcess = startDemo('--yes', '--json');
  await waitFor('the tab of the demo to open', () => Promise.resolve(isDemoOpen()));
  await waitForApproval();
  const panel = await stack.chrome.openPanel();
  await panel.getByRole('button', { name: 'Allow once' }).click();
  const { code, stdout, stderr } = await demoProcess.commandResult;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /progress \d+% .*messages read/);
  assert.match(stderr, /Done: 1000 messages in \d/);
  assert.match(stderr, /Stopped: the code in the page ended, and the page dropped its request for\s+part \d+ of 40/);
  assert.match(stderr, /Approved\. The result: .*"author":"Ada"/);
  assert.match(stderr, /Next:/);
  const { calls } = JSON.parse(stdout);
  assert.deepEqual(
    calls.map(({ tool, status }: DemoCall) => `${tool} ${status}`),
    ['export_messages done', 'export_messages cancelled', 'count_authors done'],
  );
  assert.equal(calls[0].messages, 1000);
  assert.ok(calls[1].dropped_part > 0 && calls[1].duration_ms >= 4000, stdout);
  assert.match(JSON.stringify(calls[2].result), /"author":"Ada"/);
  t.diagnostic(`the demo took ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
  await assertDemoRemoved();
});

test('the user confirms and approves in the terminal', async () => {
  const child = spawn('script', ['-qec', `stty cols 100; ${opentabsBinary} demo`, '/dev/null'], {
    env: { ...process.env, ...stack.env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screenText = '';
  child.stdout.on('data', (chunk) => {
    screenText += String(chunk);
  });
  const exitCode = new Promise<number | null>((resolve) => child.on('close', resolve));
  await waitFor('the question to start', () => Promise.resolve(screenText.includes('Start the demo?')));
  assert.match(screenText, /enables the plugin "demo" for this site only/);
  child.stdin.write('y\n');
  await waitFor('the question to approve', () => Promise.resolve(screenText.includes('approve it here?')));
  child.stdin.write('\n');
  assert.equal(await exitCode, 0, screenText);
  assert.match(screenText, /Approved\. The result:/);
  await assertDemoRemoved();
});

test('Ctrl-C ends the demo at any moment, and nothing is left behind', async () => {
  const interruptMoments: readonly [name: string, hasCome: (demoProcess: StartedCommand) => boolean][] = [
    ['at the start', () => existsSync(join(stack.homeFolder, 'demo'))],
    ['during the long call', (demoProcess) => /progress \d+%/.test(demoProcess.stderr())],
    ['during the stop', (demoProcess) => demoProcess.stdout().includes('2. A stop')],
  ];
  for (const [name, hasReachedMoment] of interruptMoments) {
    const demoProcess = startDemo('--yes');
    await waitFor(`the demo to be ${name}`, () => Promise.resolve(hasReachedMoment(demoProcess)));
    demoProcess.child.kill('SIGINT');
    const { code, stderr } = await demoProcess.commandResult;
    assert.equal(code, 130, `${name}: ${stderr}`);
    await assertDemoRemoved();
  }
  const waitingDemo = startDemo('--yes');
  await waitForApproval();
  waitingDemo.child.kill('SIGINT');
  assert.equal((await waitingDemo.commandResult).code, 130);
  await assertDemoRemoved();
});

test('the next demo removes everything that a killed demo has left behind', async () => {
  const killedDemo = startDemo('--yes');
  await waitFor('the long call to report', () => Promise.resolve(/progress \d+%/.test(killedDemo.stderr())));
  killedDemo.child.kill('SIGKILL');
  await killedDemo.commandResult;
  await waitFor('the tab of the killed demo to close', () => Promise.resolve(!isDemoOpen()));
  const nextDemo = startDemo('--yes');
  await waitFor('the next demo to report or to end', () =>
    Promise.resolve(/progress \d+%/.test(nextDemo.stderr()) || nextDemo.child.exitCode !== null),
  );
  assert.match(nextDemo.stderr(), /progress \d+%/);
  nextDemo.child.kill('SIGINT');
  assert.equal((await nextDemo.commandResult).code, 130);
  await assertDemoRemoved();
});
