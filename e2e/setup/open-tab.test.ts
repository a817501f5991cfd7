/**
 * If a tab was open before its plugin was added, one approval covers both the call and the reload of the tab.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  // Without Chrome's setting "Allow User Scripts", a new plugin runs in an open tab only after a reload.
  stack = await startStack({ chrome: { userScripts: false } });
});
after(() => stack?.close());

async function readWaiting(): Promise<readonly { id: string; reason: string }[]> {
  const { stdout } = await stack.runCli('calls', '--json');
  const calls: unknown = JSON.parse(stdout);
  const waitingCalls = Array.isArray(calls) ? calls.filter((call) => Object(call).waiting !== undefined) : [];
  return waitingCalls.map((call) => ({
    id: String(Object(call).call_id),
    reason: String(Object(call).waiting.reason),
  }));
}

test('one approval allows the call and the reload of a tab in which the user has clicked', async () => {
  await stack.page.mouse.click(5, 5);
  const startedAt = await stack.page.evaluate(() => performance.timeOrigin);
  const folder = join(stack.homeFolder, 'places');
  cpSync(join(repositoryRoot, 'e2e/testdata/places'), folder, { recursive: true });
  for (const args of [
    ['plugin', 'build', folder],
    ['plugin', 'add', folder, '--permission', 'ask'],
  ]) {
    const { code, stderr } = await stack.runCli(...args);
    assert.equal(code, 0, stderr);
  }
  await waitFor('a tab that needs a reload', async () =>
    (await stack.listTabs()).some((tab) => JSON.stringify(tab).includes('"needsReload":["places"]')),
  );
  const client = await stack.connectHttp();
  const call = client.call('places__where');
  const [waitingCalls] = await waitFor('the call to wait for approval', async () => {
    const foundCall = await readWaiting();
    return foundCall.length > 0 ? foundCall : undefined;
  });
  assert.match(
    waitingCalls?.reason ?? '',
    /wants to run places__where\. First, tab \d+ \(.*\) is reloaded, because its page was loaded before/,
  );
  assert.equal(
    await stack.page.evaluate(() => performance.timeOrigin),
    startedAt,
    'the tab must not be reloaded before the approval',
  );
  const { code, stderr } = await stack.runCli('calls', 'approve', waitingCalls?.id ?? '');
  assert.equal(code, 0, stderr);
  const callOutcome = await call;
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.equal(Object(callOutcome.structured).path, '/');
  assert.notEqual(await stack.page.evaluate(() => performance.timeOrigin), startedAt);
  assert.deepEqual(await readWaiting(), []);
});
