/** Starts a daemon with browser tools on, a browser, an MCP client, and test sites on several hosts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import type { CallOutcome, McpClient } from '../harness/client.ts';
import { type Stack, type StackOptions, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

export interface AgentFixture {
  readonly stack: Stack;
  readonly client: McpClient;
  readonly approvalForms: string[];
  /** onApprovalForm answers approval forms: true allows the call once, false denies the call. */
  onApprovalForm: (question: string) => boolean | Promise<boolean>;
  /** Agents may use the site shop without approvals; the site bank is off, and the site other has no rule. */
  readonly shop: string;
  readonly bank: string;
  readonly other: string;
  readonly requests: string[];
  setPage(path: string, html: string): void;
  open(path: string): Promise<number>;
  callTool(tool: string, args?: Record<string, unknown>): Promise<string>;
  callExpectingFailure(tool: string, args?: Record<string, unknown>): Promise<CallOutcome>;
  /** On a busy machine, a snapshot lacks a late frame, so takeSnapshot retries until no frame is missing. */
  takeSnapshot(): Promise<string>;
  findRef(elementName: string): Promise<string>;
  /** With the Playwright page, a test checks a tool's effects without using other tools. */
  findPage(url: string): Promise<Page>;
  close(): Promise<void>;
}

type Step = readonly [tool: string, args: Record<string, unknown>];

/** Without listSteps, TypeScript would infer a less precise type for an array literal. */
export function listSteps(steps: readonly Step[]): readonly Step[] {
  return steps;
}

export function parseRef(snapshotText: string, elementName: string): string {
  const line = snapshotText
    .split('\n')
    .find((snapshotLine) => snapshotLine.includes(elementName) && snapshotLine.includes('[ref='));
  const elementRef = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
  if (elementRef === undefined) throw new Error(`no ref for ${elementName} in:\n${snapshotText}`);
  return elementRef;
}

export function hasAllFrames(snapshot: string): boolean {
  return !/^( *)iframe\b.*$(?!\n\1 )/m.test(snapshot);
}

export async function startAgentFixture(options: StackOptions = {}): Promise<AgentFixture> {
  const htmlByPath = new Map<string, string>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.headers.host} ${request.url}`);
    servePage(htmlByPath, request, response);
  });
  // Listen on all addresses, because Chrome may resolve names that end in .localhost to ::1.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const serverAddress = server.address();
  const port = typeof serverAddress === 'object' && serverAddress ? serverAddress.port : 0;
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
  const closeStackAndSites = async () => {
    await stack.close();
    closeSites();
  };
  await enableBrowserTools(stack, shop, bank).catch(async (error: unknown) => {
    await closeStackAndSites();
    throw error;
  });
  const forms: string[] = [];
  const client = await stack.connectHttp(async (form) => {
    forms.push(form.message);
    const isAllowed = await fixture.onApprovalForm(form.message);
    return isAllowed ? { action: 'accept', content: { decision: 'allow once' } } : { action: 'decline' };
  });
  const run: AgentFixture['callTool'] = async (tool, args = {}) => {
    const callOutcome = await client.call(tool, args);
    if (callOutcome.isError) throw new Error(`${tool} failed: ${callOutcome.text}`);
    return callOutcome.text;
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
      const snapshotText = await run('browser_tabs', { action: 'new', url: `${shop}${path}` });
      const tabId = Number(/Opened tab (\d+)/.exec(snapshotText)?.[1]);
      if (!(tabId > 0)) throw new Error(snapshotText);
      return tabId;
    },
    callTool: run,
    async callExpectingFailure(tool, args = {}) {
      const callOutcome = await client.call(tool, args);
      if (!callOutcome.isError) throw new Error(`${tool} succeeded: ${callOutcome.text}`);
      return callOutcome;
    },
    takeSnapshot: () =>
      waitFor('a snapshot with the content of each frame', async () => {
        const snapshot = await run('browser_snapshot', { maxTokens: 20_000 });
        return hasAllFrames(snapshot) && snapshot;
      }),
    findRef: async (elementName) => parseRef(await run('browser_snapshot', { maxTokens: 20_000 }), elementName),
    findPage: (url) =>
      waitFor(`the page ${url}`, () => stack.chrome.context.pages().find((page) => page.url().startsWith(url))),
    close: closeStackAndSites,
  };
  return fixture;
}

async function enableBrowserTools(stack: Stack, shop: string, bank: string): Promise<void> {
  for (const args of [
    ['browser', 'tools', 'on'],
    ['browser', 'site', shop, 'auto'],
    ['browser', 'site', bank, 'off'],
  ]) {
    const { code, stderr } = await stack.runCli(...args);
    if (code !== 0) throw new Error(stderr);
  }
}

/** The query ?to=URL of a test page redirects to URL. */
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
