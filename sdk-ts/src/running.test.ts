import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveSignal, runCall } from './running.ts';

const neverEnds = () => new Promise<never>(() => undefined);

test('without a call there is no signal', () => {
  assert.equal(resolveSignal(undefined), undefined);
  assert.equal(resolveSignal(null), undefined);
  const { signal } = new AbortController();
  assert.equal(resolveSignal(signal), signal);
});

test('signalFor returns the signal of the one running call until it has settled', async () => {
  const { signal } = new AbortController();
  let go: () => void = () => undefined;
  const call = runCall(signal, async () => {
    assert.equal(resolveSignal(undefined), signal);
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    assert.equal(resolveSignal(undefined), signal);
    assert.equal(resolveSignal(null), undefined);
  });
  assert.equal(resolveSignal(undefined), signal);
  go();
  await call;
  assert.equal(resolveSignal(undefined), undefined);
});

test('a call whose handler throws before its first await is removed', async () => {
  const { signal } = new AbortController();
  const failing = runCall(signal, () => {
    throw new Error('at once');
  });
  await assert.rejects(failing, { message: 'at once' });
  assert.equal(resolveSignal(undefined), undefined);
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
    assert.equal(resolveSignal(undefined), two.signal);
  });
  assert.equal(resolveSignal(undefined), one.signal);
  release();
  await first;
});

test('with several calls a wait stops once all of them were stopped', () => {
  const controllers = [new AbortController(), new AbortController()] as const;
  for (const { signal } of controllers) void runCall(signal, neverEnds);
  const shared = resolveSignal(undefined);
  assert.equal(resolveSignal(undefined), shared);
  controllers[0].abort('first');
  assert.equal(shared?.aborted, false);
  assert.equal(resolveSignal(undefined)?.aborted, false);
  controllers[1].abort('second');
  assert.equal(shared?.aborted, true);
  assert.equal(shared?.reason, 'second');
});
