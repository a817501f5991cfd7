/** Starts a browser with the extension, a fake daemon that dispatches browser tools, and two test sites. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Chrome, launchChrome } from '../harness/chromium.ts';
import { fillHome } from '../harness/home.ts';
import { waitFor } from '../harness/wait.ts';
import { type DispatchedTool, type DispatchResult, type FakeServer, startFakeServer } from '../panel/fake-server.ts';
import { hasAllFrames } from './agent-fixture.ts';

export interface ToolOutput {
  readonly text?: string;
  readonly content?: string;
  readonly page?: { readonly url: string; readonly title: string };
  readonly snapshot?: string;
  readonly image?: { readonly data: string; readonly mimeType: string };
  readonly file?: { readonly extension: string; readonly text?: string };
  readonly tabs?: readonly {
    readonly tabId: number;
    readonly url: string;
    readonly title: string;
    readonly active: boolean;
  }[];
  readonly tabId?: number;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly pageText?: string;
  readonly notStarted?: boolean;
}

export interface BrowserFixture {
  readonly server: FakeServer;
  readonly chrome: Chrome;
  /** userPage is the page in the active tab, which simulates the page that the user works in. */
  readonly userPage: Page;
  readonly origin: string;
  readonly otherOrigin: string;
  setPage(path: string, html: string): void;
  /** A dispatched tool fails if its tab loads another document before the tool starts. */
  start(tool: string, args?: object, tabId?: number): Promise<DispatchedTool>;
  callTool(tool: string, args?: object, tabId?: number): Promise<ToolOutput>;
  callExpectingFailure(tool: string, args?: object, tabId?: number): Promise<Failure>;
  /** On a busy machine, a snapshot lacks a late frame, so takeSnapshot retries until no frame is missing. */
  takeSnapshot(tabId: number): Promise<ToolOutput>;
  open(path: string): Promise<number>;
  /** With the Playwright page, a test checks a tool's effects without using other tools. */
  findPage(url: string): Promise<Page>;
  close(): Promise<void>;
}

export function expectOutput(toolAnswer: DispatchResult): ToolOutput {
  if (toolAnswer.error) throw new Error(`the tool failed: ${JSON.stringify(toolAnswer.error)}`);
  return Object(Object(toolAnswer.result).output);
}

export function expectFailure(toolAnswer: DispatchResult): Failure {
  if (!toolAnswer.error) throw new Error(`the tool did not fail: ${JSON.stringify(toolAnswer.result)}`);
  const { code, message: errorMessage, pageText, tool, notStarted } = Object(toolAnswer.error.data);
  return {
    code: tool?.code ?? code,
    message: errorMessage,
    ...(pageText === undefined ? {} : { pageText }),
    ...(notStarted === true ? { notStarted } : {}),
  };
}

export function startBrowserFixture(...installFlags: string[]): Promise<BrowserFixture> {
  return startFixture({ installFlags });
}

export interface BrowserFixtureOptions {
  readonly installFlags?: readonly string[];
  readonly userScripts?: boolean;
}

export async function startFixture(options: BrowserFixtureOptions): Promise<BrowserFixture> {
  const fixtureClosers: FixtureCloser[] = [];
  const closeFixture = async () => {
    for (let nextCloser = fixtureClosers.pop(); nextCloser; nextCloser = fixtureClosers.pop()) await nextCloser();
  };
  try {
    return await startFixtureParts(options, fixtureClosers, closeFixture);
  } catch (error) {
    await closeFixture(); // an open browser prevents the test process from exiting
    throw error;
  }
}

type FixtureCloser = () => Promise<void>;

/** startFixtureParts adds a function to closers after each start, so that a failed start can be undone. */
async function startFixtureParts(
  { installFlags = [], userScripts = true }: BrowserFixtureOptions,
  fixtureClosers: FixtureCloser[],
  closeFixture: () => Promise<void>,
): Promise<BrowserFixture> {
  const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-browser-'));
  fixtureClosers.push(async () => rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 }));
  const { extensionFolder: extension } = await fillHome(homeFolder, 0, { installFlags });
  const htmlByPath = new Map([['/', '<!doctype html><title>Home</title><h1>Home</h1>']]);
  const site = createServer((request, response) => servePage(htmlByPath, request, response));
  await new Promise<void>((resolve) => site.listen(0, resolve));
  fixtureClosers.push(async () => {
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
  });
  const siteAddress = site.address();
  const port = typeof siteAddress === 'object' && siteAddress ? siteAddress.port : 0;
  const origin = `http://127.0.0.1:${port}`;
  const server = await startFakeServer(extension);
  fixtureClosers.push(() => server.close());
  const chrome = await launchChrome({ extension, userScripts });
  fixtureClosers.push(() => chrome.close());
  const userPage = await chrome.openPage(`${origin}/`);
  await waitFor('the browser to connect', async () => (await server.request('tab.describe', {})).result !== undefined);
  const startCall: BrowserFixture['start'] = async (tool, args = {}, tabId = 0) => {
    const tabDescription = tabId > 0 ? await server.request('tab.describe', { tabId }) : {};
    const { documentId = '' } = Object(Object(tabDescription.result).tab);
    return server.dispatchTool({ plugin: 'browser', tool, tabId, documentId, args });
  };
  const fixture: BrowserFixture = {
    server,
    chrome,
    userPage,
    origin,
    otherOrigin: `http://localhost:${port}`,
    setPage: (path, html) => htmlByPath.set(path, html),
    start: startCall,
    callTool: async (tool, args, tabId) => expectOutput(await (await startCall(tool, args, tabId)).dispatchAnswer),
    callExpectingFailure: async (tool, args, tabId) =>
      expectFailure(await (await startCall(tool, args, tabId)).dispatchAnswer),
    takeSnapshot: (tabId) =>
      waitFor('a snapshot with the content of each frame', async () => {
        const output = await fixture.callTool('browser_snapshot', {}, tabId);
        return hasAllFrames(output.content ?? '') && output;
      }),
    open: async (path) => {
      const output = await fixture.callTool('browser_tabs', { action: 'new', url: `${origin}${path}` });
      if (output.tabId === undefined) throw new Error(`no tab was opened: ${JSON.stringify(output)}`);
      return output.tabId;
    },
    findPage: (url) =>
      waitFor(`the page ${url}`, () => chrome.context.pages().find((page) => page.url().startsWith(url))),
    close: closeFixture,
  };
  return fixture;
}

/** The query ?status=N of a test page sets the HTTP status, and ?delay=N delays the response by N milliseconds. */
function servePage(htmlByPath: ReadonlyMap<string, string>, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://site');
  const sendPageHtml = () => {
    const target = url.searchParams.get('to');
    if (target !== null) {
      response.writeHead(302, { location: target });
      response.end();
      return;
    }
    if (url.searchParams.has('download')) response.setHeader('content-disposition', 'attachment; filename="a.txt"');
    const html = htmlByPath.get(url.pathname);
    response.statusCode = Number(url.searchParams.get('status') ?? (html === undefined ? 404 : 200));
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(html ?? '<!doctype html><title>Not found</title>');
  };
  setTimeout(sendPageHtml, Number(url.searchParams.get('delay') ?? 0));
}
