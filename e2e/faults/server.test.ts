/** The browser and MCP clients reconnect to a daemon that was stopped, killed or suspended. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { pause, waitFor } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { appendMatrixRow, busyMachineAllowanceMs, testBetweenCalls, testDuringCall } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

const restartServer = (signal: NodeJS.Signals) => async () => {
  await fixture.stopServer(signal);
  await fixture.startServer();
};
const suspendServer = (durationMs: number) => async () => {
  process.kill(fixture.serverPid, 'SIGSTOP');
  await pause(durationMs);
  process.kill(fixture.serverPid, 'SIGCONT');
};

test('a call fails with shutdown when the server is stopped with SIGTERM and restarted', () =>
  testDuringCall('server SIGTERM, restarted', fixture, restartServer('SIGTERM'), {
    errorCode: 'shutdown',
    stopReceived: true,
  }));
test('a call succeeds after the server was stopped with SIGTERM and restarted', () =>
  testBetweenCalls('server SIGTERM, restarted', fixture, restartServer('SIGTERM')));
test('a call fails when the server is killed and restarted, and the page receives a cancel', () =>
  testDuringCall('server SIGKILL, restarted', fixture, restartServer('SIGKILL'), {
    errorCode: 'connection',
    usesStdio: true,
    stopReceived: true,
  }));
test('a call succeeds after the server was killed and restarted', () =>
  testBetweenCalls('server SIGKILL, restarted', fixture, restartServer('SIGKILL')));
test('a call survives a server that is suspended for 4 s', () =>
  testDuringCall('server suspended for 4 s', fixture, suspendServer(4000)));
test('a call survives a server that is suspended for 13 s', () =>
  testDuringCall('server suspended for 13 s', fixture, suspendServer(13_000), { maxRecoveryMs: 6000 }));
test('a call succeeds after the server was suspended for 13 s', () =>
  testBetweenCalls('server suspended for 13 s', fixture, suspendServer(13_000), { maxRecoveryMs: 6000 }));

test('the browser reconnects within 1 s after a server restart, even if the server was down for 35 s', async () => {
  for (const downtimeMs of [0, 35_000]) {
    await fixture.stopServer('SIGKILL');
    await pause(downtimeMs);
    await fixture.startServer();
    const reconnectMs = await fixture.waitForBrowser();
    appendMatrixRow({
      faultName: `server away for ${downtimeMs / 1000} s`,
      when: 'between',
      call: '',
      nextAction: `browser connected after ${Math.round(reconnectMs)} ms`,
      stopReceived: '',
    });
    assert.ok(
      reconnectMs <= 1000 + busyMachineAllowanceMs,
      `the browser reconnected ${reconnectMs} ms after the server restart, which is too late`,
    );
  }
});

test('opentabs mcp keeps its session over a restart, and a stale HTTP session gets 404', async () => {
  const { tab } = await fixture.openTab();
  const stdioClient = await fixture.connectStdio();
  let listChangeCount = 0;
  stdioClient.sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    listChangeCount++;
  });
  const reportedNumbers: number[] = [];
  await stdioClient.call(
    'messages__countdown',
    { from: 2, intervalMs: 1, tabId: tab.tabId },
    { onProgress: (report) => reportedNumbers.push(report.progress) },
  );
  const headers = {
    authorization: `Bearer ${fixture.clientToken}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const postMessage = (body: object, session?: string) =>
    fetch(`http://127.0.0.1:${fixture.port}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...(session ? { 'mcp-session-id': session } : {}) },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const initializeResponse = await postMessage({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'faults', version: '1' } },
  });
  const session = initializeResponse.headers.get('mcp-session-id') ?? '';
  assert.notEqual(session, '');
  await initializeResponse.text();

  await restartServer('SIGKILL')();
  await fixture.waitForBrowser();
  await waitFor('a list_changed notification', () => listChangeCount > 0);
  await waitFor('the browser to report a document', async () =>
    (await fixture.listBrowsers()).some((browser) => browser.tabs?.some((tab) => tab.documentId !== undefined)),
  );
  const laterCall = await stdioClient.call(
    'messages__countdown',
    { from: 3, intervalMs: 1, tabId: tab.tabId },
    { onProgress: (report) => reportedNumbers.push(report.progress) },
  );
  assert.equal(laterCall.isError, false, laterCall.text);
  assert.equal(laterCall.progress.at(-1)?.progress, 3);
  assert.equal((await postMessage({ id: 2, method: 'tools/list' }, session)).status, 404);
  await fixture.closeTabs();
});
