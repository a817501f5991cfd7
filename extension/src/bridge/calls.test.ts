import assert from 'node:assert/strict';
import test from 'node:test';
import { PartChars } from '../../../wire/wire.gen.ts';
import type { FromBridge, ToBridge } from '../port-message.ts';
import { makeDesk } from './calls.ts';
import type { Host } from './hosts.ts';

/** makeBench returns a desk with one live host; a test plays the host and the worker. */
function makeBench() {
  const posted: FromBridge[] = [];
  const toHost: unknown[][] = [];
  const port = { open: true };
  const desk = makeDesk((message) => {
    if (port.open) posted.push(message);
    return port.open;
  });
  const host: Host = { plugin: 'demo', hash: 'h', send: (text) => void toHost.push(JSON.parse(text)) };
  desk.fromHost(host, 'ready');
  posted.splice(0);
  const call = (id: string): Extract<ToBridge, { op: 'call' }> => ({
    op: 'call',
    id,
    plugin: 'demo',
    tool: 't',
    maxBytes: 9,
    args: '{"a":1}',
  });
  return { desk, host, posted, toHost, port, call };
}

test('a call goes to its host under a number, and its ending comes back under its id', () => {
  const { desk, host, posted, toHost, call } = makeBench();
  desk.fromWorker(call('call_x'));
  assert.deepEqual(toHost, [['call', 1, 't', 9, { a: 1 }, false]]);
  desk.fromHost(host, 'p 1 2 0 [{"progress":1},{"message":"a b"}]');
  desk.fromHost(host, 'r 1 {"text":"with spaces"}');
  assert.deepEqual(posted, [
    { op: 'progress', id: 'call_x', seq: 0, skipped: 0, reports: '[{"progress":1},{"message":"a b"}]' },
    { op: 'result', id: 'call_x', text: '{"text":"with spaces"}' },
  ]);
});

test('undefined and errors', () => {
  const { desk, host, posted, call } = makeBench();
  desk.fromWorker(call('a'));
  desk.fromWorker(call('b'));
  desk.fromHost(host, 'n 1');
  desk.fromHost(host, 'e 2 {"code":"tool_error","message":"no"}');
  assert.deepEqual(posted, [
    { op: 'result', id: 'a' },
    { op: 'error', id: 'b', error: '{"code":"tool_error","message":"no"}' },
  ]);
});

test('a plugin that is not live is an error, a second dispatch of the same call is ignored', () => {
  const { desk, posted, toHost, call } = makeBench();
  desk.fromWorker({ op: 'call', id: 'x', plugin: 'other', tool: 't', maxBytes: 9, args: '{}' });
  assert.match(JSON.stringify(posted), /"code\\":\\"navigated\\".*other is not live/);
  desk.fromWorker(call('y'));
  desk.fromWorker(call('y'));
  assert.equal(toHost.length, 1);
});

test('a host can not speak for a call of another host', () => {
  const { desk, posted, call } = makeBench();
  desk.fromWorker(call('x'));
  const other: Host = { plugin: 'other', hash: 'h', send: () => undefined };
  desk.fromHost(other, 'r 1 "forged"');
  desk.fromHost(other, 'p 1 1 0 [{}]');
  assert.deepEqual(posted, []);
});

test('each change of the live plugins is announced, with what keeps one from working', () => {
  const { desk, host, posted, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromHost({ plugin: 'bad', hash: 'h2', send: () => undefined }, 'broken it threw');
  assert.deepEqual(posted.at(-1), {
    op: 'live',
    plugins: [
      { name: 'demo', hash: 'h' },
      { name: 'bad', hash: 'h2', problem: 'it threw' },
    ],
    running: [{ id: 'x', plugin: 'demo' }],
  });
  assert.equal(desk.running, 1);
  desk.fromHost(host, 'r 1 1');
  assert.equal(desk.running, 0);
  assert.deepEqual(desk.greeting(), { ...posted.at(-2), running: [] });
});

test('a result is cut into parts that together are the text, no character split', () => {
  const { desk, host, posted, call } = makeBench();
  desk.fromWorker(call('x'));
  const text = `"${'a'.repeat(PartChars - 2)}😀${'b'.repeat(PartChars)}"`;
  desk.fromHost(host, `r 1 ${text}`);
  const parts = posted.filter((m) => m.op === 'part');
  assert.deepEqual(posted.at(-1), { op: 'result', id: 'x', parts: 3 });
  assert.deepEqual(
    parts.map((p) => p.seq),
    [0, 1, 2],
  );
  assert.equal(parts.map((p) => p.text).join(''), text);
  assert.equal(parts[0]?.text.length, PartChars - 1);
  assert.ok(parts.every((p) => !/[\ud800-\udbff]$/.test(p.text)));
});

test('what could not be sent is sent when a port is back, progress before endings', () => {
  const { desk, host, posted, port, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromWorker(call('y'));
  port.open = false;
  desk.fromHost(host, 'p 1 1 0 [{"progress":1}]');
  desk.fromHost(host, 'p 2 1 0 [{"progress":5}]');
  desk.fromHost(host, 'r 1 "done"');
  assert.deepEqual(posted, []);
  port.open = true;
  desk.connected();
  const plugins = [{ name: 'demo', hash: 'h' }];
  assert.deepEqual(desk.greeting(), { op: 'live', plugins, running: [{ id: 'y', plugin: 'demo' }] });
  assert.deepEqual(posted, [
    { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{"progress":1}]' },
    { op: 'result', id: 'x', text: '"done"' },
    { op: 'progress', id: 'y', seq: 0, skipped: 0, reports: '[{"progress":5}]' },
  ]);
});

test('an ending is kept until it is acknowledged', () => {
  const { desk, host, posted, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromHost(host, 'r 1 1');
  desk.connected();
  assert.equal(posted.filter((m) => m.op === 'result').length, 2);
  desk.fromWorker({ op: 'ack', ids: ['x'] });
  desk.connected();
  assert.equal(posted.filter((m) => m.op === 'result').length, 2);
});

test('cancel: aborted, finished, and ignored after 2 s', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { desk, host, posted, toHost, call } = makeBench();
  for (const id of ['a', 'b', 'c']) desk.fromWorker(call(id));
  desk.fromWorker({ op: 'cancel', id: 'a', reason: 'why' });
  assert.deepEqual(toHost.at(-1), ['cancel', 1, 'why']);
  desk.fromHost(host, 'a 1');
  desk.fromHost(host, 'r 2 1');
  desk.fromWorker({ op: 'cancel', id: 'b', reason: 'why' });
  desk.fromWorker({ op: 'cancel', id: 'unknown', reason: 'why' });
  desk.fromWorker({ op: 'cancel', id: 'c', reason: 'why' });
  t.mock.timers.tick(1999);
  assert.deepEqual(
    posted.filter((m) => m.op === 'cancelled').map((m) => [m.id, m.outcome]),
    [
      ['a', 'aborted'],
      ['b', 'finished'],
      ['unknown', 'finished'],
    ],
  );
  t.mock.timers.tick(1);
  assert.deepEqual(posted.at(-1), { op: 'cancelled', id: 'c', outcome: 'ignored' });
  // Nothing of it is left: a late ending is nobody's.
  const before = posted.length;
  desk.fromHost(host, 'r 3 1');
  desk.connected();
  assert.equal(posted.length, before);
});

test('of too much progress the newest is kept, and what the page skipped; seq tells how many are missing', () => {
  const { desk, host, posted, port, call } = makeBench();
  desk.fromWorker(call('x'));
  port.open = false;
  const long = 'm'.repeat(100_000);
  for (let i = 0; i < 5; i++) desk.fromHost(host, `p 1 10 1 [{"message":"${i}${long}"}]`);
  port.open = true;
  desk.connected();
  const kept = posted.filter((m) => m.op === 'progress');
  assert.deepEqual(
    kept.map((m) => [m.reports.slice(13, 15), m.seq, m.skipped]),
    [
      ['3m', 30, 4],
      ['4m', 40, 1],
    ],
  );
});

test('an orphan cancels what runs', () => {
  const { desk, host, toHost, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromWorker(call('y'));
  desk.fromHost(host, 'r 1 1');
  desk.abandon('the extension is gone');
  assert.deepEqual(toHost.slice(2), [['cancel', 2, 'the extension is gone']]);
});

test('when its document is left, the desk tells which calls have begun, also those whose ending may be lost with it', () => {
  const { desk, host, posted, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromWorker(call('y'));
  desk.fromHost(host, 'r 1 1');
  posted.splice(0);
  desk.leaving();
  assert.deepEqual(posted, [{ op: 'leaving', begun: ['x', 'y'] }]);
});

const asked = (ask: number, body: string, id = 'x') => ({ op: 'ask', id, ask, body });

test('a prompt and a decision reach the host', () => {
  const { desk, toHost, call } = makeBench();
  desk.fromWorker({ ...call('x'), prompt: true, decision: '{"ok":1}' });
  desk.fromWorker({ ...call('y'), decision: 'null' });
  assert.deepEqual(toHost, [
    ['call', 1, 't', 9, { a: 1 }, true, { ok: 1 }],
    ['call', 2, 't', 9, { a: 1 }, false, null],
  ]);
});

test('an ask goes to the worker, and its answer to the host once, confirmed each time', () => {
  const { desk, host, posted, toHost, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromHost(host, 'q 1 1 {"call":{"tool":"a b","args":{}}}');
  desk.fromHost(host, 'q 1 2 {"user":{"reason":"r"}}');
  desk.fromHost(host, 'q 1 3 {"user":{"reason":"r"}}');
  assert.deepEqual(posted.splice(0), [
    asked(1, '{"call":{"tool":"a b","args":{}}}'),
    asked(2, '{"user":{"reason":"r"}}'),
    asked(3, '{"user":{"reason":"r"}}'),
  ]);
  toHost.splice(0);
  desk.fromWorker({ op: 'answer', id: 'x', ask: 2, error: '{"code":"denied"}' });
  desk.fromWorker({ op: 'answer', id: 'x', ask: 1, output: '{"n":1}' });
  desk.fromWorker({ op: 'answer', id: 'x', ask: 1, output: '{"n":2}' });
  desk.fromWorker({ op: 'answer', id: 'x', ask: 3 });
  desk.fromWorker({ op: 'answer', id: 'x', ask: 9, output: '1' });
  desk.fromWorker({ op: 'answer', id: 'nobody', ask: 1, output: '1' });
  assert.deepEqual(toHost, [
    ['answer', 1, 2, false, { code: 'denied' }],
    ['answer', 1, 1, true, { n: 1 }],
    ['answer', 1, 3, true],
  ]);
  assert.deepEqual(
    posted.map((m) => (m.op === 'answered' ? [m.id, m.ask, m.taken] : m)),
    [
      ['x', 2, true],
      ['x', 1, true],
      ['x', 1, true],
      ['x', 3, true],
      ['x', 9, false],
      ['nobody', 1, false],
    ],
  );
  desk.fromHost(host, 'r 1 1');
  posted.splice(0);
  desk.fromWorker({ op: 'answer', id: 'x', ask: 1, output: '{"n":1}' });
  assert.deepEqual(posted, [{ op: 'answered', id: 'x', ask: 1, taken: false }]);
});

test('what is open or was withdrawn is told again on a new port, until the call ends', () => {
  const { desk, host, posted, port, toHost, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromHost(host, 'q 1 1 {"user":{"reason":"one"}}');
  desk.fromHost(host, 'q 1 2 {"user":{"reason":"two"}}');
  desk.fromWorker({ op: 'answer', id: 'x', ask: 1 });
  port.open = false;
  desk.fromHost(host, 'q 1 2 {"withdrawn":true}');
  desk.fromHost(host, 'q 1 3 {"user":{"reason":"three"}}');
  port.open = true;
  posted.splice(0);
  desk.connected();
  assert.deepEqual(posted.splice(0), [asked(2, '{"withdrawn":true}'), asked(3, '{"user":{"reason":"three"}}')]);
  toHost.splice(0);
  desk.fromWorker({ op: 'answer', id: 'x', ask: 2 });
  assert.deepEqual(posted.splice(0), [{ op: 'answered', id: 'x', ask: 2, taken: false }]);
  desk.fromHost(host, 'r 1 1');
  desk.fromWorker({ op: 'answer', id: 'x', ask: 3 });
  assert.deepEqual(posted.splice(0).slice(1), [{ op: 'answered', id: 'x', ask: 3, taken: false }]);
  desk.connected();
  assert.deepEqual(
    posted.map((m) => m.op),
    ['result'],
  );
  assert.deepEqual(toHost, []);
});

test('a resync reaches the host of a call that runs', () => {
  const { desk, host, toHost, call } = makeBench();
  desk.fromWorker(call('x'));
  toHost.splice(0);
  desk.fromWorker({ op: 'resync', id: 'x', type: 'table' });
  desk.fromWorker({ op: 'resync', id: 'nobody', type: 'table' });
  desk.fromHost(host, 'r 1 1');
  desk.fromWorker({ op: 'resync', id: 'x', type: 'table' });
  assert.deepEqual(toHost, [['resync', 1, 'table']]);
});

test('a host can not ask for a call of another host', () => {
  const { desk, posted, call } = makeBench();
  desk.fromWorker(call('x'));
  desk.fromHost({ plugin: 'other', hash: 'h', send: () => undefined }, 'q 1 1 {"user":{"reason":"forged"}}');
  assert.deepEqual(posted, []);
});

test('a call that was on its way for too long does not begin: the worker has given it up', () => {
  const { desk, posted } = makeBench();
  desk.fromWorker({ op: 'call', id: 'late', plugin: 'p', tool: 't', maxBytes: 9, args: '{}', atMs: Date.now() - 4500 });
  assert.match(JSON.stringify(posted), /"id":"late".*page_unresponsive.*notStarted/);
});
