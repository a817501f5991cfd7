/**
 * Daemon and browser detect a half-open link within 10 s. Calls survive the loss of the link if the link
 * returns within the grace period.
 */
import { after, before, test } from 'node:test';
import { pause } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { testBetweenCalls, testDuringCall } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

const stallLink = (stallDirection: 'up' | 'down' | 'both', durationMs: number) => async () => {
  fixture.proxy.stallTraffic(stallDirection);
  await pause(durationMs);
  fixture.proxy.resume(stallDirection);
};
/** blackholeConnections discards all bytes of the open connections; new connections work. */
const blackholeConnections = async () => fixture.proxy.blackholeConnections();

// On a new link, the daemon resends the message frames that the browser has not acknowledged.
test('a call survives a link that stays half-open, because the browser opens a new link', () =>
  testDuringCall('half-open, new connections work', fixture, blackholeConnections, { maxRecoveryMs: 14_000 }));
test('a call succeeds after a link became half-open and the browser has opened a new link', () =>
  testBetweenCalls('half-open, new connections work', fixture, blackholeConnections, { maxRecoveryMs: 14_000 }));
for (const stallDirection of ['up', 'down', 'both'] as const) {
  test(`a call survives a link that is half-open for 13 s, direction ${stallDirection}`, () =>
    testDuringCall(`half-open (${stallDirection}) for 13 s`, fixture, stallLink(stallDirection, 13_000), {
      maxRecoveryMs: 6000,
    }));
}
test('a call survives a link that is half-open for 4 s', () =>
  testDuringCall('half-open for 4 s', fixture, stallLink('both', 4000)));
test('a call fails with link_lost when its link is half-open for 24 s', () =>
  testDuringCall('half-open for 24 s', fixture, stallLink('both', 24_000), {
    errorCode: 'link_lost',
    maxFailureDelayMs: 22_000,
    maxRecoveryMs: 6000,
    stopReceived: true,
  }));
