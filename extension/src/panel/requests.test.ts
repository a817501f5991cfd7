import assert from 'node:assert/strict';
import test from 'node:test';
import type { PanelToWorkerMessage } from '../panel-message.ts';
import { makeRequests } from './requests.ts';

test('sendAction resolves with the answer to its own request', async () => {
  const sentMessages: PanelToWorkerMessage[] = [];
  const requests = makeRequests((panelMessage) => sentMessages.push(panelMessage) > 0);
  const firstRequest = requests.sendAction({ op: 'stop', callId: 'c1' });
  const secondRequest = requests.sendAction({ op: 'retry' });
  assert.deepEqual(
    sentMessages.map(({ action }) => action.op),
    ['stop', 'retry'],
  );
  requests.settleRequest(sentMessages[1]?.requestId ?? 0, {});
  requests.settleRequest(sentMessages[0]?.requestId ?? 0, { error: 'no' });
  requests.settleRequest(99, {});
  assert.deepEqual([await firstRequest, await secondRequest], [{ error: 'no' }, {}]);
});

test('sendAction returns an error if the service worker is missing or stops', async () => {
  let isServerReachable = true;
  const requests = makeRequests(() => isServerReachable);
  const pendingRequest = requests.sendAction({ op: 'retry' });
  requests.failPendingRequests();
  assert.match((await pendingRequest).error ?? '', /restarted/);
  isServerReachable = false;
  assert.match((await requests.sendAction({ op: 'retry' })).error ?? '', /Try again/);
});
