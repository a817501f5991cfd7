/** Runs the extension's page script in a real Chromium without a daemon. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Browser } from '../../harness/browser.ts';
import type { Session } from '../../harness/cdp.ts';
import { waitFor } from '../../harness/wait.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

export interface PageLab {
  openPage(body: string, options?: PageOptions): Promise<LabPage>;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly title?: string;
  /** The test site of a PageLab serves the same pages on every host name. */
  readonly others?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly front?: boolean;
}

export interface LabPage {
  readonly origin: string;
  callOperation(name: string, args?: object): Promise<Answer>;
  callFrame(part: string, prefix: string, name: string, args?: object): Promise<Answer>;
  /** With cancelAt, the operation is cancelled at once when the page has received the given number of events. */
  startOperation(name: string, args?: object, cancelAt?: { event: string; count: number }): Promise<Started>;
  callForResult(name: string, args?: object): Promise<LooseResult>;
  snapshot(args?: object): Promise<string>;
  findRef(text: string): Promise<string>;
  inPage(expression: string): Promise<unknown>;
  inScript(expression: string): Promise<unknown>;
  readonly session: Session;
}

export type LooseResult = ReturnType<ObjectConstructor>;

export interface Answer {
  readonly ok: boolean;
  readonly result: LooseResult;
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

export interface Started {
  cancel(): Promise<void>;
  answer(): Promise<Answer>;
}

export async function bundlePageScript(): Promise<string> {
  const vendor = join(repository, 'extension/vendor/dom-accessibility-api/dist/accessible-name.mjs');
  const { outputFiles } = await build({
    entryPoints: [join(repository, 'extension/src/page/main.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'opentabsPage',
    target: 'es2022',
    charset: 'ascii',
    alias: { 'dom-accessibility-api': vendor },
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

export async function startPageLab(): Promise<PageLab> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-page-'));
  const extension = join(folder, 'extension');
  mkdirSync(extension);
  const key: unknown = Object(JSON.parse(readFileSync(join(repository, 'extension/manifest.json'), 'utf8'))).key;
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
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const browser = new Browser(join(folder, 'profile'), extension, [
    '--window-size=1000,800',
    '--host-resolver-rules=MAP *.test 127.0.0.1',
    '--disable-site-isolation-trials', // so that one session sees the worlds of all frames
    '--disable-features=IsolateOrigins,site-per-process',
  ]);
  const close = async () => {
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
    await close(); // an open server prevents the test process from exiting
    throw error;
  });
  let count = 0;
  return {
    async openPage(body, options = {}) {
      const path = `/page${++count}`;
      const head = `<!doctype html><html lang="en"><head><title>${options.title ?? 'Test'}</title><link rel="icon" href="data:,"></head>`;
      pages.set(path, {
        body: `${head}<body>${body.replaceAll(':PORT/', `:${port}/`)}</body></html>`,
        headers: options.headers ?? {},
      });
      for (const [other, html] of Object.entries(options.others ?? {})) pages.set(other, { body: html, headers: {} });
      const origin = `http://site.test:${port}`;
      const { targetId } = Object(
        await browser.cdp.send('Target.createTarget', { url: 'about:blank', background: !options.front }),
      );
      return openLabPage(await browser.cdp.attach(String(targetId)), origin, `${origin}${path}`);
    },
    close,
  };
}

interface World {
  readonly id: number;
  readonly frameId: string;
}

async function openLabPage(session: Session, origin: string, url: string): Promise<LabPage> {
  const worlds = new Map<number, World>();
  const frames = new Map<string, string>(); // Maps frame IDs to URLs.
  session.on('Runtime.executionContextCreated', (params) => {
    const { id, auxData, origin: worldOrigin } = Object(params).context;
    if (auxData.type === 'isolated' && worldOrigin.startsWith('chrome-extension://')) {
      worlds.set(id, { id, frameId: auxData.frameId });
    }
  });
  session.on('Runtime.executionContextDestroyed', (params) => worlds.delete(Object(params).executionContextId));
  session.on('Runtime.executionContextsCleared', () => worlds.clear());
  session.on('Page.frameNavigated', (params) => {
    const { frame } = Object(params);
    frames.set(frame.id, frame.url);
  });
  let isLoaded = false;
  session.on('Page.loadEventFired', () => {
    isLoaded = true;
  });
  await session.send('Page.enable');
  await session.send('Runtime.enable');
  const { frameId } = Object(await session.send('Page.navigate', { url }));
  await waitFor('the page to load', () => isLoaded);
  const worldOf = (part?: string) =>
    waitFor(`the page script in ${part ?? 'the top frame'}`, () =>
      [...worlds.values()]
        .reverse()
        .find((world) =>
          part === undefined ? world.frameId === frameId : (frames.get(world.frameId) ?? '').includes(part),
        ),
    );
  const evaluate = async (expression: string, contextId?: number): Promise<unknown> => {
    const params = { expression, awaitPromise: true, returnByValue: true, ...(contextId ? { contextId } : {}) };
    const { result, exceptionDetails } = Object(await session.send('Runtime.evaluate', params));
    if (exceptionDetails) throw new Error(String(exceptionDetails.exception?.description ?? exceptionDetails.text));
    return result.value;
  };
  const callFrame = async (
    part: string | undefined,
    prefix: string,
    name: string,
    args: object = {},
  ): Promise<Answer> => {
    const world = await worldOf(part);
    return Object(JSON.parse(String(await evaluate(callExpression(prefix, name, args), world.id))));
  };
  const call = (name: string, args: object = {}) => callFrame(undefined, '', name, args);
  const result = async (name: string, args: object = {}): Promise<LooseResult> => {
    const answer = await call(name, args);
    if (!answer.ok) throw new Error(`${name}: ${answer.error.code}: ${answer.error.message}`);
    return answer.result;
  };
  const snapshot = async (args: object = {}) => String((await result('snapshot', args)).text);
  let calls = 0;
  return {
    origin,
    session,
    callOperation: call,
    callFrame,
    callForResult: result,
    snapshot,
    async startOperation(name, args = {}, cancelAt) {
      const world = await worldOf();
      const id = `lab${++calls}`;
      const listener = `() => { if (++${id}.events === ${cancelAt?.count}) ${id}.controller.abort(); }`;
      const listen = cancelAt ? `addEventListener('${cancelAt.event}', ${listener}, true), ` : '';
      const expression = `(globalThis.${id} = {controller: new AbortController(), events: 0}, ${listen}${id}.promise = ${callExpression('', name, args, `${id}.controller.signal`)}, 0)`;
      await evaluate(expression, world.id);
      return {
        cancel: async () => void (await evaluate(`${id}.controller.abort()`, world.id)),
        answer: async () => Object(JSON.parse(String(await evaluate(`${id}.promise`, world.id)))),
      };
    },
    async findRef(text) {
      const all = await snapshot({ maxTokens: 0 });
      const at = all.indexOf(text);
      const ref = at < 0 ? undefined : /\[ref=(\w+)\]/.exec(all.slice(at))?.[1];
      if (!ref) throw new Error(`no ref after ${JSON.stringify(text)} in:\n${all}`);
      return ref;
    },
    inPage: (expression) => evaluate(expression),
    async inScript(expression) {
      return evaluate(expression, (await worldOf()).id);
    },
  };
}

function callExpression(prefix: string, name: string, args: object, signal = 'new AbortController().signal'): string {
  return `(async () => {
    const progress = [];
    const start = performance.now();
    const operation = ${JSON.stringify({ name, prefix, arguments: args })};
    const answer = await opentabsPage.executeOperation(operation, (report) => progress.push(report), ${signal});
    return JSON.stringify({ ...answer, progress, durationMs: performance.now() - start });
  })()`;
}
