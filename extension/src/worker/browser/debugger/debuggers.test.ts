import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { DebuggerListener } from '../../../chrome-debugger.ts';
import type { TabEvent } from '../../../chrome-pages.ts';
import { ToolFailure } from '../tool-failure.ts';
import { Debuggers, DebuggerUnavailableError, DetachDelayMs } from './debuggers.ts';
import { endEmulationCommands, featureCommands } from './features.ts';

/** FakeBrowser simulates a browser with one tab, whose ID is 7. */
class FakeBrowser {
  readonly sentCommands: string[] = [];
  readonly settings = new Map<string, string>();
  readonly sessionValues = new Map<string, string>();
  isInstalled = true;
  isAttached = false;
  url = 'https://shop.example/';
  listener: DebuggerListener | undefined;
  readonly watchers = new Set<(tabId: number, event: TabEvent) => void>();

  makeDebuggers(): Debuggers {
    return new Debuggers({
      hasDebugger: () => this.isInstalled,
      attachDebugger: async () => {
        this.sentCommands.push('attach');
        this.isAttached = true;
      },
      detachDebugger: async () => {
        this.sentCommands.push('detach');
        this.isAttached = false;
      },
      sendToDebugger: async (tabId, method, params = {}, childId = '') => {
        // In the fake browser, another program uses the debugger of tab 8.
        if (!this.isAttached || tabId !== 7) throw new Error('Debugger is not attached');
        const { enabled } = params;
        const target = childId === '' ? '' : ` to ${childId}`;
        this.sentCommands.push(`${method.split('.')[1]}${typeof enabled === 'boolean' ? ` ${enabled}` : ''}${target}`);
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

/** settlePromises waits until all pending promises have settled, without advancing the fake clock. */
async function settlePromises(): Promise<void> {
  for (let i = 0; i < 200; i++) await Promise.resolve();
}

async function awaitFailure(failingCall: Promise<unknown>): Promise<ToolFailure> {
  const error = await failingCall.then(
    () => undefined,
    (thrownValue: unknown) => thrownValue,
  );
  if (error instanceof ToolFailure) return error;
  throw new Error(`no failure of a tool: ${String(error)}`);
}

const awaitFailureCode = async (failingCall: Promise<unknown>) => (await awaitFailure(failingCall)).error.tool?.code;
const doNothing = async () => undefined;

test('tools share one attached debugger, which is detached 30 s after its last use', async () => {
  const debuggers = browser.makeDebuggers();
  assert.equal(await debuggers.use(7, [], async () => 'a result'), 'a result');
  mock.timers.tick(DetachDelayMs - 1);
  await debuggers.use(7, [], doNothing);
  mock.timers.tick(DetachDelayMs - 1);
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach']);
  mock.timers.tick(1);
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach', 'detach']);
  assert.equal(browser.watchers.size, 0);
  await debuggers.use(7, [], doNothing);
  assert.deepEqual(browser.sentCommands, ['attach', 'detach', 'attach']);
});

test('a debugger feature stays on until the last tool that uses it ends or fails', async () => {
  const debuggers = browser.makeDebuggers();
  let endFirstUse = () => {};
  let failSecondUse = (_: Error) => {};
  const firstUse = debuggers.use(
    7,
    ['focus'],
    () =>
      new Promise<void>((resolve) => {
        endFirstUse = resolve;
      }),
  );
  const secondDebuggerUse = debuggers.use(
    7,
    ['focus', 'drags'],
    () =>
      new Promise((_, reject) => {
        failSecondUse = reject;
      }),
  );
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach', 'setFocusEmulationEnabled true', 'setInterceptDrags true']);
  browser.sentCommands.length = 0;
  endFirstUse();
  await firstUse;
  assert.deepEqual(browser.sentCommands, []);
  failSecondUse(new Error('broken'));
  await assert.rejects(secondDebuggerUse, /broken/);
  assert.deepEqual(browser.sentCommands, ['setInterceptDrags false', 'setFocusEmulationEnabled false']);
});

test('a DebuggerHold keeps the debugger attached and its features on until it is released', async () => {
  const debuggers = browser.makeDebuggers();
  const debuggerHold = await debuggers.hold(7, ['focus']);
  await debuggers.use(7, ['focus'], doNothing);
  mock.timers.tick(10 * DetachDelayMs);
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach', 'setFocusEmulationEnabled true']);
  await debuggerHold.release();
  await debuggerHold.release();
  mock.timers.tick(DetachDelayMs);
  await settlePromises();
  assert.deepEqual(browser.sentCommands.slice(2), ['setFocusEmulationEnabled false', 'detach']);
});

test('a new frame or worker runs only after the commands that tools send synchronously', async () => {
  const debuggers = browser.makeDebuggers();
  const attachChild = (id: string) =>
    browser.listener?.onEvent(
      7,
      'Target.attachedToTarget',
      { sessionId: id, targetInfo: { type: 'iframe', targetId: `frame ${id}`, url: 'https://ads.example/' } },
      '',
    );
  const debuggerHold = await debuggers.hold(7, ['children']);
  attachChild('a');
  await settlePromises();
  assert.deepEqual(browser.sentCommands, [
    'attach',
    'setAutoAttach',
    'setAutoAttach to a',
    'runIfWaitingForDebugger to a',
  ]);
  const reportedChildren: string[] = [];
  const stopListening = debuggerHold.session.onChildTarget(async ({ id, kind, targetId }) => {
    reportedChildren.push(`${id} ${kind} ${targetId}`);
    await debuggerHold.session.send('Network.enable', {}, 1000, id);
  });
  browser.sentCommands.length = 0;
  attachChild('b');
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['enable to b', 'setAutoAttach to b', 'runIfWaitingForDebugger to b']);
  stopListening();
  browser.listener?.onEvent(7, 'Target.detachedFromTarget', { sessionId: 'a' }, '');
  const laterChildIds: string[] = [];
  debuggerHold.session.onChildTarget(async ({ id }) => {
    laterChildIds.push(id);
  });
  assert.deepEqual(reportedChildren, ['a iframe frame a', 'b iframe frame b']);
  assert.deepEqual(laterChildIds, ['b']);
  // A new recording also needs the frames that the page already contains, so watchChildren calls its listener for these
  // frames.
  let hasAnswered = false;
  await debuggerHold.session.watchChildren(async ({ id }) => {
    await debuggerHold.session.send('Network.enable', {}, 1000, id);
    hasAnswered = true;
  });
  assert.equal(hasAnswered, true, 'watchChildren must wait until its listener has ended');
  await debuggerHold.release();
});

test('after Cancel in the debugger bar, tools fail until the user allows the debugger again', async () => {
  const debuggers = browser.makeDebuggers();
  let changeCount = 0;
  debuggers.changed.addListener(() => changeCount++);
  const debuggerUse = debuggers.use(7, ['focus'], () => new Promise(() => undefined));
  await settlePromises();
  browser.isAttached = false;
  browser.listener?.onDetach(7, true);
  const failure = await awaitFailure(debuggerUse);
  assert.equal(failure.error.tool?.code, 'debugger_refused');
  // If a tool has already used the debugger in a call, the tool must not run again without the debugger.
  assert.equal(failure instanceof DebuggerUnavailableError, false);
  const restartedDebuggers = browser.makeDebuggers();
  for (const testedDebuggers of [debuggers, restartedDebuggers]) {
    const refusalError = await awaitFailure(testedDebuggers.use(7, [], doNothing));
    assert.ok(refusalError instanceof DebuggerUnavailableError);
    assert.equal(refusalError.error.tool?.code, 'debugger_refused');
    assert.equal(testedDebuggers.state, 'refused');
  }
  await debuggers.allowDebugger();
  assert.deepEqual([debuggers.state, changeCount], ['ready', 2]);
  await debuggers.use(7, [], doNothing);
  assert.equal(browser.isAttached, true);
});

test('the debugger attaches only to http and https pages, and detaches from other pages', async () => {
  const debuggers = browser.makeDebuggers();
  browser.url = 'about:blank';
  assert.equal(await awaitFailureCode(debuggers.use(7, [], doNothing)), 'needs_debugger');
  assert.deepEqual(browser.sentCommands, []);
  browser.url = 'https://shop.example/';
  const debuggerUse = debuggers.use(7, [], () => new Promise(() => undefined));
  await settlePromises();
  browser.navigate('https://other.example/');
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach']);
  browser.navigate('file:///etc/passwd');
  assert.equal(await awaitFailureCode(debuggerUse), 'needs_debugger');
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach', 'detach']);
});

test('a new worker dismisses the dialog and turns off the features of the previous worker', async () => {
  browser.isAttached = true;
  const debuggers = browser.makeDebuggers();
  await debuggers.use(7, [], doNothing);
  const commands = Object.values(featureCommands).flatMap(({ off: offCommand }) => (offCommand ? [offCommand] : []));
  assert.deepEqual(
    browser.sentCommands.map((sentText) => sentText.split(' ')[0]),
    ['handleJavaScriptDialog', ...[...commands, ...endEmulationCommands].map(([method]) => method.split('.')[1])],
  );
  mock.timers.tick(DetachDelayMs);
  await settlePromises();
  assert.equal(browser.sentCommands.at(-1), 'detach');
});

test('the next worker or attachment releases a mouse button that a tool could not release', async () => {
  const makeMouseCommand = (type: string) => ['Input.dispatchMouseEvent', { type, button: 'left' }] as const;
  const firstDebuggers = browser.makeDebuggers();
  void firstDebuggers.use(7, ['focus'], async (session) => {
    await session.send(...makeMouseCommand('mousePressed'));
    await new Promise(() => undefined);
  });
  await settlePromises();
  browser.sentCommands.length = 0;
  const secondDebuggers = browser.makeDebuggers();
  await secondDebuggers.use(7, [], doNothing);
  const releaseCommands = ['setFocusEmulationEnabled true', 'dispatchDragEvent', 'dispatchMouseEvent'];
  assert.deepEqual(browser.sentCommands.slice(1, 4), releaseCommands);
  assert.equal(browser.sentCommands.filter((sentText) => sentText === 'dispatchMouseEvent').length, 1);

  const failingUse = secondDebuggers.use(7, [], async (session) => {
    await session.send(...makeMouseCommand('mousePressed'));
    browser.isAttached = false;
    browser.listener?.onDetach(7, false);
  });
  await awaitFailure(failingUse);
  browser.sentCommands.length = 0;
  await secondDebuggers.use(7, [], doNothing);
  assert.deepEqual(browser.sentCommands.slice(0, 3), ['attach', ...releaseCommands.slice(0, 2)]);
  browser.sentCommands.length = 0;
  await secondDebuggers.use(7, [], async (session) => {
    await session.send(...makeMouseCommand('mousePressed'));
    await session.send(...makeMouseCommand('mouseReleased'));
  });
  await browser.makeDebuggers().use(7, [], doNothing);
  assert.equal(
    browser.sentCommands.filter((sentText) => sentText === 'dispatchMouseEvent').length,
    2,
    'a released mouse button must not be released again',
  );
});

test('without the permission debugger, no debugger is attached', async () => {
  browser.isInstalled = false;
  const debuggers = browser.makeDebuggers();
  assert.equal(debuggers.state, 'absent');
  assert.equal(await awaitFailureCode(debuggers.use(7, [], doNothing)), 'needs_debugger');
});

test('detachIfUnused detaches the debugger at once from a tab that no tool uses', async () => {
  const debuggers = browser.makeDebuggers();
  const debuggerHold = await debuggers.hold(7, []);
  await debuggers.detachIfUnused(7);
  assert.deepEqual(browser.sentCommands, ['attach'], 'the debugger must stay attached while a tool uses the tab');
  await debuggerHold.release();
  await debuggers.detachIfUnused(7);
  await debuggers.detachIfUnused(9);
  assert.deepEqual(browser.sentCommands, ['attach', 'detach']);
  mock.timers.tick(DetachDelayMs);
  await settlePromises();
  assert.deepEqual(browser.sentCommands, ['attach', 'detach'], 'the debugger must be detached only once');
});
