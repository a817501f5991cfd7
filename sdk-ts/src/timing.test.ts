import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runCall } from './running.ts';
import { type RetryOptions, retry, sleep, waitUntil } from './timing.ts';

const abortedError = { name: 'ToolError', code: 'aborted' };

test('sleep resolves after the given number of milliseconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isOver = false;
  const sleepPromise = sleep(1000).then(() => {
    isOver = true;
  });
  t.mock.timers.tick(999);
  await new Promise(setImmediate);
  assert.equal(isOver, false);
  t.mock.timers.tick(1);
  await sleepPromise;
});

test('sleep rejects when its signal aborts, or if the signal has already aborted', async () => {
  const controller = new AbortController();
  const sleepPromise = sleep(3_600_000, { signal: controller.signal });
  controller.abort(new DOMException('enough', 'AbortError'));
  await assert.rejects(sleepPromise, { ...abortedError, message: 'aborted: enough' });
  await assert.rejects(sleep(0, { signal: controller.signal }), abortedError);
});

test("sleep uses the platform's timers, which stay on time in a hidden page", async (t) => {
  const previousContainer = globalThis.__openTabs;
  t.after(() => {
    globalThis.__openTabs = previousContainer;
  });
  const timers: { ms: number; onTimeout: () => void; cancelled: boolean }[] = [];
  globalThis.__openTabs = {
    _setTimer: (ms: number, onTimeout: () => void) => {
      const timer = { ms, onTimeout, cancelled: false };
      timers.push(timer);
      return () => {
        timer.cancelled = true;
      };
    },
  };
  const controller = new AbortController();
  const sleepPromise = sleep(1000);
  const stoppedSleep = sleep(2000, { signal: controller.signal });
  controller.abort();
  await assert.rejects(stoppedSleep, abortedError);
  timers[0]?.onTimeout();
  await sleepPromise;
  assert.deepEqual(
    timers.map(({ ms, cancelled }) => [ms, cancelled]),
    [
      [1000, false],
      [2000, true],
    ],
  );
});

test('a finished sleep removes its abort listener', async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const addListener = signal.addEventListener.bind(signal);
  const removeListener = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener) => {
    listeners.add(listener);
    addListener(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    listeners.delete(listener);
    removeListener(type, listener);
  };
  await sleep(1, { signal });
  assert.equal(listeners.size, 0);
});

test('sleep stops when the signal of the running call aborts', async () => {
  const controller = new AbortController();
  const call = runCall(controller, async () => {
    await sleep(0);
    await sleep(3_600_000);
  });
  await sleep(5, { signal: null });
  controller.abort();
  await assert.rejects(call, abortedError);
});

test('sleep with the signal null continues after its call was stopped', async () => {
  const controller = new AbortController();
  controller.abort();
  assert.equal(await runCall(controller, () => sleep(1, { signal: null }).then(() => 'done')), 'done');
});

test('waitUntil calls the predicate at once and then at each interval', async () => {
  let attemptCount = 0;
  await waitUntil(() => ++attemptCount === 1, { interval: 3_600_000 });
  assert.equal(attemptCount, 1);
  await waitUntil(async () => ++attemptCount === 4, { interval: 1 });
  assert.equal(attemptCount, 4);
});

test('waitUntil treats an error of the predicate as false', async () => {
  let attemptCount = 0;
  await waitUntil(
    () => {
      if (++attemptCount < 3) throw new Error('not there');
      return true;
    },
    { interval: 1 },
  );
  assert.equal(attemptCount, 3);
});

test('waitUntil times out with the last error', async () => {
  const timeoutError = { name: 'ToolError', code: 'TIMEOUT', retryable: true };
  await assert.rejects(
    waitUntil(() => false, { interval: 1, timeout: 20 }),
    {
      ...timeoutError,
      message: 'the condition was not met within 20 ms',
    },
  );
  const failingPredicate = () => {
    throw new Error('no #app');
  };
  await assert.rejects(waitUntil(failingPredicate, { interval: 1, timeout: 20 }), {
    ...timeoutError,
    message: /: no #app$/,
  });
});

test('waitUntil times out or stops even if the predicate hangs', async () => {
  const neverSettle = () => new Promise<boolean>(() => undefined);
  await assert.rejects(waitUntil(neverSettle, { timeout: 20 }), { code: 'TIMEOUT' });
  const controller = new AbortController();
  const waitPromise = waitUntil(neverSettle, { signal: controller.signal });
  controller.abort();
  await assert.rejects(waitPromise, abortedError);
});

test('waitUntil stops when its signal aborts', async () => {
  const controller = new AbortController();
  const waitPromise = waitUntil(() => false, { interval: 3_600_000, timeout: 3_600_000, signal: controller.signal });
  controller.abort(new Error('stop'));
  await assert.rejects(waitPromise, { ...abortedError, message: 'aborted: stop' });
});

test('retry returns the first success', async () => {
  let attemptCount = 0;
  const failOnce = async () => {
    if (++attemptCount < 3) throw new Error(`try ${attemptCount}`);
    return attemptCount;
  };
  assert.equal(await retry(failOnce, { delay: 0 }), 3);
});

test('retry throws the error of the last attempt', async () => {
  let attemptCount = 0;
  const failingAttempt = async () => {
    throw new Error(`try ${++attemptCount}`);
  };
  await assert.rejects(retry(failingAttempt, { delay: 0 }), { message: 'try 3' });
  await assert.rejects(retry(failingAttempt, { delay: 0, maxAttempts: 1 }), { message: 'try 4' });
});

async function measureDelays(t: TestContext, options: RetryOptions): Promise<number[]> {
  const delayTimes: number[] = [];
  t.mock.method(globalThis, 'setTimeout', (callback: () => void, ms: number) => {
    delayTimes.push(ms);
    queueMicrotask(callback);
    return 0;
  });
  const failingAttempt = async () => {
    throw new Error('no');
  };
  await assert.rejects(retry(failingAttempt, options));
  t.mock.restoreAll();
  return delayTimes;
}

test('retry waits a second between attempts, or doubles the delay with backoff', async (t) => {
  assert.deepEqual(await measureDelays(t, { maxAttempts: 3 }), [1000, 1000]);
  assert.deepEqual(
    await measureDelays(t, { maxAttempts: 5, delay: 10, backoff: true, maxDelay: 50 }),
    [10, 20, 40, 50],
  );
});

test('retry stops when its signal aborts, between attempts and before the first attempt', async () => {
  const controller = new AbortController();
  let attemptCount = 0;
  const stoppedRetry = retry(
    async () => {
      attemptCount++;
      controller.abort();
      throw new Error('no');
    },
    { signal: controller.signal, delay: 3_600_000 },
  );
  await assert.rejects(stoppedRetry, abortedError);
  await assert.rejects(
    runCall(controller, () => retry(async () => attemptCount++)),
    abortedError,
  );
  assert.equal(attemptCount, 1);
});
