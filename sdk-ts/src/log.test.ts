import assert from 'node:assert/strict';
import test, { afterEach, beforeEach } from 'node:test';
import { type LogEntry, log, setLogTransport } from './log.ts';

let logEntries: LogEntry[] = [];
let restoreTransport = () => {};

beforeEach(() => {
  logEntries = [];
  restoreTransport = setLogTransport((logEntry) => logEntries.push(logEntry));
});
afterEach(() => restoreTransport());

function logAndConvert(value: unknown): unknown {
  log.info('', value);
  return JSON.parse(JSON.stringify(logEntries.pop()?.data[0]));
}

test('each log method writes entries with its level', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  log.debug('a');
  log.info('b', 1);
  log.warn('c', 'x', { y: 2 });
  log.error('d');
  const isoTimestamp = '1970-01-01T00:00:00.000Z';
  assert.deepEqual(logEntries, [
    { level: 'debug', message: 'a', data: [], ts: isoTimestamp },
    { level: 'info', message: 'b', data: [1], ts: isoTimestamp },
    { level: 'warning', message: 'c', data: ['x', { y: 2 }], ts: isoTimestamp },
    { level: 'error', message: 'd', data: [], ts: isoTimestamp },
  ]);
  assert.ok(Object.isFrozen(log));
});

test('outside opentabs, log entries go to the console', (t) => {
  restoreTransport();
  const logs: unknown[][] = [];
  for (const method of ['debug', 'info', 'warn', 'error'] as const) {
    t.mock.method(console, method, (...args: unknown[]) => logs.push([method, ...args]));
  }
  log.debug('a', 1);
  log.info('b');
  log.warn('c');
  log.error('d', { e: 1 });
  assert.deepEqual(logs, [
    ['debug', '[opentabs] a', 1],
    ['info', '[opentabs] b'],
    ['warn', '[opentabs] c'],
    ['error', '[opentabs] d', { e: 1 }],
  ]);
});

test('an error that the log transport throws does not reach the code that logs', () => {
  const restorePreviousTransport = setLogTransport(() => {
    throw new Error('no');
  });
  log.error('a');
  restorePreviousTransport();
  log.error('b');
  assert.deepEqual(
    logEntries.map(({ message }) => message),
    ['b'],
  );
});

test('the restore function of an earlier log transport does not remove a later transport', () => {
  const restorePreviousTransport = setLogTransport(() => undefined);
  const loggedMessages: string[] = [];
  setLogTransport(({ message }) => loggedMessages.push(message));
  restorePreviousTransport();
  log.info('a');
  assert.deepEqual(loggedMessages, ['a']);
});

test('values are converted to JSON when they are logged', () => {
  const mutableValue = { n: 1 };
  log.info('', mutableValue);
  mutableValue.n = 2;
  assert.deepEqual(logEntries.pop()?.data, [{ n: 1 }]);

  const circularValue: Record<string, unknown> = { a: 1, twice: [mutableValue, mutableValue] };
  circularValue.self = circularValue;
  assert.deepEqual(logAndConvert(circularValue), { a: 1, twice: [{ n: 2 }, { n: 2 }], self: '[circular]' });

  function namedFunction() {}
  assert.deepEqual(
    logAndConvert([undefined, Number.NaN, -Infinity, 10n, Symbol('s'), namedFunction, () => 1, null, true]),
    [null, 'NaN', '-Infinity', '10n', 'Symbol(s)', '[function namedFunction]', '[function without a name]', null, true],
  );
  assert.deepEqual(logAndConvert(new Date(0)), '1970-01-01T00:00:00.000Z');
  assert.deepEqual(logAndConvert([new Map([['a', 1]]), new Set([2])]), [[['a', 1]], [2]]);
});

test('log converts errors to objects and elements to short texts', () => {
  const causeError = new TypeError('inner');
  const error = Object.assign(new Error('outer', { cause: causeError }), { code: 'E1', stack: 'at x' });
  causeError.stack = 'at y';
  assert.deepEqual(logAndConvert(error), {
    name: 'Error',
    message: 'outer',
    code: 'E1',
    stack: 'at x',
    cause: { name: 'TypeError', message: 'inner', stack: 'at y' },
  });
  assert.equal(logAndConvert({ nodeType: 1, tagName: 'DIV', id: 'a', className: 'b  c' }), '<div#a.b.c>');
  assert.equal(logAndConvert({ nodeType: 1, tagName: 'svg', id: '', className: { baseVal: 'b' } }), '<svg>');
});

test('an unreadable value is logged with its error', () => {
  const brokenValue = {
    a: 1,
    get b(): never {
      throw new Error('no luck');
    },
  };
  assert.deepEqual(logAndConvert(brokenValue), { a: 1, b: '[unreadable: no luck]' });
  const { proxy, revoke: revokeProxy } = Proxy.revocable({}, {});
  revokeProxy();
  assert.match(String(logAndConvert(proxy)), /^\[unreadable: /);
  assert.equal(
    logAndConvert({
      toJSON: () => {
        throw new Error('none');
      },
    }),
    '[unreadable: none]',
  );
});

test('the size of a log entry is limited', () => {
  const longText = 'x'.repeat(10_000);
  log.info(longText, longText, ...Array.from({ length: 20 }, (_, i) => i));
  const logEntry = logEntries.pop();
  assert.deepEqual([logEntry?.message.length, logEntry?.data.length], [4096, 10]);
  assert.equal(String(logEntry?.data[0]).length, 4096);
  assert.match(String(logEntry?.data[0]), /x…$/);

  let deepValue: unknown = 1;
  for (let i = 0; i < 50; i++) deepValue = [deepValue];
  assert.match(JSON.stringify(logAndConvert(deepValue)), /^\[{12}"\[more\]"\]{12}$/);

  const loggedLength = (value: unknown) => JSON.stringify(logAndConvert(value)).length;
  const manyNumbers = Array.from({ length: 5000 }, (_, i) => i);
  assert.deepEqual([logAndConvert(manyNumbers)].flat().slice(-2), [999, '[4000 more]']);
  assert.ok(loggedLength(Array.from({ length: 900 }, () => longText)) <= 64 * 1024);
  assert.ok(loggedLength(Array.from({ length: 900 }, () => manyNumbers)) <= 64 * 1024);
  assert.ok(loggedLength(Array.from({ length: 15 }, () => '\u0001'.repeat(4096))) <= 64 * 1024);

  // Logging a huge object must read only a limited number of its properties.
  let readCount = 0;
  const leafObject = {
    get a() {
      return ++readCount;
    },
  };
  const makeTree = (depth: number): unknown =>
    depth === 0 ? leafObject : Array.from({ length: 100 }, () => makeTree(depth - 1));
  log.info('', makeTree(3));
  assert.ok(readCount < 100_000, String(readCount));
});
