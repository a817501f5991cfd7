import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { TabEvent } from '../../../chrome-pages.ts';
import { ToolFailure } from '../tool-failure.ts';
import { Debuggers, DebuggerUnavailable, LingerMs } from './debuggers.ts';

/** FakeBrowser is a browser with one tab, whose ID is 7. */
class FakeBrowser {
  readonly sent: string[] = [];
  readonly settings = new Map<string, string>();
  isInstalled = true;
  isAttached = false;
  url = 'https://shop.example/';
  listener: { onDetach(tabId: number, isCancelled: boolean): void } | undefined;
  readonly watchers = new Set<(tabId: number, event: TabEvent) => void>();

  make(): Debuggers {
    return new Debuggers({
      hasDebugger: () => this.isInstalled,
      attachDebugger: async () => {
        this.sent.push('attach');
        this.isAttached = true;
      },
      detachDebugger: async () => {
        this.sent.push('detach');
        this.isAttached = false;
      },
      sendToDebugger: async (tabId, method, params = {}) => {
        // Another program debugs tab 8.
        if (!this.isAttached || tabId !== 7) throw new Error('Debugger is not attached');
        const { enabled } = params;
        this.sent.push(`${method.split('.')[1]}${typeof enabled === 'boolean' ? ` ${enabled}` : ''}`);
        return {};
      },
      listDebuggedTabs: async () => (this.isAttached ? [7, 8] : [8]),
      watchDebugger: (listener) => {
        this.listener = listener;
      },
      watchTabs: (watcher) => {
        this.watchers.add(watcher);
        return () => this.watchers.delete(watcher);
      },
      describeTab: async (tabId) => ({ tabId: tabId ?? 0, url: this.url, title: '', active: false }),
      readSetting: async (key) => this.settings.get(key),
      writeSetting: async (key, value) => {
        this.settings.set(key, value);
      },
    });
  }

  navigate(url: string): void {
    this.url = url;
    for (const watcher of this.watchers) watcher(7, { kind: 'committed', url, documentId: 'd2' });
  }
}

let browser: FakeBrowser;
beforeEach(() => {
  browser = new FakeBrowser();
  mock.timers.enable({ apis: ['setTimeout'] });
});
afterEach(() => mock.timers.reset());

/** settle runs all work that waits for no timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

async function failureOf(work: Promise<unknown>): Promise<ToolFailure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ToolFailure) return error;
  throw new Error(`no failure of a tool: ${String(error)}`);
}

const codeOf = async (work: Promise<unknown>) => (await failureOf(work)).error.tool?.code;
const noWork = async () => undefined;

test('tools share one attachment, which stays for 30 s after the last use', async () => {
  const debuggers = browser.make();
  assert.equal(await debuggers.use(7, [], async () => 'a result'), 'a result');
  mock.timers.tick(LingerMs - 1);
  await debuggers.use(7, [], noWork);
  mock.timers.tick(LingerMs - 1);
  await settle();
  assert.deepEqual(browser.sent, ['attach']);
  mock.timers.tick(1);
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'detach']);
  assert.equal(browser.watchers.size, 0);
  await debuggers.use(7, [], noWork);
  assert.deepEqual(browser.sent, ['attach', 'detach', 'attach']);
});

test('a feature lasts until its last user ends, also if a tool fails', async () => {
  const debuggers = browser.make();
  let endFirst = () => {};
  let failSecond = (_: Error) => {};
  const first = debuggers.use(
    7,
    ['focus'],
    () =>
      new Promise<void>((resolve) => {
        endFirst = resolve;
      }),
  );
  const second = debuggers.use(
    7,
    ['focus', 'drags'],
    () =>
      new Promise((_, reject) => {
        failSecond = reject;
      }),
  );
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'setFocusEmulationEnabled true', 'setInterceptDrags true']);
  browser.sent.length = 0;
  endFirst();
  await first;
  assert.deepEqual(browser.sent, []);
  failSecond(new Error('broken'));
  await assert.rejects(second, /broken/);
  assert.deepEqual(browser.sent, ['setInterceptDrags false', 'setFocusEmulationEnabled false']);
});

test('Cancel ends the tools and is remembered until the user allows the debugger again', async () => {
  const debuggers = browser.make();
  let changes = 0;
  debuggers.changed.addListener(() => changes++);
  const use = debuggers.use(7, ['focus'], () => new Promise(() => undefined));
  await settle();
  browser.isAttached = false;
  browser.listener?.onDetach(7, true);
  const failure = await failureOf(use);
  assert.equal(failure.error.tool?.code, 'debugger_refused');
  // A tool that has begun must not run a second time without the debugger.
  assert.equal(failure instanceof DebuggerUnavailable, false);
  const later = browser.make();
  for (const each of [debuggers, later]) {
    const refusal = await failureOf(each.use(7, [], noWork));
    assert.ok(refusal instanceof DebuggerUnavailable);
    assert.equal(refusal.error.tool?.code, 'debugger_refused');
    assert.equal(each.state, 'refused');
  }
  await debuggers.allow();
  assert.deepEqual([debuggers.state, changes], ['ready', 2]);
  await debuggers.use(7, [], noWork);
  assert.equal(browser.isAttached, true);
});

test('the debugger sees only http and https pages', async () => {
  const debuggers = browser.make();
  browser.url = 'about:blank';
  assert.equal(await codeOf(debuggers.use(7, [], noWork)), 'needs_debugger');
  assert.deepEqual(browser.sent, []);
  browser.url = 'https://shop.example/';
  const use = debuggers.use(7, [], () => new Promise(() => undefined));
  await settle();
  browser.navigate('https://other.example/');
  await settle();
  assert.deepEqual(browser.sent, ['attach']);
  browser.navigate('file:///etc/passwd');
  assert.equal(await codeOf(use), 'needs_debugger');
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'detach']);
});

test('a new worker ends what a tool of the last worker left behind', async () => {
  browser.isAttached = true;
  const debuggers = browser.make();
  await debuggers.use(7, [], noWork);
  assert.deepEqual(browser.sent, ['setFocusEmulationEnabled false', 'stopScreencast', 'setInterceptDrags false']);
  mock.timers.tick(LingerMs);
  await settle();
  assert.equal(browser.sent.at(-1), 'detach');
});

test('without the permission, nothing is attached', async () => {
  browser.isInstalled = false;
  const debuggers = browser.make();
  assert.equal(debuggers.state, 'absent');
  assert.equal(await codeOf(debuggers.use(7, [], noWork)), 'needs_debugger');
});
