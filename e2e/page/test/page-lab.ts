/** Runs the extension's page script in a real Chromium without a daemon. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Browser } from '../../harness/browser.ts';
import type { CdpSession } from '../../harness/cdp.ts';
import { waitFor } from '../../harness/wait.ts';

const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

export interface PageLab {
  openPage(body: string, options?: PageOptions): Promise<LabPage>;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly title?: string;
  /** The test site of a PageLab serves the same pages on every host name. */
  readonly otherPages?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isInFront?: boolean;
}

export interface LabPage {
  readonly origin: string;
  callOperation(name: string, args?: object): Promise<OperationAnswer>;
  callOperationInFrame(frameUrlPart: string, prefix: string, name: string, args?: object): Promise<OperationAnswer>;
  /** With cancelTrigger, the operation is cancelled at once when the page has received the given number of events. */
  startOperation(
    name: string,
    args?: object,
    cancelTrigger?: { event: string; count: number },
  ): Promise<StartedOperation>;
  callOrThrow(name: string, args?: object): Promise<UntypedResult>;
  snapshot(args?: object): Promise<string>;
  findRef(searchedText: string): Promise<string>;
  evaluateInPage(expression: string): Promise<unknown>;
  evaluateInScriptWorld(expression: string): Promise<unknown>;
  readonly session: CdpSession;
}

export type UntypedResult = ReturnType<ObjectConstructor>;

export interface OperationAnswer {
  readonly ok: boolean;
  readonly result: UntypedResult;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly pageText?: string;
    readonly ref?: string;
    readonly done?: string;
  };
  readonly progress: readonly { readonly message: string; readonly progress?: number }[];
  readonly durationMs: number;
}

export interface StartedOperation {
  cancel(): Promise<void>;
  answer(): Promise<OperationAnswer>;
}

export async function bundlePageScript(): Promise<string> {
  const vendorFolder = join(repositoryRoot, 'extension/vendor/dom-accessibility-api/dist/accessible-name.mjs');
  const { outputFiles } = await build({
    entryPoints: [join(repositoryRoot, 'extension/src/page/main.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'opentabsPage',
    target: 'es2022',
    charset: 'ascii',
    alias: { 'dom-accessibility-api': vendorFolder },
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

export async function startPageLab(): Promise<PageLab> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-page-'));
  const extension = join(folder, 'extension');
  mkdirSync(extension);
  const key: unknown = Object(JSON.parse(readFileSync(join(repositoryRoot, 'extension/manifest.json'), 'utf8'))).key;
  const script = {
    matches: ['*://*/*'],
    js: ['page.js'],
    run_at: 'document_start',
    all_frames: true,
    match_origin_as_fallback: true,
  };
  const manifest = { manifest_version: 3, name: 'page lab', version: '1', key, content_scripts: [script] };
  writeFileSync(join(extension, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(extension, 'page.js'), await bundlePageScript());
  const pages = new Map<string, { body: string; headers: Readonly<Record<string, string>> }>();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    if (path === '/never') return; // a navigation that does not end
    const page = pages.get(path);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    for (const [name, value] of Object.entries(page?.headers ?? {})) response.setHeader(name, value);
    response.statusCode = page ? 200 : 404;
    response.end(page?.body ?? 'no page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const serverAddress = server.address();
  const port = serverAddress !== null && typeof serverAddress === 'object' ? serverAddress.port : 0;
  const browser = new Browser(join(folder, 'profile'), extension, [
    '--window-size=1000,800',
    '--host-resolver-rules=MAP *.test 127.0.0.1',
    '--disable-site-isolation-trials', // so that one session sees the worlds of all frames
    '--disable-features=IsolateOrigins,site-per-process',
  ]);
  const closeLab = async () => {
    await browser.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    // waitFor retries, because processes of the browser still write to the profile shortly after the browser's exit.
    await waitFor('the browser to release its profile', () => {
      rmSync(folder, { recursive: true, force: true });
      return true;
    });
  };
  await browser.start().catch(async (error: unknown) => {
    await closeLab(); // an open server prevents the test process from exiting
    throw error;
  });
  let count = 0;
  return {
    async openPage(body, options = {}) {
      const path = `/page${++count}`;
      const pageHead = `<!doctype html><html lang="en"><head><title>${options.title ?? 'Test'}</title><link rel="icon" href="data:,"></head>`;
      pages.set(path, {
        body: `${pageHead}<body>${body.replaceAll(':PORT/', `:${port}/`)}</body></html>`,
        headers: options.headers ?? {},
      });
      for (const [otherPath, html] of Object.entries(options.otherPages ?? {}))
        pages.set(otherPath, { body: html, headers: {} });
      const origin = `http://site.test:${port}`;
      const { targetId } = Object(
        await browser.cdp.sendCommand('Target.createTarget', { url: 'about:blank', background: !options.isInFront }),
      );
      return openLabPage(await browser.cdp.attach(String(targetId)), origin, `${origin}${path}`);
    },
    close: closeLab,
  };
}

interface FrameScriptWorld {
  readonly id: number;
  readonly frameId: string;
}

async function openLabPage(session: CdpSession, origin: string, url: string): Promise<LabPage> {
  const worldsByContextId = new Map<number, FrameScriptWorld>();
  const frames = new Map<string, string>(); // URLs by frame ID
  session.on('Runtime.executionContextCreated', (params) => {
    const { id, auxData, origin: worldOrigin } = Object(params).context;
    if (auxData.type === 'isolated' && worldOrigin.startsWith('chrome-extension://')) {
      worldsByContextId.set(id, { id, frameId: auxData.frameId });
    }
  });
  session.on('Runtime.executionContextDestroyed', (params) =>
    worldsByContextId.delete(Object(params).executionContextId),
  );
  session.on('Runtime.executionContextsCleared', () => worldsByContextId.clear());
  session.on('Page.frameNavigated', (params) => {
    const { frame } = Object(params);
    frames.set(frame.id, frame.url);
  });
  let isLoaded = false;
  session.on('Page.loadEventFired', () => {
    isLoaded = true;
  });
  await session.sendCommand('Page.enable');
  await session.sendCommand('Runtime.enable');
  const { frameId } = Object(await session.sendCommand('Page.navigate', { url }));
  await waitFor('the page to load', () => isLoaded);
  const findScriptWorld = (frameUrlPart?: string) =>
    waitFor(`the page script in ${frameUrlPart ?? 'the top frame'}`, () =>
      [...worldsByContextId.values()]
        .reverse()
        .find((frameWorld) =>
          frameUrlPart === undefined
            ? frameWorld.frameId === frameId
            : (frames.get(frameWorld.frameId) ?? '').includes(frameUrlPart),
        ),
    );
  const evaluateExpression = async (expression: string, contextId?: number): Promise<unknown> => {
    const params = { expression, awaitPromise: true, returnByValue: true, ...(contextId ? { contextId } : {}) };
    const { result, exceptionDetails } = Object(await session.sendCommand('Runtime.evaluate', params));
    if (exceptionDetails) throw new Error(String(exceptionDetails.exception?.description ?? exceptionDetails.text));
    return result.value;
  };
  const callOperationInFrame = async (
    frameUrlPart: string | undefined,
    prefix: string,
    name: string,
    args: object = {},
  ): Promise<OperationAnswer> => {
    const frameWorld = await findScriptWorld(frameUrlPart);
    return Object(JSON.parse(String(await evaluateExpression(makeCallExpression(prefix, name, args), frameWorld.id))));
  };
  const call = (name: string, args: object = {}) => callOperationInFrame(undefined, '', name, args);
  const result = async (name: string, args: object = {}): Promise<UntypedResult> => {
    const operationAnswer = await call(name, args);
    if (!operationAnswer.ok)
      throw new Error(`${name}: ${operationAnswer.error.code}: ${operationAnswer.error.message}`);
    return operationAnswer.result;
  };
  const snapshot = async (args: object = {}) => String((await result('snapshot', args)).text);
  let calls = 0;
  return {
    origin,
    session,
    callOperation: call,
    callOperationInFrame,
    callOrThrow: result,
    snapshot,
    async startOperation(name, args = {}, cancelTrigger) {
      const frameWorld = await findScriptWorld();
      const id = `lab${++calls}`;
      const listener = `() => { if (++${id}.events === ${cancelTrigger?.count}) ${id}.controller.abort(); }`;
      const cancelListenerCode = cancelTrigger ? `addEventListener('${cancelTrigger.event}', ${listener}, true), ` : '';
      const expression = `(globalThis.${id} = {controller: new AbortController(), events: 0}, ${cancelListenerCode}${id}.promise = ${makeCallExpression('', name, args, `${id}.controller.signal`)}, 0)`;
      await evaluateExpression(expression, frameWorld.id);
      return {
        cancel: async () => void (await evaluateExpression(`${id}.controller.abort()`, frameWorld.id)),
        answer: async () => Object(JSON.parse(String(await evaluateExpression(`${id}.promise`, frameWorld.id)))),
      };
    },
    async findRef(searchedText) {
      const fullSnapshot = await snapshot({ maxTokens: 0 });
      const textIndex = fullSnapshot.indexOf(searchedText);
      const elementRef = textIndex < 0 ? undefined : /\[ref=(\w+)\]/.exec(fullSnapshot.slice(textIndex))?.[1];
      if (!elementRef) throw new Error(`no ref after ${JSON.stringify(searchedText)} in:\n${fullSnapshot}`);
      return elementRef;
    },
    evaluateInPage: (expression) => evaluateExpression(expression),
    async evaluateInScriptWorld(expression) {
      return evaluateExpression(expression, (await findScriptWorld()).id);
    },
  };
}

function makeCallExpression(
  prefix: string,
  name: string,
  args: object,
  signal = 'new AbortController().signal',
): string {
  return `(async () => {
    const progress = [];
    const start = performance.now();
    const operation = ${JSON.stringify({ name, prefix, arguments: args })};
    const answer = await opentabsPage.executeOperation(operation, (report) => progress.push(report), ${signal});
    return JSON.stringify({ ...answer, progress, durationMs: performance.now() - start });
  })()`;
}
