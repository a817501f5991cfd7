/** Starts the browser MCP servers with which the benchmark compares opentabs. */
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { chromiumPath } from '../../harness/chromium.ts';
import { Agent } from './agent.ts';
import { makeChromeDevtoolsTools, playwrightTools } from './words.ts';

export interface PeerServer {
  readonly agent: Agent;
  close(): Promise<void>;
}

/** peerPackagesFolder is the folder in which `npm install @playwright/mcp chrome-devtools-mcp` was run. */
export const peerPackagesFolder = process.env.PEERS ?? '';

export async function startPlaywright(): Promise<PeerServer | undefined> {
  const args = [
    '--headless',
    '--isolated',
    '--no-sandbox',
    '--executable-path',
    chromiumPath,
    '--viewport-size',
    '1280x720',
  ];
  const peerServer = await startPeerServer('@playwright/mcp', 'cli.js', [
    ...args,
    '--output-dir',
    join(tmpdir(), 'playwright-mcp'),
  ]);
  return peerServer && { ...peerServer, agent: new Agent(peerServer.name, peerServer.client, playwrightTools) };
}

export async function startChromeDevtools(): Promise<PeerServer | undefined> {
  const args = ['--headless', '--isolated', '-e', chromiumPath, '--chromeArg=--no-sandbox', '--viewport', '1280x720'];
  const programPath = 'build/src/bin/chrome-devtools-mcp.js';
  const peerServer = await startPeerServer('chrome-devtools-mcp', programPath, [
    ...args,
    '--no-usage-statistics',
    '--no-performance-crux',
  ]);
  return (
    peerServer && { ...peerServer, agent: new Agent(peerServer.name, peerServer.client, makeChromeDevtoolsTools()) }
  );
}

async function startPeerServer(packageName: string, programPath: string, args: readonly string[]) {
  const folder = join(peerPackagesFolder, 'node_modules', packageName);
  const path = join(folder, programPath);
  if (peerPackagesFolder === '' || !existsSync(path)) return undefined;
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const name = `${packageName} ${Object(manifest).version}`;
  const client = new Client({ name: 'opentabs-bench', version: '0.1.0' }, { capabilities: {} });
  // Playwright MCP and chrome-devtools-mcp may upload files from the system's temporary folder.
  const stdioTransport = new StdioClientTransport({
    command: process.execPath,
    args: [path, ...args],
    cwd: tmpdir(),
    stderr: 'ignore',
  });
  await client.connect(Object(stdioTransport));
  return { name, client, close: () => client.close() };
}
