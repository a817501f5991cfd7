import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { CaptureIdleMs, type CapturesOptions, DebuggerCaptures } from './captures.ts';
import type { DebuggerHold } from './debuggers.ts';

let events: string[];
let simulateDetach: () => void;
let captureStartError: Error | undefined;

const session: DebuggerHold['session'] = {
  send: async () => ({}),
  onEvent: () => () => undefined,
  onChildTarget: () => () => undefined,
  watchChildren: async () => () => undefined,
};

function makeCaptures(otherOptions: Partial<CapturesOptions<string>> = {}): DebuggerCaptures<string> {
  let count = 0;
  return new DebuggerCaptures({
    features: ['drawing'],
    debuggers: {
      hold: async (tabId, features) => {
        events.push(`hold ${tabId} ${features.join(' ')}`);
        const detachedPromise = new Promise<never>((_, reject) => {
          simulateDetach = () => reject(new Error('the debugger has left'));
        });
        detachedPromise.catch(() => undefined);
        return { session, detachedPromise, release: async () => void events.push('release') };
      },
    },
    start: async () => {
      if (captureStartError) throw captureStartError;
      return `capture ${++count}`;
    },
    stop: async (capture) => void events.push(`stop ${capture}`),
    endSession: async (capture, name) => void events.push(`${name} leaves ${capture}`),
    ...otherOptions,
  });
}

beforeEach(() => {
  events = [];
  captureStartError = undefined;
  mock.timers.enable({ apis: ['setTimeout'] });
});
afterEach(() => mock.timers.reset());

async function settlePromises(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

test('a capture ends after no tool has used the capture for 10 min', async () => {
  const debuggerCaptures = makeCaptures();
  const [firstCapture, secondCapture] = await Promise.all([
    debuggerCaptures.use(7, 's1'),
    debuggerCaptures.use(7, 's1'),
  ]);
  assert.deepEqual(
    [firstCapture, secondCapture],
    [
      { capture: 'capture 1', isNew: true },
      { capture: 'capture 1', isNew: false },
    ],
  );
  mock.timers.tick(CaptureIdleMs - 1);
  assert.equal(await debuggerCaptures.find(7), 'capture 1');
  mock.timers.tick(CaptureIdleMs - 1);
  await settlePromises();
  assert.deepEqual(events, ['hold 7 drawing']);
  mock.timers.tick(1);
  await settlePromises();
  assert.deepEqual(events, ['hold 7 drawing', 'stop capture 1', 'release']);
  assert.equal(await debuggerCaptures.find(7), undefined);
  assert.deepEqual(await debuggerCaptures.use(7, 's1'), { capture: 'capture 2', isNew: true });
});

test('a capture ends when the debugger is detached, and the next tool starts another capture', async () => {
  const debuggerCaptures = makeCaptures();
  await debuggerCaptures.use(7, 's1');
  simulateDetach();
  await settlePromises();
  assert.equal(await debuggerCaptures.find(7), undefined);
  assert.deepEqual(events, ['hold 7 drawing', 'stop capture 1', 'release']);
  assert.deepEqual(await debuggerCaptures.use(7, 's1'), { capture: 'capture 2', isNew: true });
});

test('a capture whose start fails releases the debugger', async () => {
  const debuggerCaptures = makeCaptures();
  captureStartError = new Error('Chrome rejected the command');
  await assert.rejects(debuggerCaptures.use(7, 's1'), /Chrome rejected the command/);
  assert.deepEqual(events, ['hold 7 drawing', 'release']);
  captureStartError = undefined;
  assert.equal((await debuggerCaptures.use(7, 's1')).isNew, true);
});

test('the method end stops only the capture of the given tab', async () => {
  const debuggerCaptures = makeCaptures();
  await debuggerCaptures.use(7, 's1');
  await debuggerCaptures.use(8, 's1');
  await debuggerCaptures.end(7);
  await debuggerCaptures.end(9);
  assert.deepEqual(events, ['hold 7 drawing', 'hold 8 drawing', 'stop capture 1', 'release']);
  assert.equal(await debuggerCaptures.find(8), 'capture 2');
});

test('a shared capture ends when the last session that used it ends', async () => {
  const debuggerCaptures = makeCaptures();
  await debuggerCaptures.use(7, 's1');
  await debuggerCaptures.use(7, 's2');
  await debuggerCaptures.use(8, 's1');
  await debuggerCaptures.find(8);
  await debuggerCaptures.endSession('s3');
  assert.deepEqual(events.splice(0), ['hold 7 drawing', 'hold 8 drawing']);
  await debuggerCaptures.endSession('s1');
  assert.deepEqual(events.splice(0), ['s1 leaves capture 1', 'stop capture 2', 'release']);
  assert.equal(await debuggerCaptures.find(7), 'capture 1');
  await debuggerCaptures.endSession('s2');
  assert.deepEqual(events, ['stop capture 1', 'release']);
});

test('an exclusive capture ends when the session that last used it ends', async () => {
  const debuggerCaptures = makeCaptures({ isExclusive: true });
  await debuggerCaptures.use(7, 's1');
  await debuggerCaptures.use(7, 's2');
  await debuggerCaptures.endSession('s1');
  assert.equal(await debuggerCaptures.find(7), 'capture 1');
  await debuggerCaptures.endSession('s2');
  assert.deepEqual(events, ['hold 7 drawing', 'stop capture 1', 'release']);
});

test('a capture whose session ends during the start is stopped', async () => {
  const debuggerCaptures = makeCaptures();
  const [, endedPromise] = [debuggerCaptures.use(7, 's1'), debuggerCaptures.endSession('s1')];
  await endedPromise;
  assert.deepEqual(events, ['hold 7 drawing', 'stop capture 1', 'release']);
  assert.equal(await debuggerCaptures.find(7), undefined);
});
