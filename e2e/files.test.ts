/** An unpacked extension works even if Chrome's setting "Allow User Scripts" is off. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ chrome: { userScripts: false } });
});
after(() => stack?.close());

test("a tool runs from the adapter file that the server wrote into the extension's folder", async () => {
  const client = await stack.connectHttp();
  const callOutcome = await client.call('messages__countdown', { from: 2, intervalMs: 100 });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.equal(callOutcome.progress.at(-1)?.progress, 2);
});

test('the page finds no trace of opentabs on its window', async () => {
  const names = await stack.page.evaluate(() =>
    Object.getOwnPropertyNames(window).filter((globalName) => /opentabs|__ot/i.test(globalName)),
  );
  assert.deepEqual(names, []);
});
