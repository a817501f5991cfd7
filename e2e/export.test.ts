/** The example plugin "export", written for the original OpenTabs SDK, builds and runs unchanged. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientTransports, type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [{ dir: 'sdk-ts/examples/export' }], serveFlags: ['--progress-interval', '0s'] });
});
after(() => stack?.close());

for (const [name, connectClient] of clientTransports) {
  test(`the export reports each of its pages over ${name}`, async () => {
    const client = await connectClient(stack);
    const callOutcome = await client.call('export__export_messages', { channelId: 'slow-4-300' });
    assert.equal(callOutcome.isError, false, callOutcome.text);
    const exportResult = Object(callOutcome.structured);
    assert.equal(exportResult.total, 40);
    assert.equal(exportResult.messages.length, 40);
    assert.equal(exportResult.messages[39].text, 'message 40 of slow-4-300');
    assert.deepEqual(
      callOutcome.progress.map(({ progress, total, message }) => ({ progress, total, message })),
      [1, 2, 3, 4].map((page) => ({ progress: page, total: 4, message: `Exported page ${page} of 4` })),
    );
  });
}
