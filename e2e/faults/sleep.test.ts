/** Promise: a call outlives the sleep of the machine, also one longer than every limit but the hard one. */
import { after, before, test } from 'node:test';
import { pause } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { midCall } from './cell.ts';

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
