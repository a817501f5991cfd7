import assert from 'node:assert/strict';
import test from 'node:test';
import { MaxPartChars } from '../../../wire/wire.gen.ts';
import type { BridgeToWorkerMessage, WorkerToBridgeMessage } from '../port-message.ts';
import { BridgeCalls } from './calls.ts';
import type { Host } from './hosts.ts';

function makeFixture() {
  const postedMessages: BridgeToWorkerMessage[] = [];
  const messagesToHost: unknown[][] = [];
  const port = { open: true };
  const calls = new BridgeCalls((postedMessage) => {
    if (port.open) postedMessages.push(postedMessage);
    return port.open;
  });
  const host: Host = {
    plugin: 'demo',
    hash: 'h',
    sendText: (hostMessageText) => void messagesToHost.push(JSON.parse(hostMessageText)),
  };
  calls.receiveFromHost(host, 'ready');
  postedMessages.splice(0);
  const call = (id: string): Extract<WorkerToBridgeMessage, { op: 'call' }> => ({
    op: 'call',
    id,
    plugin: 'demo',
    tool: 't',
    maxBytes: 9,
    args: '{"a":1}',
  });
  return { calls, host, postedMessages, toHost: messagesToHost, port, call };
}

test('messages to a host identify a call by number, and messages to the worker by ID', () => {
  const { calls, host, postedMessages, toHost, call } = makeFixture();
  calls.receiveFromWorker(call('call_x'));
  assert.deepEqual(toHost, [['call', 1, 't', 9, { a: 1 }, false]]);
  calls.receiveFromHost(host, 'p 1 2 0 [{"progress":1},{"message":"a b"}]');
  calls.receiveFromHost(host, 'r 1 {"text":"with spaces"}');
  assert.deepEqual(postedMessages, [
    { op: 'progress', id: 'call_x', seq: 0, skipped: 0, reports: '[{"progress":1},{"message":"a b"}]' },
    { op: 'result', id: 'call_x', text: '{"text":"with spaces"}' },
  ]);
});

test('the result of a traced call contains the times of its steps in the page, and other results do not', (t) => {
  let nowMs = 1000;
  t.mock.method(performance, 'now', () => nowMs);
  const { calls, host, postedMessages, toHost, call } = makeFixture();
  calls.receiveFromWorker({ ...call('a'), trace: true }, 999.5);
  calls.receiveFromWorker({ ...call('b'), trace: true }, 999.5);
  calls.receiveFromWorker(call('c'), 999.5);
  assert.deepEqual(
    toHost.map(([op]) => op),
    ['traced', 'traced', 'call'],
  );
  nowMs = 1010;
  calls.receiveFromHost(host, 't 1 1001 1001.25 1009.9');
  calls.receiveFromHost(host, 'r 1 7');
  calls.receiveFromHost(host, 'n 2');
  calls.receiveFromHost(host, 't 3 1001 1002 1003');
  calls.receiveFromHost(host, 'r 3 7');
  const pageStepDurations = { bridgeInUs: 500, hostInUs: 1000, schemaUs: 250, handlerUs: 8650, resultUs: 100 };
  assert.deepEqual(postedMessages, [
    { op: 'result', id: 'a', text: '7', hops: pageStepDurations },
    { op: 'result', id: 'b' },
    { op: 'result', id: 'c', text: '7' },
  ]);
});

test('the error of a traced call contains step times, which are 0 for steps that the call did not reach', (t) => {
  let nowMs = 1000;
  t.mock.method(performance, 'now', () => nowMs);
  const { calls, host, postedMessages, call } = makeFixture();
  for (const id of ['thrown', 'invalid', 'notReady', 'untimed'])
    calls.receiveFromWorker({ ...call(id), trace: true }, 999.5);
  nowMs = 1010;
  for (const times of ['1 1001 1001.25 1009.9', '2 1001 1009.9', '3 1009.9']) calls.receiveFromHost(host, `t ${times}`);
  for (const callNumber of [1, 2, 3, 4]) calls.receiveFromHost(host, `e ${callNumber} {}`);
  const hopDurations = { bridgeInUs: 500, resultUs: 100 };
  assert.deepEqual(postedMessages, [
    {
      op: 'error',
      id: 'thrown',
      error: '{}',
      hops: { ...hopDurations, hostInUs: 1000, schemaUs: 250, handlerUs: 8650 },
    },
    {
      op: 'error',
      id: 'invalid',
      error: '{}',
      hops: { ...hopDurations, hostInUs: 1000, schemaUs: 8900, handlerUs: 0 },
    },
    { op: 'error', id: 'notReady', error: '{}', hops: { ...hopDurations, hostInUs: 9900, schemaUs: 0, handlerUs: 0 } },
    { op: 'error', id: 'untimed', error: '{}' },
  ]);
});

test('a call ends with an empty result if its tool returns undefined, and with an error if the tool fails', () => {
  const { calls, host, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('a'));
  calls.receiveFromWorker(call('b'));
  calls.receiveFromHost(host, 'n 1');
  calls.receiveFromHost(host, 'e 2 {"code":"tool_error","message":"no"}');
  assert.deepEqual(postedMessages, [
    { op: 'result', id: 'a' },
    { op: 'error', id: 'b', error: '{"code":"tool_error","message":"no"}' },
  ]);
});

test('a call fails if its plugin has no live adapter, and a repeated start message is ignored', () => {
  const { calls, postedMessages, toHost, call } = makeFixture();
  calls.receiveFromWorker({ op: 'call', id: 'x', plugin: 'other', tool: 't', maxBytes: 9, args: '{}' });
  assert.match(JSON.stringify(postedMessages), /"code\\":\\"navigated\\".*other is not live/);
  calls.receiveFromWorker(call('y'));
  calls.receiveFromWorker(call('y'));
  assert.equal(toHost.length, 1);
});

test('a host cannot end a call of another host', () => {
  const { calls, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  const otherHost: Host = { plugin: 'other', hash: 'h', sendText: () => undefined };
  calls.receiveFromHost(otherHost, 'r 1 "forged"');
  calls.receiveFromHost(otherHost, 'p 1 1 0 [{}]');
  assert.deepEqual(postedMessages, []);
});

test('the bridge reports each change of the live plugins, with the reason why a plugin failed', () => {
  const { calls, host, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromHost({ plugin: 'bad', hash: 'h2', sendText: () => undefined }, 'broken it threw');
  assert.deepEqual(postedMessages.at(-1), {
    op: 'documentState',
    plugins: [
      { name: 'demo', hash: 'h' },
      { name: 'bad', hash: 'h2', problem: 'it threw' },
    ],
    running: [{ id: 'x', plugin: 'demo' }],
  });
  assert.equal(calls.runningCount, 1);
  calls.receiveFromHost(host, 'r 1 1');
  assert.equal(calls.runningCount, 0);
  assert.deepEqual(calls.makeGreeting(), { ...postedMessages.at(-2), running: [] });
});

test('a large result is sent in parts, and no part ends in the middle of a character', () => {
  const { calls, host, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  const hostMessageText = `"${'a'.repeat(MaxPartChars - 2)}😀${'b'.repeat(MaxPartChars)}"`;
  calls.receiveFromHost(host, `r 1 ${hostMessageText}`);
  const partMessages = postedMessages.filter((postedMessage) => postedMessage.op === 'part');
  assert.deepEqual(postedMessages.at(-1), { op: 'result', id: 'x', parts: 3 });
  assert.deepEqual(
    partMessages.map((partMessage) => partMessage.seq),
    [0, 1, 2],
  );
  assert.equal(partMessages.map((partMessage) => partMessage.text).join(''), hostMessageText);
  assert.equal(partMessages[0]?.text.length, MaxPartChars - 1);
  assert.ok(partMessages.every((partMessage) => !/[\ud800-\udbff]$/.test(partMessage.text)));
});

test('a new port gets the unsent messages, with progress messages before call endings', () => {
  const { calls, host, postedMessages, port, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromWorker(call('y'));
  port.open = false;
  calls.receiveFromHost(host, 'p 1 1 0 [{"progress":1}]');
  calls.receiveFromHost(host, 'p 2 1 0 [{"progress":5}]');
  calls.receiveFromHost(host, 'r 1 "done"');
  assert.deepEqual(postedMessages, []);
  port.open = true;
  calls.connected();
  const plugins = [{ name: 'demo', hash: 'h' }];
  assert.deepEqual(calls.makeGreeting(), { op: 'documentState', plugins, running: [{ id: 'y', plugin: 'demo' }] });
  assert.deepEqual(postedMessages, [
    { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{"progress":1}]' },
    { op: 'result', id: 'x', text: '"done"' },
    { op: 'progress', id: 'y', seq: 0, skipped: 0, reports: '[{"progress":5}]' },
  ]);
});

test('an ending is stored until it is acknowledged', () => {
  const { calls, host, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromHost(host, 'r 1 1');
  calls.connected();
  assert.equal(postedMessages.filter((postedMessage) => postedMessage.op === 'result').length, 2);
  calls.receiveFromWorker({ op: 'confirmEndings', ids: ['x'] });
  calls.connected();
  assert.equal(postedMessages.filter((postedMessage) => postedMessage.op === 'result').length, 2);
});

test('the outcome of a cancellation is aborted, finished, or after 2 s ignored', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { calls, host, postedMessages, toHost, call } = makeFixture();
  for (const id of ['a', 'b', 'c']) calls.receiveFromWorker(call(id));
  calls.receiveFromWorker({ op: 'cancel', id: 'a', reason: 'why' });
  assert.deepEqual(toHost.at(-1), ['cancel', 1, 'why']);
  calls.receiveFromHost(host, 'a 1');
  calls.receiveFromHost(host, 'r 2 1');
  calls.receiveFromWorker({ op: 'cancel', id: 'b', reason: 'why' });
  calls.receiveFromWorker({ op: 'cancel', id: 'unknown', reason: 'why' });
  calls.receiveFromWorker({ op: 'cancel', id: 'c', reason: 'why' });
  t.mock.timers.tick(1999);
  assert.deepEqual(
    postedMessages
      .filter((postedMessage) => postedMessage.op === 'cancelled')
      .map((postedMessage) => [postedMessage.id, postedMessage.outcome]),
    [
      ['a', 'aborted'],
      ['b', 'finished'],
      ['unknown', 'finished'],
    ],
  );
  t.mock.timers.tick(1);
  assert.deepEqual(postedMessages.at(-1), { op: 'cancelled', id: 'c', outcome: 'ignored' });
  // The bridge forgets an ended call, so a late ending of the call is ignored.
  const messageCountBefore = postedMessages.length;
  calls.receiveFromHost(host, 'r 3 1');
  calls.connected();
  assert.equal(postedMessages.length, messageCountBefore);
});

test('waiting progress reports are limited, and seq reveals how many reports were dropped', () => {
  const { calls, host, postedMessages, port, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  port.open = false;
  const longMessage = 'm'.repeat(100_000);
  for (let i = 0; i < 5; i++) calls.receiveFromHost(host, `p 1 10 1 [{"message":"${i}${longMessage}"}]`);
  port.open = true;
  calls.connected();
  const progressMessages = postedMessages.filter((postedMessage) => postedMessage.op === 'progress');
  assert.deepEqual(
    progressMessages.map((postedMessage) => [
      postedMessage.reports.slice(13, 15),
      postedMessage.seq,
      postedMessage.skipped,
    ]),
    [
      ['3m', 30, 4],
      ['4m', 40, 1],
    ],
  );
});

test('when the extension is gone, a document cancels its running calls', () => {
  const { calls, host, toHost, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromWorker(call('y'));
  calls.receiveFromHost(host, 'r 1 1');
  calls.cancelAll('the extension is gone');
  assert.deepEqual(toHost.slice(2), [['cancel', 2, 'the extension is gone']]);
});

test('the message leaving lists all started calls, including ended calls without an acknowledgment', () => {
  const { calls, host, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromWorker(call('y'));
  calls.receiveFromHost(host, 'r 1 1');
  postedMessages.splice(0);
  calls.reportStartedCalls();
  assert.deepEqual(postedMessages, [{ op: 'leaving', begunCalls: ['x', 'y'] }]);
});

const makeToolRequest = (ask: number, body: string, id = 'x') => ({ op: 'toolRequest', id, ask, body });

test('the prompt flag and the user decision of a call reach the host', () => {
  const { calls, toHost, call } = makeFixture();
  calls.receiveFromWorker({ ...call('x'), prompt: true, decision: '{"ok":1}' });
  calls.receiveFromWorker({ ...call('y'), decision: 'null' });
  assert.deepEqual(toHost, [
    ['call', 1, 't', 9, { a: 1 }, true, { ok: 1 }],
    ['call', 2, 't', 9, { a: 1 }, false, null],
  ]);
});

test('the host gets the answer to a tool request once, and each copy of the answer is confirmed', () => {
  const { calls, host, postedMessages, toHost, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromHost(host, 'q 1 1 {"call":{"tool":"a b","args":{}}}');
  calls.receiveFromHost(host, 'q 1 2 {"user":{"reason":"r"}}');
  calls.receiveFromHost(host, 'q 1 3 {"user":{"reason":"r"}}');
  assert.deepEqual(postedMessages.splice(0), [
    makeToolRequest(1, '{"call":{"tool":"a b","args":{}}}'),
    makeToolRequest(2, '{"user":{"reason":"r"}}'),
    makeToolRequest(3, '{"user":{"reason":"r"}}'),
  ]);
  toHost.splice(0);
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 2, error: '{"code":"denied"}' });
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 1, output: '{"n":1}' });
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 1, output: '{"n":2}' });
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 3 });
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 9, output: '1' });
  calls.receiveFromWorker({ op: 'answer', id: 'unknown', ask: 1, output: '1' });
  assert.deepEqual(toHost, [
    ['answer', 1, 2, false, { code: 'denied' }],
    ['answer', 1, 1, true, { n: 1 }],
    ['answer', 1, 3, true],
  ]);
  assert.deepEqual(
    postedMessages.map((postedMessage) =>
      postedMessage.op === 'answerReceived'
        ? [postedMessage.id, postedMessage.ask, postedMessage.taken]
        : postedMessage,
    ),
    [
      ['x', 2, true],
      ['x', 1, true],
      ['x', 1, true],
      ['x', 3, true],
      ['x', 9, false],
      ['unknown', 1, false],
    ],
  );
  calls.receiveFromHost(host, 'r 1 1');
  postedMessages.splice(0);
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 1, output: '{"n":1}' });
  assert.deepEqual(postedMessages, [{ op: 'answerReceived', id: 'x', ask: 1, taken: false }]);
});

test('a new port gets the unanswered and withdrawn tool requests of a call until the call ends', () => {
  const { calls, host, postedMessages, port, toHost, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromHost(host, 'q 1 1 {"user":{"reason":"one"}}');
  calls.receiveFromHost(host, 'q 1 2 {"user":{"reason":"two"}}');
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 1 });
  port.open = false;
  calls.receiveFromHost(host, 'q 1 2 {"withdrawn":true}');
  calls.receiveFromHost(host, 'q 1 3 {"user":{"reason":"three"}}');
  port.open = true;
  postedMessages.splice(0);
  calls.connected();
  assert.deepEqual(postedMessages.splice(0), [
    makeToolRequest(2, '{"withdrawn":true}'),
    makeToolRequest(3, '{"user":{"reason":"three"}}'),
  ]);
  toHost.splice(0);
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 2 });
  assert.deepEqual(postedMessages.splice(0), [{ op: 'answerReceived', id: 'x', ask: 2, taken: false }]);
  calls.receiveFromHost(host, 'r 1 1');
  calls.receiveFromWorker({ op: 'answer', id: 'x', ask: 3 });
  assert.deepEqual(postedMessages.splice(0).slice(1), [{ op: 'answerReceived', id: 'x', ask: 3, taken: false }]);
  calls.connected();
  assert.deepEqual(
    postedMessages.map((postedMessage) => postedMessage.op),
    ['result'],
  );
  assert.deepEqual(toHost, []);
});

test('a resync request reaches the host of a running call', () => {
  const { calls, host, toHost, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  toHost.splice(0);
  calls.receiveFromWorker({ op: 'resync', id: 'x', type: 'table' });
  calls.receiveFromWorker({ op: 'resync', id: 'unknown', type: 'table' });
  calls.receiveFromHost(host, 'r 1 1');
  calls.receiveFromWorker({ op: 'resync', id: 'x', type: 'table' });
  assert.deepEqual(toHost, [['resync', 1, 'table']]);
});

test('a host cannot send a tool request for a call of another host', () => {
  const { calls, postedMessages, call } = makeFixture();
  calls.receiveFromWorker(call('x'));
  calls.receiveFromHost(
    { plugin: 'other', hash: 'h', sendText: () => undefined },
    'q 1 1 {"user":{"reason":"forged"}}',
  );
  assert.deepEqual(postedMessages, []);
});

test('a call that reaches the bridge too late does not start', () => {
  const { calls, postedMessages } = makeFixture();
  calls.receiveFromWorker({
    op: 'call',
    id: 'late',
    plugin: 'p',
    tool: 't',
    maxBytes: 9,
    args: '{}',
    atMs: Date.now() - 4500,
  });
  assert.match(JSON.stringify(postedMessages), /"id":"late".*page_unresponsive.*notStarted/);
});
