/** Promise: an unpacked install works without the "Allow User Scripts" switch. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ chrome: { userScripts: false } });
});
after(() => stack?.close());

test('a tool runs from the file the server wrote', async () => {
  const client = await stack.client();
  const out = await client.call('messages__countdown', { from: 2, intervalMs: 100 });
  assert.equal(out.isError, false, out.text);
  assert.equal(out.progress.at(-1)?.progress, 2);
});

test('the page finds no trace of it', async () => {
  const names = await stack.page.evaluate(() =>
    Object.getOwnPropertyNames(window).filter((n) => /opentabs|__ot/i.test(n)),
  );
  assert.deepEqual(names, []);
});
