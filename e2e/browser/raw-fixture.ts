/** Playwright would emulate the focus of pages and prevent Chrome from stopping the service worker. */
import { createServer } from 'node:http';
import { FaultFixture } from '../faults/fault-fixture.ts';
import type { McpClient } from '../harness/client.ts';
import { runOrThrow } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';

export interface FaultBrowserFixture {
  readonly faultFixture: FaultFixture;
  readonly client: McpClient;
  /** On the site shop, the MCP client may use browser tools without approvals. */
  readonly shopOrigin: string;
  /** The query ?delay=N of a test page delays the response by N milliseconds. */
  setPage(path: string, html: string): void;
  callTool(tool: string, args?: Record<string, unknown>): Promise<string>;
  openActiveTab(path: string): Promise<void>;
  evaluateInPage(path: string, expression: string): Promise<unknown>;
  close(): Promise<void>;
}

export async function startFaultBrowserFixture(...installFlags: string[]): Promise<FaultBrowserFixture> {
  const htmlByPath = new Map<string, string>();
  const site = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site');
    const sendPageHtml = () => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(htmlByPath.get(url.pathname) ?? '<!doctype html><title>Empty</title>');
    };
    setTimeout(sendPageHtml, Number(url.searchParams.get('delay') ?? 0));
  });
  await new Promise<void>((resolve) => site.listen(0, resolve));
  const closeSite = () => {
    site.closeAllConnections();
    site.close();
  };
  const siteAddress = site.address();
  const shopOrigin = `http://shop.localhost:${typeof siteAddress === 'object' && siteAddress ? siteAddress.port : 0}`;
  const faultFixture = await FaultFixture.startWithFlags([], installFlags).catch((error: unknown) => {
    closeSite(); // an open browser prevents the test process from exiting
    throw error;
  });
  const closeFixture = async () => {
    await faultFixture.close();
    closeSite();
  };
  try {
    await runOrThrow(['browser', 'tools', 'on'], faultFixture.env);
    await runOrThrow(['browser', 'site', shopOrigin, 'auto'], faultFixture.env);
    const client = await faultFixture.connectHttp();
    return {
      faultFixture,
      client,
      shopOrigin,
      setPage: (path, html) => htmlByPath.set(path, `<!doctype html><link rel="icon" href="data:,">${html}`),
      async callTool(tool, args = {}) {
        const callOutcome = await client.call(tool, args);
        if (callOutcome.isError) throw new Error(`${tool} failed: ${callOutcome.text}`);
        return callOutcome.text;
      },
      async openActiveTab(path) {
        await faultFixture.browser.cdp.sendCommand('Target.createTarget', { url: `${shopOrigin}${path}` });
      },
      async evaluateInPage(path, expression) {
        const page = await waitFor(`the page ${path}`, async () =>
          (await faultFixture.browser.listPages()).find(({ url }) => url === `${shopOrigin}${path}`),
        );
        return await faultFixture.browser.withPageSession(page.id, (session) => session.evaluate(expression));
      },
      close: closeFixture,
    };
  } catch (error) {
    await closeFixture();
    throw error;
  }
}
