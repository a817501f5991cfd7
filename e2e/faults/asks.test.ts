/** Promise: what a tool asks for, and what it shows, survive the loss of the link. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { callRecord, decideCall, findCall } from '../harness/api.ts';
import type { McpClient } from '../harness/client.ts';
import { must, root } from '../harness/process.ts';
import { everything } from '../harness/stack.ts';
import { pause, until } from '../harness/wait.ts';
import { Bed } from './bed.ts';

let bed: Bed;
let client: McpClient;
let tabId: number;
before(async () => {
  bed = await Bed.make();
  const plugin = join(bed.home, 'everything');
  cpSync(join(root, everything.dir), plugin, { recursive: true });
  await must(['plugin', 'build', plugin], bed.env);
  await must(['plugin', 'add', plugin, '--permission', 'auto'], bed.env);
  client = await bed.client();
  const { path } = await bed.open();
  tabId = await until('all plugins in the tab', async () => {
    const tab = await bed.tab(path);
    return tab?.plugins?.length === 2 ? tab.tabId : undefined;
  });
});
after(() => bed?.close());

/** begun waits until the page has told the site that work with a key has begun. */
const begun = (key: string) => until(`${key} to begin`, () => bed.site.notes.includes(`begin ${key}`));
const healed = () => until('the link to be back', async () => (await bed.connected()) >= 0);

/** cutFor cuts the link while work is done. */
async function cutFor(work: () => Promise<unknown>): Promise<void> {
  bed.proxy.cut();
  await work();
  bed.proxy.resume();
  await healed();
}

test('a nested call that ends while the link is cut', async () => {
  const out = client.call('everything__call', { tool: 'silent', input: { forMs: 1_000, key: 'cut' }, tabId });
  await begun('cut');
  await cutFor(() => pause(3_000));
  assert.deepEqual((await out).structured, { output: { key: 'cut' } });
});

/** waiting starts a tool that waits for its person. */
async function waiting() {
  const out = client.call('everything__login', { tabId });
  const { call_id } = await findCall(bed, 'everything__login', (c) => c.waiting !== undefined);
  const yes = async () =>
    assert.match(JSON.stringify(await decideCall(bed, call_id, { allow: true })), /"outcome":"decided"/);
  return { out, yes };
}

test('a person decides while the link is cut', async () => {
  const { out, yes } = await waiting();
  await cutFor(yes);
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('a decision is on its way when the link is lost', async () => {
  const { out, yes } = await waiting();
  bed.proxy.stall('down');
  await yes();
  bed.proxy.cut(true);
  bed.proxy.resume();
  await healed();
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('a wait longer than the link lives', async () => {
  const { out, yes } = await waiting();
  for (let cuts = 0; cuts < 3; cuts++) await cutFor(() => pause(500));
  await yes();
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('an activity that changes more often than can be kept while the link is cut is whole again afterwards', async () => {
  const count = 4_000;
  const stop = new AbortController();
  const args = { count, afterMs: 1_500, forMs: 25_000, tabId };
  const out = client.call('everything__deltas', args, { signal: stop.signal });
  const { call_id } = await findCall(bed, 'everything__deltas', (c) => c.status === 'running');
  const rows = async () => {
    const [table] = (await callRecord(bed, call_id)).activities ?? [];
    return JSON.stringify(table?.content);
  };
  await until('the empty table', async () => (await rows()) === '{"columns":["n"],"rows":[]}');
  await cutFor(() => pause(3_000));
  const want = JSON.stringify({ columns: ['n'], rows: Array.from({ length: count }, (_, i) => [i + 1]) });
  await until('the whole table', async () => (await rows()) === want);
  stop.abort();
  await assert.rejects(out);
});
