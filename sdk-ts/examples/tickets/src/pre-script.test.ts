import assert from 'node:assert/strict';
import test from 'node:test';

test('the pre-script stores the token that the site sends, and does not change requests', async () => {
  const sentRequests: unknown[][] = [];
  const storedValues = new Map<string, unknown>();
  const window = {
    fetch: async (...args: unknown[]) => {
      sentRequests.push(args);
    },
  };
  type Script = (context: unknown) => void;
  const runScript = (script: Script) =>
    script({ set: storedValues.set.bind(storedValues), log: { debug: () => undefined } });
  Object.assign(globalThis, { window, __openTabs: { _preScriptRunner: runScript } });
  await import('./pre-script.ts');

  await window.fetch('/a');
  assert.equal(storedValues.has('token'), false);
  const init = { headers: { 'X-Ticket-Token': 's3' } };
  await window.fetch('/b', init);
  await window.fetch('/c', { headers: { 'no good\n': '' } });
  assert.deepEqual([...storedValues], [['token', 's3']]);
  assert.deepEqual(sentRequests.slice(0, 2), [
    ['/a', undefined],
    ['/b', init],
  ]);
  assert.equal(sentRequests.length, 3);
});
