/** Promise: each surface shows people what tools mean for them, and programs everything. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findCall } from './harness/api.ts';
import type { McpClient } from './harness/client.ts';
import { must, start, stop } from './harness/process.ts';
import { everything, type Stack, startStack } from './harness/stack.ts';
import { until } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  stack = await startStack({ plugins: [everything], serve: ['--progress-interval', '0s'] });
  client = await stack.client();
  panel = await stack.chrome.panel();
});
after(() => stack?.close());

// Steps 2 and 4 of four are for people, and so is the end; of the second call nothing is, and the third fails.
async function threeCalls() {
  const steps = await client.call('everything__steps', { count: 4, everyMs: 150, every: 2, endAudience: 'user' });
  const quiet = await client.call('everything__steps', { count: 3, everyMs: 100 });
  const failed = await client.call('everything__fail', { code: 'ODD', message: 'it went wrong' });
  assert.deepEqual([steps.isError, quiet.isError, failed.isError], [false, false, true], steps.text);
  return { steps, quiet };
}

/** stream reads /events with a filter; stop it when done. */
function stream(filter: string) {
  const gone = new AbortController();
  const read = { text: '', stop: () => gone.abort() };
  const begun = fetch(`http://127.0.0.1:${stack.port}/events${filter}`, {
    headers: { authorization: `Bearer ${stack.token}` },
    signal: gone.signal,
  });
  const following = begun.then(async ({ body }) => {
    const decoder = new TextDecoder();
    for await (const part of body ?? []) read.text += decoder.decode(part, { stream: true });
  });
  following.catch(() => undefined);
  return { read, following: until(`/events${filter}`, () => read.text.includes(': following')) };
}

test('terminals, event streams, agents, the audit and the side panel', async () => {
  const people = start(['calls', '--follow'], stack.env);
  const verbose = start(['calls', '--follow', '--verbose'], stack.env);
  const all = stream('');
  const user = stream('?audience=user');
  await Promise.all([all.following, user.following]);
  await until('the followers', () => people.stderr().includes('following') && verbose.stderr().includes('following'));

  const { steps, quiet } = await threeCalls();

  // An agent gets all of it, and is told for whom each report is.
  assert.deepEqual(
    steps.progress.map((p) => [p.message, '_meta' in p && p._meta]),
    [1, 2, 3, 4].map((n) => [
      `${n % 2 ? 'internal' : 'user'} step ${n}`,
      { 'opentabs/audience': n % 2 ? 'internal' : 'user' },
    ]),
  );
  assert.equal(quiet.progress.length, 3);

  await until('the last event', () => people.stdout().includes('it went wrong'));
  await until('the last event', () => verbose.stdout().includes('it went wrong'));
  await until('the last event', () => all.read.text.includes('it went wrong'));
  await until('the last event', () => user.read.text.includes('it went wrong'));
  for (const [name, text, shown] of [
    ['calls --follow', people.stdout(), false],
    ['calls --follow --verbose', verbose.stdout(), true],
    ['/events', all.read.text, true],
    ['/events?audience=user', user.read.text, false],
  ] as const) {
    for (const word of ['user step 2', 'user step 4', 'it went wrong'])
      assert.ok(text.includes(word), `${name}: ${word}`);
    assert.equal(text.includes('internal step 1'), shown, `${name}: ${text}`);
  }
  // That a call ended is always for people.
  assert.equal((user.read.text.match(/^event: ended$/gm) ?? []).length, 3);
  assert.equal((all.read.text.match(/^event: ended$/gm) ?? []).length, 3);
  await Promise.all([stop(people), stop(verbose)]);
  all.read.stop();
  user.read.stop();

  // The audit has all messages of all calls.
  const audit = await until('the audit', async () => {
    const text = await must(['audit', '--json'], stack.env);
    return text.includes('user step 4') && text.includes('internal step 3') ? text : undefined;
  });
  assert.equal((audit.match(/"audience":"user","last_messages"/g) ?? []).length, 1, audit);
});

test('the side panel, with the switch and without', async () => {
  const call = client.call('everything__steps', { count: 40, everyMs: 300, every: 5 });
  const card = panel.locator('.call').filter({ hasText: 'steps' });
  await findCall(stack, 'everything__steps', (c) => c.status === 'running' && /internal step/.test(c.message ?? ''));
  await card.getByText(/user step/).waitFor();
  assert.equal(await card.getByText(/internal step/).count(), 0);
  await panel.getByRole('switch', { name: 'Show everything' }).check();
  await card.getByText(/internal step/).waitFor();
  assert.equal((await call).isError, false);
  await panel.locator('.ended').getByText('steps').first().waitFor();
  await panel.getByRole('switch', { name: 'Show everything' }).uncheck();
});
