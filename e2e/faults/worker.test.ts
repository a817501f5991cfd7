/** Promise: if the service worker stops or the extension reloads, calls continue or fail with a code, and the next call succeeds. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { between, busyMs, midCall, type Place } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

/** killWorker stops the service worker and waits until a new one connects. */
async function killWorker(): Promise<void> {
  const { connectionsMade: made } = bed.proxy;
  const targetId = await waitFor('the service worker', () => bed.browser.worker());
  const begun = performance.now();
  await bed.browser.cdp.send('Target.closeTarget', { targetId });
  await waitFor('a new link', () => bed.proxy.connectionsMade > made);
  await bed.connected();
  const took = performance.now() - begun;
  assert.ok(took < 2000 + busyMs, `the link was back after ${took} ms`);
}

/** reload reloads the extension as its button does, and waits until the new service worker connects. The old worker ends before it can answer. */
async function reload(): Promise<void> {
  const { connectionsMade: made } = bed.proxy;
  await bed.inWorker('setTimeout(() => chrome.runtime.reload(), 0), 0');
  await waitFor('a new link', () => bed.proxy.connectionsMade > made);
}

let version = 0;
/** update writes another version into the extension's folder and reloads the extension. */
async function update(_: Place): Promise<void> {
  const file = join(bed.extension, 'manifest.json');
  const manifest = readFileSync(file, 'utf8');
  writeFileSync(file, manifest.replace(/"version": "[^"]*"/, `"version": "0.2.${++version}"`));
  await reload();
}

test('worker stopped, mid-call', () => midCall('worker stopped', bed, killWorker));
test('worker stopped, between', () => between('worker stopped', bed, killWorker));

const afterReload = { code: 'browser_lost', endsMs: 3000, nextMs: 8000, stopReceived: true } as const;
test('extension reloaded, mid-call', () => midCall('extension reloaded', bed, reload, afterReload));
test('extension reloaded, between', () => between('extension reloaded', bed, reload, { nextMs: 8000 }));
test('extension updated, mid-call', () => midCall('extension updated', bed, update, afterReload));
test('extension updated, between', () => between('extension updated', bed, update, { nextMs: 8000 }));
