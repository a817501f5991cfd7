/** A call survives when the computer sleeps, even longer than the idle limit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pause } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { appendMatrixRow, testDuringCall } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

test('a call survives a sleep of the machine for 35 s', () =>
  testDuringCall('machine asleep for 35 s', fixture, () => fixture.suspendBrowser(35_000, fixture.serverPid), {
    maxRecoveryMs: 6000,
  }));

test('a link stays connected for 40 s without calls and without a debugger at the service worker', async () => {
  const { tab } = await fixture.openTab();
  const client = await fixture.connectHttp();
  const { acceptedConnectionCount: connectionsBefore } = fixture.proxy;
  const [connectedSinceTime] = (await fixture.listBrowsers()).map((browser) => browser.since);
  await pause(40_000);
  const callOutcome = await client.call('messages__echo', { value: 1, tabId: tab.tabId });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.deepEqual(
    [fixture.proxy.acceptedConnectionCount, (await fixture.listBrowsers())[0]?.since],
    [connectionsBefore, connectedSinceTime],
    'the browser must stay connected over the same link',
  );
  appendMatrixRow({
    faultName: 'nothing for 40 s',
    when: 'between',
    call: '',
    nextAction: `${Math.round(callOutcome.durationMs)} ms, same link`,
    stopReceived: '',
  });
});
