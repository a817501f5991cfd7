import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runCall } from './running.ts';
import { type RetryOptions, retry, sleep, waitUntil } from './timing.ts';

const aborted = { name: 'ToolError', code: 'aborted' };

test('sleep resolves after its time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let over = false;
  const slept = sleep(1000).then(() => {
    over = true;
  });
  t.mock.timers.tick(999);
  await new Promise(setImmediate);
  assert.equal(over, false);
  t.mock.timers.tick(1);
  await slept;
});

test('sleep rejects at once when its signal aborts, and before it began', async () => {
  const controller = new AbortController();
  const slept = sleep(3_600_000, { signal: controller.signal });
  controller.abort(new DOMException('enough', 'AbortError'));
  await assert.rejects(slept, { ...aborted, message: 'aborted: enough' });
  await assert.rejects(sleep(0, { signal: controller.signal }), aborted);
});

test("sleep uses the platform's timers, which stay on time in a hidden page", async (t) => {
  const before = globalThis.__openTabs;
  t.after(() => {
    globalThis.__openTabs = before;
  });
  const timers: { ms: number; done: () => void; cancelled: boolean }[] = [];
  globalThis.__openTabs = {
    _setTimer: (ms: number, done: () => void) => {
      const timer = { ms, done, cancelled: false };
      timers.push(timer);
      return () => {
        timer.cancelled = true;
      };
    },
  };
  const controller = new AbortController();
  const slept = sleep(1000);
  const stopped = sleep(2000, { signal: controller.signal });
  controller.abort();
  await assert.rejects(stopped, aborted);
  timers[0]?.done();
  await slept;
  assert.deepEqual(
    timers.map(({ ms, cancelled }) => [ms, cancelled]),
    [
      [1000, false],
      [2000, true],
    ],
  );
});

test('a finished sleep leaves no listener behind', async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener) => {
    listeners.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    listeners.delete(listener);
    remove(type, listener);
  };
  await sleep(1, { signal });
  assert.equal(listeners.size, 0);
});

test('sleep stops with the signal of the running call', async () => {
  const controller = new AbortController();
  const call = runCall(controller.signal, async () => {
    await sleep(0);
    await sleep(3_600_000);
  });
  await sleep(5, { signal: null });
  controller.abort();
  await assert.rejects(call, aborted);
});

test('sleep with the signal null outlives its call', async () => {
  const controller = new AbortController();
  controller.abort();
  assert.equal(await runCall(controller.signal, () => sleep(1, { signal: null }).then(() => 'done')), 'done');
});

test('waitUntil calls the predicate at once and then at each interval', async () => {
  let tries = 0;
  await waitUntil(() => ++tries === 1, { interval: 3_600_000 });
  assert.equal(tries, 1);
  await waitUntil(async () => ++tries === 4, { interval: 1 });
  assert.equal(tries, 4);
});

test('waitUntil treats an error of the predicate as false', async () => {
  let tries = 0;
  await waitUntil(
    () => {
      if (++tries < 3) throw new Error('not there');
      return true;
    },
    { interval: 1 },
  );
  assert.equal(tries, 3);
});

test('waitUntil times out with the last error', async () => {
  const timeout = { name: 'ToolError', code: 'TIMEOUT', retryable: true };
  await assert.rejects(
    waitUntil(() => false, { interval: 1, timeout: 20 }),
    {
      ...timeout,
      message: 'the condition was not met within 20 ms',
    },
  );
  const missing = () => {
    throw new Error('no #app');
  };
  await assert.rejects(waitUntil(missing, { interval: 1, timeout: 20 }), { ...timeout, message: /: no #app$/ });
});

test('waitUntil ends although the predicate hangs', async () => {
  const never = () => new Promise<boolean>(() => undefined);
  await assert.rejects(waitUntil(never, { timeout: 20 }), { code: 'TIMEOUT' });
  const controller = new AbortController();
  const waiting = waitUntil(never, { signal: controller.signal });
  controller.abort();
  await assert.rejects(waiting, aborted);
});

test('waitUntil stops with its signal', async () => {
  const controller = new AbortController();
  const waiting = waitUntil(() => false, { interval: 3_600_000, timeout: 3_600_000, signal: controller.signal });
  controller.abort(new Error('stop'));
  await assert.rejects(waiting, { ...aborted, message: 'aborted: stop' });
});

test('retry returns the first success', async () => {
  let tries = 0;
  const work = async () => {
    if (++tries < 3) throw new Error(`try ${tries}`);
    return tries;
  };
  assert.equal(await retry(work, { delay: 0 }), 3);
});

test('retry throws the error of the last attempt', async () => {
  let tries = 0;
  const work = async () => {
    throw new Error(`try ${++tries}`);
  };
  await assert.rejects(retry(work, { delay: 0 }), { message: 'try 3' });
  await assert.rejects(retry(work, { delay: 0, maxAttempts: 1 }), { message: 'try 4' });
});

/** Returns the delays of `retry` between its attempts. */
async function measureWaits(t: TestContext, options: RetryOptions): Promise<number[]> {
  const times: number[] = [];
  t.mock.method(globalThis, 'setTimeout', (next: () => void, ms: number) => {
    times.push(ms);
    queueMicrotask(next);
    return 0;
  });
  const failing = async () => {
    throw new Error('no');
  };
  await assert.rejects(retry(failing, options));
  t.mock.restoreAll();
  return times;
}

test('retry waits a second, or twice as long each time', async (t) => {
  assert.deepEqual(await measureWaits(t, { maxAttempts: 3 }), [1000, 1000]);
  assert.deepEqual(await measureWaits(t, { maxAttempts: 5, delay: 10, backoff: true, maxDelay: 50 }), [10, 20, 40, 50]);
});

test('retry stops with its signal, between attempts and before the first', async () => {
  const controller = new AbortController();
  let tries = 0;
  const stopped = retry(
    async () => {
      tries++;
      controller.abort();
      throw new Error('no');
    },
    { signal: controller.signal, delay: 3_600_000 },
  );
  await assert.rejects(stopped, aborted);
  await assert.rejects(
    runCall(controller.signal, () => retry(async () => tries++)),
    aborted,
  );
  assert.equal(tries, 1);
});
