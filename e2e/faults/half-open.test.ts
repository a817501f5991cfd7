/** Promise: a link that is half-open is noticed by both sides within 10 s, and calls survive it within the grace period. */
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
const lose = async () => bed.proxy.drop();

// Both sides notice within 10 s; what the server sent meanwhile is sent again.
test('half-open for ever, mid-call', () => midCall('half-open, new connections work', bed, lose, { nextMs: 14_000 }));
test('half-open for ever, between', () => between('half-open, new connections work', bed, lose, { nextMs: 14_000 }));
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
    told: true,
  }));
