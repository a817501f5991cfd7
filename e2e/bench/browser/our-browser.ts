/** Starts opentabs with a browser that no test driver such as Playwright controls, as for a real user. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../../harness/browser.ts';
import { findFreePort } from '../../harness/chromium.ts';
import { connectStdio, type McpClient } from '../../harness/client.ts';
import { runOrThrow, startOpentabs, stopProcess } from '../../harness/process.ts';
import { waitFor } from '../../harness/wait.ts';
import { siteHost } from './pages.ts';

export interface OpentabsBrowser {
  readonly client: McpClient;
  readonly browser: Browser;
  /** uploadFolder is the folder from which the MCP client may upload files. */
  readonly uploadFolder: string;
  connectClient(): Promise<McpClient>;
  openTab(url: string): Promise<number>;
  close(): Promise<void>;
}

/** windowSizeFlag sets the browser's viewport to about 1280 x 720 pixels, as the compared MCP servers do. */
const windowSizeFlag = '--window-size=1280,863';

export async function startOpentabsBrowser(...installFlags: readonly string[]): Promise<OpentabsBrowser> {
  const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-bench-browser-'));
  const uploadFolder = join(homeFolder, 'uploads');
  mkdirSync(uploadFolder);
  writeFileSync(join(homeFolder, 'config.json'), JSON.stringify({ uploadFolders: uploadFolder }));
  const env = {
    OPENTABS_HOME: homeFolder,
    OPENTABS_PORT: String(await findFreePort()),
    NO_COLOR: '1',
    OPENTABS_BROWSER_ACTS: '0',
    OPENTABS_BROWSER_PICTURES: '0',
  };
  const extension = join(homeFolder, 'unpacked');
  await runOrThrow(['extension', 'install', '--dir', extension, ...installFlags], env);
  const daemon = startOpentabs(['serve'], env);
  const healthUrl = `http://127.0.0.1:${env.OPENTABS_PORT}/healthz`;
  await waitFor('the daemon to answer /healthz', async () => (await fetch(healthUrl)).ok);
  await runOrThrow(['browser', 'tools', 'on'], env);
  await runOrThrow(['browser', 'site', siteHost, 'auto'], env);
  const browser = new Browser(join(homeFolder, 'profile'), extension, [windowSizeFlag]);
  await browser.start();
  const clients: McpClient[] = [];
  const connectClient = async () => {
    const client = await connectStdio(env, async () => ({ action: 'accept', content: { decision: 'allow once' } }));
    clients.push(client);
    return client;
  };
  const client = await connectClient();
  await waitFor(
    'the browser to run a tool',
    async () => !(await client.call('browser_tabs', { action: 'list' })).isError,
  );
  return {
    client,
    browser,
    uploadFolder,
    connectClient,
    async openTab(url) {
      const { text: tabsText } = await client.call('browser_tabs', { action: 'new', url });
      const tabId = Number(/Opened tab (\d+)/.exec(tabsText)?.[1]);
      if (!(tabId > 0)) throw new Error(tabsText);
      return tabId;
    },
    async close() {
      await Promise.allSettled(clients.map((mcpClient) => mcpClient.close()));
      await browser.close();
      await stopProcess(daemon);
      rmSync(homeFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
    },
  };
}
