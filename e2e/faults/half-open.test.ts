/** Promise: both sides detect a half-open link within 10 s, and calls survive it within the grace period. */
import { after, before, test } from 'node:test';
import { pause } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { between, midCall } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

/** stallFor makes the link half-open, for new connections too. */
const stallFor = (direction: 'up' | 'down' | 'both', forMs: number) => async () => {
  bed.proxy.stall(direction);
  await pause(forMs);
  bed.proxy.resume(direction);
};
const lose = async () => bed.proxy.blackholeOpen();

// Both sides detect the fault within 10 s, and the server resends the unacknowledged frames.
test('half-open without end, mid-call', () =>
  midCall('half-open, new connections work', bed, lose, { nextMs: 14_000 }));
test('half-open without end, between', () => between('half-open, new connections work', bed, lose, { nextMs: 14_000 }));
for (const direction of ['up', 'down', 'both'] as const) {
  test(`half-open for 13 s, ${direction}, mid-call`, () =>
    midCall(`half-open (${direction}) for 13 s`, bed, stallFor(direction, 13_000), { nextMs: 6000 }));
}
test('half-open for 4 s, mid-call', () => midCall('half-open for 4 s', bed, stallFor('both', 4000)));
test('half-open for 24 s, mid-call', () =>
  midCall('half-open for 24 s', bed, stallFor('both', 24_000), {
    code: 'link_lost',
    endsMs: 22_000,
    nextMs: 6000,
    stopReceived: true,
  }));
