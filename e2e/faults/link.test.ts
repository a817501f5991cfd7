/** Promise: a cut link reconnects at once, and calls survive the cut within the grace period. */
import { after, before, test } from 'node:test';
import { pause } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { between, midCall } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

/** cutFor cuts the link and keeps it cut. */
const cutFor = (forMs: number) => async () => {
  bed.proxy.cut();
  await pause(forMs);
  bed.proxy.resume();
};
const reset = async () => bed.proxy.cut(true);

test('reset, mid-call', () => midCall('link reset', bed, reset));
test('reset, between', () => between('link reset', bed, reset));
test('cut for 5 s, mid-call', () => midCall('link cut for 5 s', bed, cutFor(5000)));
test('cut for 5 s, between', () => between('link cut for 5 s', bed, cutFor(5000)));
test('cut for 13 s, mid-call', () =>
  midCall('link cut for 13 s', bed, cutFor(13_000), {
    code: 'link_lost',
    endsMs: 11_000,
    stopReceived: true,
  }));
