/** A large tool result arrives complete, or the call fails with a clear error. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({ serveFlags: ['--max-result-bytes', String(20 << 20)] });
  client = await stack.connectHttp();
});
after(() => stack?.close());

for (const bytes of [0, 1000, (256 << 10) - 20, 256 << 10, 1 << 20, 10 << 20]) {
  test(`a result of ${bytes} bytes arrives complete`, async () => {
    const callOutcome = await client.call('messages__big', { bytes });
    assert.equal(callOutcome.isError, false, callOutcome.text.slice(0, 500));
    assert.equal(String(Object(callOutcome.structured).text).length, bytes);
  });
}

test('a result over the limit fails with result_too_large', async () => {
  const callOutcome = await client.call('messages__big', { bytes: 21 << 20 });
  assert.equal(callOutcome.code, 'result_too_large', callOutcome.text.slice(0, 500));
  assert.match(callOutcome.text, /Ask for less/);
});

test('the call after a result over the limit succeeds', async () => {
  const callOutcome = await client.call('messages__echo', { value: 1 });
  assert.equal(callOutcome.isError, false, callOutcome.text);
});
