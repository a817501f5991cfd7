import assert from 'node:assert/strict';
import test from 'node:test';
import type { FromPanel } from '../panel-message.ts';
import { makeRequests } from './requests.ts';

test('each action gets its own answer', async () => {
  const sent: FromPanel[] = [];
  const requests = makeRequests((message) => sent.push(message) > 0);
  const one = requests.act({ op: 'stop', callId: 'c1' });
  const two = requests.act({ op: 'retry' });
  assert.deepEqual(
    sent.map(({ action }) => action.op),
    ['stop', 'retry'],
  );
  requests.done(sent[1]?.ask ?? 0, {});
  requests.done(sent[0]?.ask ?? 0, { error: 'no' });
  requests.done(99, {});
  assert.deepEqual([await one, await two], [{ error: 'no' }, {}]);
});

test('without a worker, and when it goes, the person is told', async () => {
  let there = true;
  const requests = makeRequests(() => there);
  const waits = requests.act({ op: 'retry' });
  requests.lost();
  assert.match((await waits).error ?? '', /started anew/);
  there = false;
  assert.match((await requests.act({ op: 'retry' })).error ?? '', /Try again/);
});
