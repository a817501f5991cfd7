/**
 * Simulates an attacker: a site whose pages report each secret that they can read, and hostile plugins that do not use
 * the SDK.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { runOrThrow } from '../harness/process.ts';
import type { Stack, Tab } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

/** The tests check that no page can read secretText, which is in the arguments, results and errors of calls. */
export const secretText = 'S3CRET-7f1c';

export interface AttackerSite {
  readonly port: number;
  readonly origin: string;
  /** `leakedSecrets` lists the secrets that pages of the attacker's site have read and reported. */
  readonly leakedSecrets: string[];
  readonly requests: string[];
  close(): void;
}

export async function startAttackerSite(
  pages: Readonly<Record<string, readonly [type: string, body: string]>>,
): Promise<AttackerSite> {
  const attackNotes: string[] = [];
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    requests.push(`${request.method} ${path}`);
    if (path === '/note') {
      request.on('data', (chunk) => attackNotes.push(String(chunk)));
      request.on('end', () => response.end());
      return;
    }
    const [type, body] = pages[path] ?? ['text/html', '<!doctype html><title>plain</title><p>plain'];
    response.writeHead(200, { 'content-type': type, 'service-worker-allowed': '/' });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const serverAddress = server.address();
  if (serverAddress === null || typeof serverAddress === 'string') throw new Error('the site has no port');
  const { port } = serverAddress;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    leakedSecrets: attackNotes,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function readScript(name: string): string {
  const path = fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
  return readFileSync(path, 'utf8').replaceAll('SECRET', secretText);
}

export function makeHtmlWithScript(code: string): readonly [string, string] {
  return ['text/html; charset=utf-8', `<!doctype html><title>t</title><script>${code}</script><p>x`];
}

/** HandwrittenPlugin is a plugin whose adapter does not use the SDK and calls no JavaScript built-ins of the page. */
export interface HandwrittenPlugin {
  readonly name: string;
  readonly urlPatterns: readonly string[];
  readonly toolNames: readonly string[];
  readonly adapterCode: string;
  readonly world?: 'isolated';
  readonly start?: 'document_start';
}

/** With empty reviewFlags, the added plugin stays unreviewed. */
export async function addPlugin(
  stack: Stack,
  plugin: HandwrittenPlugin,
  reviewFlags: readonly string[] = ['--permission', 'auto'],
): Promise<void> {
  const pluginFolder = join(stack.homeFolder, `plugin-${plugin.name}`);
  mkdirSync(join(pluginFolder, 'dist'), { recursive: true });
  const anyObjectSchema = { type: 'object' };
  writeFileSync(
    join(pluginFolder, 'package.json'),
    JSON.stringify({
      name: `opentabs-plugin-${plugin.name}`,
      version: '1.0.0',
      main: 'dist/adapter.iife.js',
      opentabs: { displayName: plugin.name, description: 'x', urlPatterns: plugin.urlPatterns, world: plugin.world },
    }),
  );
  writeFileSync(
    join(pluginFolder, 'dist/tools.json'),
    JSON.stringify({
      sdkVersion: '0.1.0',
      start: plugin.start,
      tools: plugin.toolNames.map((name) => ({
        name,
        description: 'x',
        input_schema: anyObjectSchema,
        output_schema: {},
      })),
    }),
  );
  writeFileSync(join(pluginFolder, 'dist/adapter.iife.js'), plugin.adapterCode);
  await runOrThrow(['plugin', 'add', pluginFolder, ...reviewFlags], stack.env);
}

export function listPluginNames(tab: Tab): string[] {
  return (tab.plugins ?? []).flatMap((plugin) =>
    typeof plugin === 'object' && plugin !== null && 'name' in plugin ? [String(plugin.name)] : [],
  );
}

/** If Chrome registers the plugin too late for the page, opentabs reloads the page. */
export async function openPageWithPlugin(
  stack: Stack,
  url: string,
  plugin: string,
): Promise<{ page: Page; tabId: number }> {
  const earlierTabIds = (await stack.listTabs()).map((tab) => tab.tabId);
  const page = await stack.chrome.context.newPage();
  await page.goto(url);
  const { tabId } = await waitFor(`${plugin} in ${url}`, async () =>
    (await stack.listTabs()).find(
      (tab) => tab.url === url && !earlierTabIds.includes(tab.tabId) && listPluginNames(tab).includes(plugin),
    ),
  );
  return { page, tabId };
}
