/** Promise: a crashed, suspended or cloned browser fails only the calls that it must fail. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pause, waitFor } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { between, midCall, type Place } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

const hold = (what: 'browser' | 'both', forMs: number) => async () => {
  const pids = bed.browserPids();
  if (what === 'both') pids.push(bed.serverPid);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await pause(forMs);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
};

/** restart kills the browser, starts it again with the same profile, and opens the page like a user. */
const restart = (downMs: number) => async (place: Place) => {
  await bed.browser.kill();
  await pause(downMs);
  await bed.browser.start();
  await bed.connected();
  await bed.browser.cdp.send('Target.createTarget', { url: bed.url(place.path) });
  await waitFor('the page again', () => bed.tab(place.path));
};

/** crash crashes the page's process, so the command gets no answer. */
async function crash({ path }: Place): Promise<void> {
  const page = await bed.browser.cdp.attach(await bed.target(path));
  page.send('Page.crash').catch(() => undefined);
  await waitFor('the page to be gone', async () => (await bed.tab(path)) === undefined);
}

/** clone starts a second browser with a copy of the profile's storage until the cell ends. */
async function clone(): Promise<void> {
  const copy = bed.newBrowser('copy');
  const storage = join('Default', 'Local Extension Settings');
  cpSync(join(bed.home, 'profile', storage), join(bed.home, 'copy', storage), { recursive: true });
  await copy.start();
  await bed.connected(2);
  const [a, b] = (await bed.browsers()).map((browser) => browser.id);
  assert.ok(a && b?.startsWith(`${a}~`), `the browsers are ${a} and ${b}`);
  closing.push(copy.close());
}
const closing: Promise<void>[] = [];

test('page crashed, mid-call', () => midCall('page crashed', bed, crash, { code: 'page_crashed', nextMs: 4000 }));
test('page crashed, between', () => between('page crashed', bed, crash, { nextMs: 4000 }));
test('browser held for 4 s, mid-call', () => midCall('browser held for 4 s', bed, hold('browser', 4000)));
test('browser held for 13 s, mid-call', () => midCall('browser held for 13 s', bed, hold('browser', 13_000)));
test('browser held for 13 s, between', () => between('browser held for 13 s', bed, hold('browser', 13_000)));
test('profile cloned, mid-call', () => midCall('profile cloned', bed, clone));
test('profile cloned, between', async () => {
  await Promise.all(closing);
  await waitFor('the copy to be gone', async () => (await bed.browsers()).length === 1);
  await between('profile cloned', bed, clone);
  await Promise.all(closing);
  await waitFor('the copy to be gone', async () => (await bed.browsers()).length === 1);
});
test('browser killed and started again, mid-call', () =>
  midCall('browser SIGKILL, started again', bed, restart(0), {
    code: 'browser_lost',
    endsMs: 8000,
    nextMs: 4000,
    anyTab: true,
  }));
test('browser killed and started again, between', () =>
  between('browser SIGKILL, started again', bed, restart(0), { nextMs: 4000, anyTab: true }));
test('browser killed, mid-call', () =>
  midCall('browser SIGKILL, away for 12 s', bed, restart(12_000), {
    code: 'link_lost',
    endsMs: 11_000,
    nextMs: 4000,
    anyTab: true,
  }));
