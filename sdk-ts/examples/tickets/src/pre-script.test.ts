import assert from 'node:assert/strict';
import test from 'node:test';

test('pre_script stores the token of requests of the site and sends them unchanged', async () => {
  const sent: unknown[][] = [];
  const values = new Map<string, unknown>();
  const window = {
    fetch: async (...args: unknown[]) => {
      sent.push(args);
    },
  };
  type Script = (context: unknown) => void;
  const runner = (script: Script) => script({ set: values.set.bind(values), log: { debug: () => undefined } });
  Object.assign(globalThis, { window, __openTabs: { _preScriptRunner: runner } });
  await import('./pre-script.ts');

  await window.fetch('/a');
  assert.equal(values.has('token'), false);
  const init = { headers: { 'X-Ticket-Token': 's3' } };
  await window.fetch('/b', init);
  await window.fetch('/c', { headers: { 'no good\n': '' } });
  assert.deepEqual([...values], [['token', 's3']]);
  assert.deepEqual(sent.slice(0, 2), [
    ['/a', undefined],
    ['/b', init],
  ]);
  assert.equal(sent.length, 3);
});
