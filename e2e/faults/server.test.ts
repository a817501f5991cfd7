/** Promise: browser and clients reconnect to a server that was stopped, killed or suspended. Pages receive a cancel for calls without a client. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { pause, waitFor } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { between, busyMs, midCall, note } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

const restart = (signal: NodeJS.Signals) => async () => {
  await bed.stopServer(signal);
  await bed.startServer();
};
const hold = (forMs: number) => async () => {
  process.kill(bed.serverPid, 'SIGSTOP');
  await pause(forMs);
  process.kill(bed.serverPid, 'SIGCONT');
};

test('SIGTERM, mid-call', () =>
  midCall('server SIGTERM, started again', bed, restart('SIGTERM'), { code: 'shutdown', stopReceived: true }));
test('SIGTERM, between', () => between('server SIGTERM, started again', bed, restart('SIGTERM')));
test('SIGKILL, mid-call', () =>
  midCall('server SIGKILL, started again', bed, restart('SIGKILL'), {
    code: 'connection',
    stdio: true,
    stopReceived: true,
  }));
test('SIGKILL, between', () => between('server SIGKILL, started again', bed, restart('SIGKILL')));
test('SIGSTOP for 4 s, mid-call', () => midCall('server held for 4 s', bed, hold(4000)));
test('SIGSTOP for 13 s, mid-call', () => midCall('server held for 13 s', bed, hold(13_000), { nextMs: 6000 }));
test('SIGSTOP for 13 s, between', () => between('server held for 13 s', bed, hold(13_000), { nextMs: 6000 }));

test('the browser reconnects within 1 s of a server restart, also after 30 s', async () => {
  for (const downMs of [0, 35_000]) {
    await bed.stopServer('SIGKILL');
    await pause(downMs);
    await bed.startServer();
    const took = await bed.connected();
    note({
      fault: `server away for ${downMs / 1000} s`,
      when: 'between',
      call: '',
      next: `link after ${Math.round(took)} ms`,
      stopReceived: '',
    });
    assert.ok(took <= 1000 + busyMs, `the link was back ${took} ms after the server`);
  }
});

test('opentabs mcp keeps its session over a restart, and a stale HTTP session gets 404', async () => {
  const { tab } = await bed.open();
  const stdio = await bed.stdioClient();
  let listChanged = 0;
  stdio.sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    listChanged++;
  });
  const seen: number[] = [];
  await stdio.call(
    'messages__countdown',
    { from: 2, intervalMs: 1, tabId: tab.tabId },
    { onProgress: (p) => seen.push(p.progress) },
  );
  const headers = {
    authorization: `Bearer ${bed.clientToken}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (body: object, session?: string) =>
    fetch(`http://127.0.0.1:${bed.port}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...(session ? { 'mcp-session-id': session } : {}) },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const hello = await post({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'faults', version: '1' } },
  });
  const session = hello.headers.get('mcp-session-id') ?? '';
  assert.notEqual(session, '');
  await hello.text();

  await restart('SIGKILL')();
  await bed.connected();
  await waitFor('list_changed', () => listChanged > 0);
  await waitFor('the tab', async () =>
    (await bed.browsers()).some((b) => b.tabs?.some((t) => t.documentId !== undefined)),
  );
  const again = await stdio.call(
    'messages__countdown',
    { from: 3, intervalMs: 1, tabId: tab.tabId },
    { onProgress: (p) => seen.push(p.progress) },
  );
  assert.equal(again.isError, false, again.text);
  assert.equal(again.progress.at(-1)?.progress, 3);
  assert.equal((await post({ id: 2, method: 'tools/list' }, session)).status, 404);
  await bed.closeTabs();
});
