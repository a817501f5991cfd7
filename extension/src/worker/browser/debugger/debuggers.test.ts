import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { DebuggerListener } from '../../../chrome-debugger.ts';
import type { TabEvent } from '../../../chrome-pages.ts';
import { ToolFailure } from '../tool-failure.ts';
import { Debuggers, DebuggerUnavailable, DetachDelayMs } from './debuggers.ts';
import { endEmulationCommands, featureCommands } from './features.ts';

/** FakeBrowser simulates a browser with one tab, whose ID is 7. */
class FakeBrowser {
  readonly sent: string[] = [];
  readonly settings = new Map<string, string>();
  readonly sessionValues = new Map<string, string>();
  isInstalled = true;
  isAttached = false;
  url = 'https://shop.example/';
  listener: DebuggerListener | undefined;
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
      sendToDebugger: async (tabId, method, params = {}, childId = '') => {
        // In the fake browser, another program uses the debugger of tab 8.
        if (!this.isAttached || tabId !== 7) throw new Error('Debugger is not attached');
        const { enabled } = params;
        const target = childId === '' ? '' : ` to ${childId}`;
        this.sent.push(`${method.split('.')[1]}${typeof enabled === 'boolean' ? ` ${enabled}` : ''}${target}`);
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
      readSessionValue: async (key) => this.sessionValues.get(key),
      writeSessionValue: async (key, value) => {
        this.sessionValues.set(key, value);
      },
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

/** The function `settle` waits until all pending promises have settled, without advancing the fake clock. */
async function settle(): Promise<void> {
  for (let i = 0; i < 200; i++) await Promise.resolve();
}

async function awaitFailure(work: Promise<unknown>): Promise<ToolFailure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ToolFailure) return error;
  throw new Error(`no failure of a tool: ${String(error)}`);
}

const awaitFailureCode = async (work: Promise<unknown>) => (await awaitFailure(work)).error.tool?.code;
const doNothing = async () => undefined;

test('tools share one attachment, which stays for 30 s after the last use', async () => {
  const debuggers = browser.make();
  assert.equal(await debuggers.use(7, [], async () => 'a result'), 'a result');
  mock.timers.tick(DetachDelayMs - 1);
  await debuggers.use(7, [], doNothing);
  mock.timers.tick(DetachDelayMs - 1);
  await settle();
  assert.deepEqual(browser.sent, ['attach']);
  mock.timers.tick(1);
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'detach']);
  assert.equal(browser.watchers.size, 0);
  await debuggers.use(7, [], doNothing);
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

test('a hold keeps the debugger attached and its features on until release', async () => {
  const debuggers = browser.make();
  const hold = await debuggers.hold(7, ['focus']);
  await debuggers.use(7, ['focus'], doNothing);
  mock.timers.tick(10 * DetachDelayMs);
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'setFocusEmulationEnabled true']);
  await hold.release();
  await hold.release();
  mock.timers.tick(DetachDelayMs);
  await settle();
  assert.deepEqual(browser.sent.slice(2), ['setFocusEmulationEnabled false', 'detach']);
});

test('a new frame or worker runs only after the commands that tools send synchronously', async () => {
  const debuggers = browser.make();
  const attachChild = (id: string) =>
    browser.listener?.onEvent(
      7,
      'Target.attachedToTarget',
      { sessionId: id, targetInfo: { type: 'iframe', targetId: `frame ${id}`, url: 'https://ads.example/' } },
      '',
    );
  const hold = await debuggers.hold(7, ['children']);
  attachChild('a');
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'setAutoAttach', 'setAutoAttach to a', 'runIfWaitingForDebugger to a']);
  const seen: string[] = [];
  const stop = hold.session.onChild(async ({ id, kind, targetId }) => {
    seen.push(`${id} ${kind} ${targetId}`);
    await hold.session.send('Network.enable', {}, 1000, id);
  });
  browser.sent.length = 0;
  attachChild('b');
  await settle();
  assert.deepEqual(browser.sent, ['enable to b', 'setAutoAttach to b', 'runIfWaitingForDebugger to b']);
  stop();
  browser.listener?.onEvent(7, 'Target.detachedFromTarget', { sessionId: 'a' }, '');
  const later: string[] = [];
  hold.session.onChild(async ({ id }) => {
    later.push(id);
  });
  assert.deepEqual(seen, ['a iframe frame a', 'b iframe frame b']);
  assert.deepEqual(later, ['b']);
  // A new recording also needs the frames that the page already contains, so watchChildren calls its listener for these
  // frames.
  let hasAnswered = false;
  await hold.session.watchChildren(async ({ id }) => {
    await hold.session.send('Network.enable', {}, 1000, id);
    hasAnswered = true;
  });
  assert.equal(hasAnswered, true, 'watchChildren returned before the listener had ended');
  await hold.release();
});

test('Cancel ends the tools and is remembered until the user allows the debugger again', async () => {
  const debuggers = browser.make();
  let changes = 0;
  debuggers.changed.addListener(() => changes++);
  const use = debuggers.use(7, ['focus'], () => new Promise(() => undefined));
  await settle();
  browser.isAttached = false;
  browser.listener?.onDetach(7, true);
  const failure = await awaitFailure(use);
  assert.equal(failure.error.tool?.code, 'debugger_refused');
  // If a tool has already used the debugger in a call, the tool must not run again without the debugger.
  assert.equal(failure instanceof DebuggerUnavailable, false);
  const later = browser.make();
  for (const each of [debuggers, later]) {
    const refusal = await awaitFailure(each.use(7, [], doNothing));
    assert.ok(refusal instanceof DebuggerUnavailable);
    assert.equal(refusal.error.tool?.code, 'debugger_refused');
    assert.equal(each.state, 'refused');
  }
  await debuggers.allow();
  assert.deepEqual([debuggers.state, changes], ['ready', 2]);
  await debuggers.use(7, [], doNothing);
  assert.equal(browser.isAttached, true);
});

test('the debugger sees only http and https pages', async () => {
  const debuggers = browser.make();
  browser.url = 'about:blank';
  assert.equal(await awaitFailureCode(debuggers.use(7, [], doNothing)), 'needs_debugger');
  assert.deepEqual(browser.sent, []);
  browser.url = 'https://shop.example/';
  const use = debuggers.use(7, [], () => new Promise(() => undefined));
  await settle();
  browser.navigate('https://other.example/');
  await settle();
  assert.deepEqual(browser.sent, ['attach']);
  browser.navigate('file:///etc/passwd');
  assert.equal(await awaitFailureCode(use), 'needs_debugger');
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'detach']);
});

test('a new worker ends what a tool of the last worker left behind', async () => {
  browser.isAttached = true;
  const debuggers = browser.make();
  await debuggers.use(7, [], doNothing);
  const commands = Object.values(featureCommands).flatMap(({ off }) => (off ? [off] : []));
  assert.deepEqual(
    browser.sent.map((text) => text.split(' ')[0]),
    ['handleJavaScriptDialog', ...[...commands, ...endEmulationCommands].map(([method]) => method.split('.')[1])],
  );
  mock.timers.tick(DetachDelayMs);
  await settle();
  assert.equal(browser.sent.at(-1), 'detach');
});

test('a mouse button that a tool could not release is released by the next worker or attachment', async () => {
  const mouse = (type: string) => ['Input.dispatchMouseEvent', { type, button: 'left' }] as const;
  const first = browser.make();
  void first.use(7, ['focus'], async (session) => {
    await session.send(...mouse('mousePressed'));
    await new Promise(() => undefined);
  });
  await settle();
  browser.sent.length = 0;
  const second = browser.make();
  await second.use(7, [], doNothing);
  const release = ['setFocusEmulationEnabled true', 'dispatchDragEvent', 'dispatchMouseEvent'];
  assert.deepEqual(browser.sent.slice(1, 4), release);
  assert.equal(browser.sent.filter((text) => text === 'dispatchMouseEvent').length, 1);

  const failing = second.use(7, [], async (session) => {
    await session.send(...mouse('mousePressed'));
    browser.isAttached = false;
    browser.listener?.onDetach(7, false);
  });
  await awaitFailure(failing);
  browser.sent.length = 0;
  await second.use(7, [], doNothing);
  assert.deepEqual(browser.sent.slice(0, 3), ['attach', ...release.slice(0, 2)]);
  browser.sent.length = 0;
  await second.use(7, [], async (session) => {
    await session.send(...mouse('mousePressed'));
    await session.send(...mouse('mouseReleased'));
  });
  await browser.make().use(7, [], doNothing);
  assert.equal(
    browser.sent.filter((text) => text === 'dispatchMouseEvent').length,
    2,
    'a released button is not released twice',
  );
});

test('without the permission, nothing is attached', async () => {
  browser.isInstalled = false;
  const debuggers = browser.make();
  assert.equal(debuggers.state, 'absent');
  assert.equal(await awaitFailureCode(debuggers.use(7, [], doNothing)), 'needs_debugger');
});

test('leave detaches the debugger at once from a tab that no tool uses', async () => {
  const debuggers = browser.make();
  const hold = await debuggers.hold(7, []);
  await debuggers.detachIfUnused(7);
  assert.deepEqual(browser.sent, ['attach'], 'commands while a tool uses the tab');
  await hold.release();
  await debuggers.detachIfUnused(7);
  await debuggers.detachIfUnused(9);
  assert.deepEqual(browser.sent, ['attach', 'detach']);
  mock.timers.tick(DetachDelayMs);
  await settle();
  assert.deepEqual(browser.sent, ['attach', 'detach'], 'commands after LingerMs');
});
