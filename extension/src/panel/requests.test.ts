import assert from 'node:assert/strict';
import test from 'node:test';
import type { FromPanel } from '../panel-message.ts';
import { makeRequests } from './requests.ts';

test('each action receives its own answer', async () => {
  const sent: FromPanel[] = [];
  const requests = makeRequests((message) => sent.push(message) > 0);
  const one = requests.act({ op: 'stop', callId: 'c1' });
  const two = requests.act({ op: 'retry' });
  assert.deepEqual(
    sent.map(({ action }) => action.op),
    ['stop', 'retry'],
  );
  requests.settleRequest(sent[1]?.requestId ?? 0, {});
  requests.settleRequest(sent[0]?.requestId ?? 0, { error: 'no' });
  requests.settleRequest(99, {});
  assert.deepEqual([await one, await two], [{ error: 'no' }, {}]);
});

test('requests fail without a worker and when the worker stops', async () => {
  let there = true;
  const requests = makeRequests(() => there);
  const waits = requests.act({ op: 'retry' });
  requests.rejectAll();
  assert.match((await waits).error ?? '', /restarted/);
  there = false;
  assert.match((await requests.act({ op: 'retry' })).error ?? '', /Try again/);
});
