import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveSignal, runCall } from './running.ts';

test('resolveSignal returns no signal without a running call', () => {
  assert.equal(resolveSignal(undefined), undefined);
  assert.equal(resolveSignal(null), undefined);
  const { signal } = new AbortController();
  assert.equal(resolveSignal(signal), signal);
});

test('resolveSignal returns the signal of the only running call until it has settled', async () => {
  const { signal } = new AbortController();
  let finishCall: () => void = () => undefined;
  const call = runCall({ signal }, async () => {
    assert.equal(resolveSignal(undefined), signal);
    await new Promise<void>((resolve) => {
      finishCall = resolve;
    });
    assert.equal(resolveSignal(undefined), signal);
    assert.equal(resolveSignal(null), undefined);
  });
  assert.equal(resolveSignal(undefined), signal);
  finishCall();
  await call;
  assert.equal(resolveSignal(undefined), undefined);
});

test('a call whose handler throws before its first await is removed', async () => {
  const { signal } = new AbortController();
  const failingCall = runCall({ signal }, () => {
    throw new Error('at once');
  });
  await assert.rejects(failingCall, { message: 'at once' });
  assert.equal(resolveSignal(undefined), undefined);
});

test('before its first await a handler has its own signal, even with other running calls', async () => {
  const firstController = new AbortController();
  const secondController = new AbortController();
  let finishFirstCall: () => void = () => undefined;
  const firstCall = runCall(
    firstController,
    () =>
      new Promise<void>((resolve) => {
        finishFirstCall = resolve;
      }),
  );
  await runCall(secondController, () => {
    assert.equal(resolveSignal(undefined), secondController.signal);
  });
  assert.equal(resolveSignal(undefined), firstController.signal);
  finishFirstCall();
  await firstCall;
});

test('with several running calls a wait stops when all the calls were stopped', async () => {
  const abortControllers = [new AbortController(), new AbortController()] as const;
  let finishCalls: () => void = () => undefined;
  const finishPromise = new Promise<void>((resolve) => {
    finishCalls = resolve;
  });
  const calls = abortControllers.map(({ signal }) => runCall({ signal }, () => finishPromise));
  const sharedSignal = resolveSignal(undefined);
  assert.equal(resolveSignal(undefined), sharedSignal);
  abortControllers[0].abort('first');
  assert.equal(sharedSignal?.aborted, false);
  assert.equal(resolveSignal(undefined)?.aborted, false);
  abortControllers[1].abort('second');
  assert.equal(sharedSignal?.aborted, true);
  assert.equal(sharedSignal?.reason, 'second');
  finishCalls();
  await Promise.all(calls);
});
