/** If the service worker stops or the extension reloads, running calls continue or fail with an error code. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { busyMachineAllowanceMs, type MatrixCell, testBetweenCalls, testDuringCall } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

async function stopWorker(): Promise<void> {
  const { acceptedConnectionCount: connectionsBefore } = fixture.proxy;
  const targetId = await waitFor('the service worker to start', () => fixture.browser.workerId());
  const startMs = performance.now();
  await fixture.browser.cdp.sendCommand('Target.closeTarget', { targetId });
  await waitFor('the browser to open a new link', () => fixture.proxy.acceptedConnectionCount > connectionsBefore);
  await fixture.waitForBrowser();
  const reconnectMs = performance.now() - startMs;
  assert.ok(reconnectMs < 2000 + busyMachineAllowanceMs, `the browser reconnected after ${reconnectMs} ms`);
}

/** The extension reloads in a timer, because an immediate reload would stop the service worker before its response. */
async function reloadExtension(): Promise<void> {
  const { acceptedConnectionCount: connectionsBefore } = fixture.proxy;
  await fixture.evaluateInWorker('setTimeout(() => chrome.runtime.reload(), 100), 0');
  await waitFor('the browser to open a new link', () => fixture.proxy.acceptedConnectionCount > connectionsBefore);
}

let version = 0;
async function updateExtension(_: MatrixCell): Promise<void> {
  const file = join(fixture.extension, 'manifest.json');
  const manifest = readFileSync(file, 'utf8');
  writeFileSync(file, manifest.replace(/"version": "[^"]*"/, `"version": "0.2.${++version}"`));
  await reloadExtension();
}

test('a call survives a stop of the service worker', () => testDuringCall('worker stopped', fixture, stopWorker));
test('a call succeeds after a stop of the service worker', () =>
  testBetweenCalls('worker stopped', fixture, stopWorker));

const expectedAfterReload = {
  errorCode: 'browser_lost',
  maxFailureDelayMs: 3000,
  maxRecoveryMs: 8000,
  stopReceived: true,
} as const;
test('a call fails with browser_lost when the extension is reloaded', () =>
  testDuringCall('extension reloaded', fixture, reloadExtension, expectedAfterReload));
test('a call succeeds after the extension was reloaded', () =>
  testBetweenCalls('extension reloaded', fixture, reloadExtension, { maxRecoveryMs: 8000 }));
test('a call fails with browser_lost when the extension is updated', () =>
  testDuringCall('extension updated', fixture, updateExtension, expectedAfterReload));
test('a call succeeds after the extension was updated', () =>
  testBetweenCalls('extension updated', fixture, updateExtension, { maxRecoveryMs: 8000 }));
