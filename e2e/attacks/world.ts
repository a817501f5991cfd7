/** What attacks need beside the stack: pages of an attacker that note what they see, and plugins written by hand. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { freePort } from '../harness/chromium.ts';
import { runChecked } from '../harness/process.ts';
import type { Stack, Tab } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

/** Secret stands in arguments, results, reports and errors; no page may see it. */
export const Secret = 'S3CRET-7f1c';

/** Pages is a site of the attacker's. A page may POST what it has seen to /note. */
export interface Pages {
  readonly port: number;
  readonly origin: string;
  readonly notes: string[];
  /** requests are all that came, as "METHOD path". */
  readonly requests: string[];
  close(): void;
}

/** startPages serves bodies by path, each with its content type. */
export async function startPages(
  pages: Readonly<Record<string, readonly [type: string, body: string]>>,
): Promise<Pages> {
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
    notes,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** script reads a script of testdata with the secret in its place. */
export function script(name: string): string {
  const path = fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
  return readFileSync(path, 'utf8').replaceAll('SECRET', Secret);
}

/** html is a page whose first script is code. */
export function html(code: string): readonly [string, string] {
  return ['text/html; charset=utf-8', `<!doctype html><title>t</title><script>${code}</script><p>x`];
}

/** HandMade is a plugin whose adapter uses no SDK, so that it hands nothing to built-ins of the page. */
export interface HandMade {
  readonly name: string;
  readonly matches: readonly string[];
  readonly tools: readonly string[];
  readonly code: string;
  /** world is where the adapter runs, start when it starts; default what packages without these have. */
  readonly world?: 'isolated';
  readonly start?: 'document_start';
}

/** addPlugin writes a package and adds it to the running server; allow says how its person lets it in, if they do. */
export async function addPlugin(
  stack: Stack,
  plugin: HandMade,
  allow: readonly string[] = ['--permission', 'auto'],
): Promise<void> {
  const dir = join(stack.home, `plugin-${plugin.name}`);
  mkdirSync(join(dir, 'dist'), { recursive: true });
  const any = { type: 'object' };
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({
      name: `opentabs-plugin-${plugin.name}`,
      version: '1.0.0',
      main: 'dist/adapter.iife.js',
      opentabs: { displayName: plugin.name, description: 'x', urlPatterns: plugin.matches, world: plugin.world },
    }),
  );
  writeFileSync(
    join(dir, 'dist/tools.json'),
    JSON.stringify({
      sdkVersion: '0.1.0',
      start: plugin.start,
      tools: plugin.tools.map((name) => ({ name, description: 'x', input_schema: any, output_schema: {} })),
    }),
  );
  writeFileSync(join(dir, 'dist/adapter.iife.js'), plugin.code);
  await runChecked(['plugin', 'add', dir, ...allow], stack.env);
}

/** names are the plugins that are live in a tab. */
export function names(tab: Tab): string[] {
  return (tab.plugins ?? []).flatMap((plugin) =>
    typeof plugin === 'object' && plugin !== null && 'name' in plugin ? [String(plugin.name)] : [],
  );
}

/** visit opens a page in a new tab and waits until a plugin is live there. A page that loaded before its plugin was registered reloads automatically. */
export async function visit(stack: Stack, url: string, plugin: string): Promise<{ page: Page; tabId: number }> {
  // The server may still list a closed tab with the same URL.
  const known = (await stack.listTabs()).map((tab) => tab.tabId);
  const page = await stack.chrome.context.newPage();
  await page.goto(url);
  const { tabId } = await waitFor(`${plugin} in ${url}`, async () =>
    (await stack.listTabs()).find(
      (tab) => tab.url === url && !known.includes(tab.tabId) && names(tab).includes(plugin),
    ),
  );
  return { page, tabId };
}
