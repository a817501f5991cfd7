/** Simulates the attacker: a site whose pages report the secrets that they see, and plugins without the SDK. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { freePort } from '../harness/chromium.ts';
import { runChecked } from '../harness/process.ts';
import type { Stack, Tab } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

/** secretText is part of arguments, results, reports and errors, and must not become visible to any page. */
export const secretText = 'S3CRET-7f1c';

/** AttackerSite is a site of the attacker. */
export interface AttackerSite {
  readonly port: number;
  readonly origin: string;
  /**
   * The bodies of the POST /note requests that the site received. A page sends a POST /note request for each secret
   * that the page sees.
   */
  readonly leaks: string[];
  /** All requests that the site received, as "METHOD path". */
  readonly requests: string[];
  close(): void;
}

/** startAttackerSite serves bodies by path, each with its content type. */
export async function startAttackerSite(
  pages: Readonly<Record<string, readonly [type: string, body: string]>>,
): Promise<AttackerSite> {
  const notes: string[] = [];
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    requests.push(`${request.method} ${path}`);
    if (path === '/note') {
      request.on('data', (chunk) => notes.push(String(chunk)));
      request.on('end', () => response.end());
      return;
    }
    const [type, body] = pages[path] ?? ['text/html', '<!doctype html><title>plain</title><p>plain'];
    response.writeHead(200, { 'content-type': type, 'service-worker-allowed': '/' });
    response.end(body);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    leaks: notes,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** readScript reads a script of testdata and replaces SECRET in it by secretText. */
export function readScript(name: string): string {
  const path = fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
  return readFileSync(path, 'utf8').replaceAll('SECRET', secretText);
}

/** htmlWithScript returns the content type and the body of a page whose first script is code. */
export function htmlWithScript(code: string): readonly [string, string] {
  return ['text/html; charset=utf-8', `<!doctype html><title>t</title><script>${code}</script><p>x`];
}

/** HandwrittenPlugin is a plugin whose adapter uses no SDK, so the adapter passes nothing to built-ins of the page. */
export interface HandwrittenPlugin {
  readonly name: string;
  readonly urlPatterns: readonly string[];
  readonly toolNames: readonly string[];
  readonly adapterCode: string;
  /** The manifest fields world and start; if a field is absent, its default applies. */
  readonly world?: 'isolated';
  readonly start?: 'document_start';
}

/**
 * addPlugin writes the package of a plugin and adds the plugin to the running server. reviewFlags are review flags of
 * `plugin add`; with an empty list the plugin stays unreviewed.
 */
export async function addPlugin(
  stack: Stack,
  plugin: HandwrittenPlugin,
  reviewFlags: readonly string[] = ['--permission', 'auto'],
): Promise<void> {
  const dir = join(stack.home, `plugin-${plugin.name}`);
  mkdirSync(join(dir, 'dist'), { recursive: true });
  const anyObject = { type: 'object' };
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({
      name: `opentabs-plugin-${plugin.name}`,
      version: '1.0.0',
      main: 'dist/adapter.iife.js',
      opentabs: { displayName: plugin.name, description: 'x', urlPatterns: plugin.urlPatterns, world: plugin.world },
    }),
  );
  writeFileSync(
    join(dir, 'dist/tools.json'),
    JSON.stringify({
      sdkVersion: '0.1.0',
      start: plugin.start,
      tools: plugin.toolNames.map((name) => ({ name, description: 'x', input_schema: anyObject, output_schema: {} })),
    }),
  );
  writeFileSync(join(dir, 'dist/adapter.iife.js'), plugin.adapterCode);
  await runChecked(['plugin', 'add', dir, ...reviewFlags], stack.env);
}

/** pluginNames returns the names of the plugins that are live in a tab. */
export function pluginNames(tab: Tab): string[] {
  return (tab.plugins ?? []).flatMap((plugin) =>
    typeof plugin === 'object' && plugin !== null && 'name' in plugin ? [String(plugin.name)] : [],
  );
}

/**
 * openWithPlugin opens a page in a new tab and waits until a plugin is live in that tab. If Chrome registers the plugin only after
 * the page has loaded, opentabs reloads the page.
 */
export async function openWithPlugin(
  stack: Stack,
  url: string,
  plugin: string,
): Promise<{ page: Page; tabId: number }> {
  // The server may still list a closed tab with the same URL.
  const earlierTabs = (await stack.listTabs()).map((tab) => tab.tabId);
  const page = await stack.chrome.context.newPage();
  await page.goto(url);
  const { tabId } = await waitFor(`${plugin} in ${url}`, async () =>
    (await stack.listTabs()).find(
      (tab) => tab.url === url && !earlierTabs.includes(tab.tabId) && pluginNames(tab).includes(plugin),
    ),
  );
  return { page, tabId };
}
