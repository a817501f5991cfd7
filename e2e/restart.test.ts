/**
 * After a daemon restart, each MCP client receives an error for its old session, and can open a new session at
 * once.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { findFreePort } from './harness/chromium.ts';
import { connectHttp, connectStdio, type McpClient } from './harness/client.ts';
import { addClient } from './harness/daemon-api.ts';
import { type StartedCommand, startOpentabs, stopProcess } from './harness/process.ts';
import { waitFor } from './harness/wait.ts';

let env: Record<string, string>;
let port: number;
let daemon: StartedCommand;
let token: string;

async function startDaemon(): Promise<void> {
  daemon = startOpentabs(['serve'], env);
  await waitFor('the daemon to answer /healthz', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
}

before(async () => {
  port = await findFreePort();
  env = { OPENTABS_HOME: mkdtempSync(join(tmpdir(), 'opentabs-e2e-')), OPENTABS_PORT: String(port), NO_COLOR: '1' };
  await startDaemon();
  token = await addClient(env, 'restart');
});
after(async () => {
  await stopProcess(daemon);
  rmSync(env.OPENTABS_HOME ?? '', { recursive: true, force: true });
});

async function openSubscriptionStream(): Promise<Response> {
  const version = '2026-07-28';
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': version,
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  return response;
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`after ${signal} each request of a stale session gets 404, and a new session opens at once`, async () => {
    const clients: McpClient[] = [];
    for (let i = 0; i < 5; i++) clients.push(await connectHttp(port, token));
    const stdioClient = await connectStdio(env);
    const subscriptionStream = await openSubscriptionStream();
    await stopProcess(daemon, signal); // listening clients must not delay the shutdown
    await subscriptionStream.text().catch(() => ''); // The client waits until the daemon has closed the listen stream.
    await startDaemon();
    // While the test sends requests, the MCP SDK's transports try to reopen their GET streams.
    const errors = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const result = await clients[i % clients.length]?.sdk.listTools().catch((error: unknown) => error);
        return result instanceof StreamableHTTPError ? result.code : result;
      }),
    );
    assert.deepEqual(new Set(errors), new Set([404]));
    const newClient = await connectHttp(port, token);
    assert.ok((await newClient.sdk.listTools()).tools.length > 0);
    // The relay for stdio opens a new session automatically, so its client receives no error.
    assert.ok((await stdioClient.sdk.listTools()).tools.length > 0);
    await Promise.allSettled([...clients, newClient, stdioClient].map((client) => client.close()));
  });
}
