import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { heartbeatTool } from './heartbeat.ts';
import { silentTool } from './silent.ts';
import { stubbornTool } from './stubborn.ts';

/** Mocks the document. Returns the data attributes of the document's <html>. */
function mockPage(t: TestContext): { aborted?: string } {
  const dataset: { aborted?: string } = {};
  Object.defineProperty(globalThis, 'document', { value: { documentElement: { dataset } }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  return dataset;
}

test('the tool silent sends no report and writes the reason of its abort to the page', async (t) => {
  const dataset = mockPage(t);
  const context = makeContext();
  assert.deepEqual(await silentTool.handle({ forMs: 1 }, context), { waitedMs: 1 });
  const call = silentTool.handle({ forMs: 3_600_000 }, context);
  context.stop('no progress for 30 s');
  await assert.rejects(call, { code: 'aborted' });
  assert.equal(dataset.aborted, 'no progress for 30 s');
  assert.deepEqual(context.reports, []);
});

test('the tool heartbeat reports until forMs has passed or the call is stopped', async (t) => {
  mockPage(t);
  const context = makeContext();
  const { beats } = await heartbeatTool.handle({ everyMs: 2, forMs: 5 }, context);
  assert.equal(context.reports.length, beats);
  assert.deepEqual(context.reports[0], { message: 'beat 1' });
  const endlessCall = heartbeatTool.handle({ everyMs: 1, forMs: 0 }, context);
  context.stop('enough');
  await assert.rejects(endlessCall, { code: 'aborted' });
});

test('the tool stubborn continues after the call was stopped', async (t) => {
  const dataset = mockPage(t);
  const context = makeContext();
  const call = stubbornTool.handle({ forMs: 5 }, context);
  context.stop('please');
  assert.deepEqual(await call, { waitedMs: 5, stopReceived: true });
  assert.equal(dataset.aborted, 'please');
});

test('the tools silent, stubborn and heartbeat run without a context', async () => {
  assert.deepEqual(await silentTool.handle({ forMs: 0 }), { waitedMs: 0 });
  assert.deepEqual(await stubbornTool.handle({ forMs: 0 }), { waitedMs: 0, stopReceived: false });
  assert.equal((await heartbeatTool.handle({ everyMs: 1, forMs: 1 })).beats > 0, true);
});
