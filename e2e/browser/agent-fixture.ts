/** Starts a daemon with browser tools on, a browser, an MCP client, and test sites on several hosts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import type { McpClient, Outcome } from '../harness/client.ts';
import { type Stack, type StackOptions, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

/** AgentFixture is the setup of a test that calls browser tools as an agent does, through an MCP client. */
export interface AgentFixture {
  readonly stack: Stack;
  readonly client: McpClient;
  /** approvalForms lists the approval questions that the MCP client has received. */
  readonly approvalForms: string[];
  /**
   * onApprovalForm answers approval forms: true allows the call once, false denies the call. By default, onApprovalForm
   * denies every form.
   */
  onApprovalForm: (question: string) => boolean | Promise<boolean>;
  /**
   * In all tests, the agent is allowed to use the site shop without approvals, the site bank is off, and the site other
   * has no rule. All test sites serve the same pages.
   */
  readonly shop: string;
  readonly bank: string;
  readonly other: string;
  /** requests lists the HTTP requests that the test sites received, as "host path". */
  readonly requests: string[];
  /** setPage sets the HTML that all test sites serve at path. */
  setPage(path: string, html: string): void;
  /**
   * open opens a page of the test site "shop" in a background tab, makes it the agent's current tab, and returns the
   * tab ID.
   */
  open(path: string): Promise<number>;
  /** callTool calls a tool and returns the text of the tool's result. callTool throws if the tool fails. */
  callTool(tool: string, args?: Record<string, unknown>): Promise<string>;
  /**
   * callExpectingFailure calls a tool that must fail, and returns the tool's error. callExpectingFailure throws if the
   * tool succeeds.
   */
  callExpectingFailure(tool: string, args?: Record<string, unknown>): Promise<Outcome>;
  /**
   * takeSnapshot returns a snapshot that contains the content of each frame in the page. On a busy machine, a snapshot
   * lacks a frame that has not answered in time, so takeSnapshot takes snapshots until no frame is missing.
   */
  takeSnapshot(): Promise<string>;
  /** findRef takes a snapshot of the page and returns the ref in the first line that contains the given words. */
  findRef(words: string): Promise<string>;
  /**
   * findPage returns the Playwright page of the tab that shows url. With the Playwright page, a test checks a tool's
   * effects without using other tools.
   */
  findPage(url: string): Promise<Page>;
  close(): Promise<void>;
}

/** Step is one tool call of a batch: a tool's name and its arguments. */
type Step = readonly [tool: string, args: Record<string, unknown>];

/**
 * listSteps returns its argument unchanged, but with the type of a list of tool calls. Without listSteps, TypeScript
 * would infer a less precise type for an array literal.
 */
export function listSteps(steps: readonly Step[]): readonly Step[] {
  return steps;
}

/** parseRef returns the ref in the first snapshot line that contains the given words. */
export function parseRef(text: string, words: string): string {
  const line = text.split('\n').find((each) => each.includes(words) && each.includes('[ref='));
  const ref = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
  if (ref === undefined) throw new Error(`no ref for ${words} in:\n${text}`);
  return ref;
}

/** hasAllFrames reports whether a snapshot contains the content of each frame, in lines below the frame element. */
export function hasAllFrames(snapshot: string): boolean {
  return !/^( *)iframe\b.*$(?!\n\1 )/m.test(snapshot);
}

/** startAgentFixture starts a daemon, a browser, an MCP client and the test sites, and turns browser tools on. */
export async function startAgentFixture(options: StackOptions = {}): Promise<AgentFixture> {
  const htmlByPath = new Map<string, string>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.headers.host} ${request.url}`);
    servePage(htmlByPath, request, response);
  });
  // Listen on all addresses, because Chrome may resolve names that end in .localhost to ::1.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const [shop, bank, other] = ['shop', 'bank', 'other'].map((name) => `http://${name}.localhost:${port}`);
  if (shop === undefined || bank === undefined || other === undefined) throw new Error('no sites');
  const closeSites = () => {
    server.closeAllConnections();
    server.close();
  };
  const stack = await startStack(options).catch((error: unknown) => {
    closeSites(); // an open server prevents the test process from exiting
    throw error;
  });
  const closeAll = async () => {
    await stack.close();
    closeSites();
  };
  await turnBrowserToolsOn(stack, shop, bank).catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  const forms: string[] = [];
  const client = await stack.connectHttp(async (form) => {
    forms.push(form.message);
    const isAllowed = await fixture.onApprovalForm(form.message);
    return isAllowed ? { action: 'accept', content: { decision: 'allow once' } } : { action: 'decline' };
  });
  const run: AgentFixture['callTool'] = async (tool, args = {}) => {
    const outcome = await client.call(tool, args);
    if (outcome.isError) throw new Error(`${tool} failed: ${outcome.text}`);
    return outcome.text;
  };
  const fixture: AgentFixture = {
    stack,
    client,
    approvalForms: forms,
    onApprovalForm: () => false,
    shop,
    bank,
    other,
    requests,
    setPage: (path, html) => htmlByPath.set(path, `<!doctype html><link rel="icon" href="data:,">${html}`),
    async open(path) {
      const text = await run('browser_tabs', { action: 'new', url: `${shop}${path}` });
      const tabId = Number(/Opened tab (\d+)/.exec(text)?.[1]);
      if (!(tabId > 0)) throw new Error(text);
      return tabId;
    },
    callTool: run,
    async callExpectingFailure(tool, args = {}) {
      const outcome = await client.call(tool, args);
      if (!outcome.isError) throw new Error(`${tool} succeeded: ${outcome.text}`);
      return outcome;
    },
    takeSnapshot: () =>
      waitFor('a snapshot with the content of each frame', async () => {
        const snapshot = await run('browser_snapshot', { maxTokens: 20_000 });
        return hasAllFrames(snapshot) && snapshot;
      }),
    findRef: async (words) => parseRef(await run('browser_snapshot', { maxTokens: 20_000 }), words),
    findPage: (url) =>
      waitFor(`the page ${url}`, () => stack.chrome.context.pages().find((page) => page.url().startsWith(url))),
    close: closeAll,
  };
  return fixture;
}

/** turnBrowserToolsOn turns browser tools on and sets the agent's permissions for the test sites. */
async function turnBrowserToolsOn(stack: Stack, shop: string, bank: string): Promise<void> {
  for (const args of [
    ['browser', 'tools', 'on'],
    ['browser', 'site', shop, 'auto'],
    ['browser', 'site', bank, 'off'],
  ]) {
    const { code, stderr } = await stack.runCli(...args);
    if (code !== 0) throw new Error(stderr);
  }
}

/** servePage responds with the HTML that setPage has set for the path. The query ?to=URL redirects to URL. */
function servePage(htmlByPath: ReadonlyMap<string, string>, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://site');
  const target = url.searchParams.get('to');
  if (target !== null) {
    response.writeHead(302, { location: target });
    response.end();
    return;
  }
  const html = htmlByPath.get(url.pathname);
  response.statusCode = html === undefined ? 404 : 200;
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(html ?? '<!doctype html><title>Not found</title>');
}
