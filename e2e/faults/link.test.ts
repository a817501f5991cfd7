/**
 * After a reset of the link, the browser reconnects to the daemon at once. Calls survive if the link returns within the
 * grace period.
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

const makeLinkCut = (durationMs: number) => async () => {
  fixture.proxy.cut();
  await pause(durationMs);
  fixture.proxy.resume();
};
const resetLink = async () => fixture.proxy.cut(true);

test('a call survives a reset of the link', () => testDuringCall('link reset', fixture, resetLink));
test('a call succeeds after a reset of the link', () => testBetweenCalls('link reset', fixture, resetLink));
test('a call survives a link that is cut for 5 s', () =>
  testDuringCall('link cut for 5 s', fixture, makeLinkCut(5000)));
test('a call succeeds after the link was cut for 5 s', () =>
  testBetweenCalls('link cut for 5 s', fixture, makeLinkCut(5000)));
test('a call fails with link_lost when its link is cut for 13 s', () =>
  testDuringCall('link cut for 13 s', fixture, makeLinkCut(13_000), {
    errorCode: 'link_lost',
    maxFailureDelayMs: 11_000,
    stopReceived: true,
  }));
