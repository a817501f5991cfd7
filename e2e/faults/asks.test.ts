/** Promise: nested calls, approvals and activities survive a lost link. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { callRecord, decideCall, findCall } from '../harness/daemon-api.ts';
import { repositoryRoot, runChecked } from '../harness/process.ts';
import { everythingPlugin } from '../harness/stack.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { Bed } from './bed.ts';

let bed: Bed;
let client: McpClient;
let tabId: number;
before(async () => {
  bed = await Bed.make();
  const plugin = join(bed.home, 'everything');
  cpSync(join(repositoryRoot, everythingPlugin.dir), plugin, { recursive: true });
  await runChecked(['plugin', 'build', plugin], bed.env);
  await runChecked(['plugin', 'add', plugin, '--permission', 'auto'], bed.env);
  client = await bed.client();
  const { path } = await bed.open();
  tabId = await waitFor('all plugins in the tab', async () => {
    const tab = await bed.tab(path);
    return tab?.plugins?.length === 2 ? tab.tabId : undefined;
  });
});
after(() => bed?.close());

/** begun waits until the page has reported to the site that the work with this key started. */
const begun = (key: string) => waitFor(`${key} to begin`, () => bed.site.notes.includes(`begin ${key}`));
const healed = () => waitFor('the link to be back', async () => (await bed.connected()) >= 0);

/** cutFor cuts the link while work runs. */
async function cutFor(work: () => Promise<unknown>): Promise<void> {
  bed.proxy.cut();
  await work();
  bed.proxy.resume();
  await healed();
}

test('a nested call that ends while the link is cut returns its result', async () => {
  const out = client.call('everything__call', { tool: 'silent', input: { forMs: 1_000, key: 'cut' }, tabId });
  await begun('cut');
  await cutFor(() => pause(3_000));
  assert.deepEqual((await out).structured, { output: { key: 'cut' } });
});

/** waiting starts a tool that waits for the user. */
async function waiting() {
  const out = client.call('everything__login', { tabId });
  const { call_id } = await findCall(bed, 'everything__login', (c) => c.waiting !== undefined);
  const yes = async () =>
    assert.match(JSON.stringify(await decideCall(bed, call_id, { allow: true })), /"outcome":"decided"/);
  return { out, yes };
}

test('a decision of the user while the link is cut reaches the tool', async () => {
  const { out, yes } = await waiting();
  await cutFor(yes);
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('a decision in transit when the link is lost reaches the tool', async () => {
  const { out, yes } = await waiting();
  bed.proxy.stall('down');
  await yes();
  bed.proxy.cut(true);
  bed.proxy.resume();
  await healed();
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('a tool that waits for the user survives several links', async () => {
  const { out, yes } = await waiting();
  for (let cuts = 0; cuts < 3; cuts++) await cutFor(() => pause(500));
  await yes();
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('an activity with more changes than the buffer holds while the link is cut is complete afterwards', async () => {
  const count = 4_000;
  const stop = new AbortController();
  const args = { count, afterMs: 1_500, forMs: 25_000, tabId };
  const out = client.call('everything__deltas', args, { signal: stop.signal });
  const { call_id } = await findCall(bed, 'everything__deltas', (c) => c.status === 'running');
  const rows = async () => {
    const [table] = (await callRecord(bed, call_id)).activities ?? [];
    return JSON.stringify(table?.content);
  };
  await waitFor('the empty table', async () => (await rows()) === '{"columns":["n"],"rows":[]}');
  await cutFor(() => pause(3_000));
  const want = JSON.stringify({ columns: ['n'], rows: Array.from({ length: count }, (_, i) => [i + 1]) });
  await waitFor('the whole table', async () => (await rows()) === want);
  stop.abort();
  await assert.rejects(out);
});
