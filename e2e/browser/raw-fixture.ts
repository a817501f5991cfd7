/**
 * Starts a daemon with browser tools on, and a browser that Playwright does not control. Playwright would emulate the
 * focus of pages and prevent Chrome from stopping the service worker.
 */
import { createServer } from 'node:http';
import { FaultFixture } from '../faults/fault-fixture.ts';
import type { McpClient } from '../harness/client.ts';
import { runChecked } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';

/** RawFixture is the setup of a test in which Playwright does not control the agent's browser. */
export interface RawFixture {
  readonly faults: FaultFixture;
  readonly client: McpClient;
  /**
   * shop is the origin of a test site without a plugin. On the site shop, the MCP client is allowed to use browser
   * tools without approvals.
   */
  readonly shop: string;
  /**
   * setPage sets the HTML that the test site serves at path. The query ?delay=N delays the response by N milliseconds.
   */
  setPage(path: string, html: string): void;
  /** run calls a tool and returns the text of the tool's result. run throws if the tool fails. */
  run(tool: string, args?: Record<string, unknown>): Promise<string>;
  /** openActiveTab opens a page in a new active tab, as a user would. */
  openActiveTab(path: string): Promise<void>;
  /** evaluate evaluates a JavaScript expression in the page that shows path. */
  evaluate(path: string, expression: string): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * startRawFixture starts a daemon, a browser and the test site. installFlags are flags of `opentabs extension install`.
 */
export async function startRawFixture(...installFlags: string[]): Promise<RawFixture> {
  const htmlByPath = new Map<string, string>();
  const site = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site');
    const send = () => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(htmlByPath.get(url.pathname) ?? '<!doctype html><title>Empty</title>');
    };
    setTimeout(send, Number(url.searchParams.get('delay') ?? 0));
  });
  await new Promise<void>((resolve) => site.listen(0, resolve));
  const closeSite = () => {
    site.closeAllConnections();
    site.close();
  };
  const address = site.address();
  const shop = `http://shop.localhost:${typeof address === 'object' && address ? address.port : 0}`;
  const faults = await FaultFixture.startWith([], installFlags).catch((error: unknown) => {
    closeSite(); // an open browser prevents the test process from exiting
    throw error;
  });
  const close = async () => {
    await faults.close();
    closeSite();
  };
  try {
    await runChecked(['browser', 'tools', 'on'], faults.env);
    await runChecked(['browser', 'site', shop, 'auto'], faults.env);
    const client = await faults.connectHttp();
    return {
      faults,
      client,
      shop,
      setPage: (path, html) => htmlByPath.set(path, `<!doctype html><link rel="icon" href="data:,">${html}`),
      async run(tool, args = {}) {
        const outcome = await client.call(tool, args);
        if (outcome.isError) throw new Error(`${tool} failed: ${outcome.text}`);
        return outcome.text;
      },
      async openActiveTab(path) {
        await faults.browser.cdp.send('Target.createTarget', { url: `${shop}${path}` });
      },
      async evaluate(path, expression) {
        const page = await waitFor(`the page ${path}`, async () =>
          (await faults.browser.listPages()).find(({ url }) => url === `${shop}${path}`),
        );
        return await faults.browser.inPage(page.id, (session) => session.evaluate(expression));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
