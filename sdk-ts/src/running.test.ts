import assert from 'node:assert/strict';
import test from 'node:test';
import { runCall, signalFor } from './running.ts';

const neverEnds = () => new Promise<never>(() => undefined);

test('without a call there is no signal', () => {
  assert.equal(signalFor(undefined), undefined);
  assert.equal(signalFor(null), undefined);
  const { signal } = new AbortController();
  assert.equal(signalFor(signal), signal);
});

test('signalFor returns the signal of the one running call until it has settled', async () => {
  const { signal } = new AbortController();
  let go: () => void = () => undefined;
  const call = runCall(signal, async () => {
    assert.equal(signalFor(undefined), signal);
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    assert.equal(signalFor(undefined), signal);
    assert.equal(signalFor(null), undefined);
  });
  assert.equal(signalFor(undefined), signal);
  go();
  await call;
  assert.equal(signalFor(undefined), undefined);
});

test('a call whose handler throws before its first await is removed', async () => {
  const { signal } = new AbortController();
  const failing = runCall(signal, () => {
    throw new Error('at once');
  });
  await assert.rejects(failing, { message: 'at once' });
  assert.equal(signalFor(undefined), undefined);
});

test('before its first await a handler has its own signal, even with other running calls', async () => {
  const one = new AbortController();
  const two = new AbortController();
  let release: () => void = () => undefined;
  const first = runCall(
    one.signal,
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  await runCall(two.signal, () => {
    assert.equal(signalFor(undefined), two.signal);
  });
  assert.equal(signalFor(undefined), one.signal);
  release();
  await first;
});

test('with several calls a wait stops once all of them were stopped', () => {
  const controllers = [new AbortController(), new AbortController()] as const;
  for (const { signal } of controllers) void runCall(signal, neverEnds);
  const shared = signalFor(undefined);
  assert.equal(signalFor(undefined), shared);
  controllers[0].abort('first');
  assert.equal(shared?.aborted, false);
  assert.equal(signalFor(undefined)?.aborted, false);
  controllers[1].abort('second');
  assert.equal(shared?.aborted, true);
  assert.equal(shared?.reason, 'second');
});
