/** Promise: a call survives a sleep of the machine, even one longer than the idle limit, and an unused link stays connected. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pause } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { midCall, note } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

test('server and browser held for 35 s, mid-call', () =>
  midCall(
    'machine asleep for 35 s',
    bed,
    async () => {
      const pids = [...bed.browserPids(), bed.serverPid];
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await pause(35_000);
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    },
    { nextMs: 6000 },
  ));

test('a link stays connected for 40 s without calls and without a debugger at the service worker', async () => {
  const { tab } = await bed.open();
  const client = await bed.client();
  const { connectionsMade: made } = bed.proxy;
  const [first] = (await bed.browsers()).map((b) => b.since);
  await pause(40_000);
  const out = await client.call('messages__echo', { value: 1, tabId: tab.tabId });
  assert.equal(out.isError, false, out.text);
  assert.deepEqual([bed.proxy.connectionsMade, (await bed.browsers())[0]?.since], [made, first], 'it is the same link');
  note({
    fault: 'nothing for 40 s',
    when: 'between',
    call: '',
    next: `${Math.round(out.durationMs)} ms, same link`,
    stopReceived: '',
  });
});
