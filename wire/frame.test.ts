import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  callErrorFrame,
  errorFrame,
  notification,
  parseFrame,
  type RequestFrame,
  rawProgressFrame,
  rawResultFrame,
  readAs,
  readResult,
  request,
  resultFrame,
} from './frame.ts';
import {
  CodeCallFailed,
  CodeInvalidParams,
  CodeMethodNotFound,
  type RequestMethod,
  type Requests,
} from './wire.gen.ts';

interface Case {
  readonly frame: string;
  readonly why?: string;
  readonly kind?: string;
}

function cases(name: string): readonly Case[] {
  const list: readonly Case[] = JSON.parse(readFileSync(new URL(`testdata/${name}`, import.meta.url), 'utf8'));
  assert.ok(list.length > 0, `${name} is empty`);
  return list;
}

test('parseFrame refuses what the Go side refuses, without a reply', () => {
  for (const { frame, why = 'missing' } of cases('refused.json')) {
    const got = parseFrame(frame);
    assert.equal(got.kind, 'invalid', frame);
    if (got.kind !== 'invalid') continue;
    assert.match(got.problem, /^not a frame/, frame);
    assert.ok(got.problem.includes(why), `${frame}: ${got.problem}`);
    assert.equal(got.reply, undefined, frame);
  }
});

test('parseFrame accepts what the Go side accepts', () => {
  for (const { frame, kind } of cases('accepted.json')) assert.equal(parseFrame(frame).kind, kind, frame);
});

const dispatch = {
  dispatchId: 'c1',
  plugin: 'p',
  tool: 't',
  tabId: 1,
  documentId: 'd',
  maxResultBytes: 10,
  args: {},
};

function ask(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 's1', method, params });
}

test('an unknown request is answered with -32601', () => {
  for (const method of ['tool.nope', 'tool.progress', 'toString', '__proto__', 'constructor', 'x'.repeat(5000)]) {
    const got = parseFrame(ask(method, {}));
    assert.ok(got.kind === 'invalid' && got.reply !== undefined, method);
    const reply = parseFrame(got.reply);
    assert.ok(reply.kind === 'error' && reply.id === 's1' && reply.error.code === CodeMethodNotFound, method);
    assert.ok(got.problem.length < 200, 'the name is cut');
  }
});

test('an unknown notification has no reply, and neither has a request without its id', () => {
  for (const method of ['tool.nope', 'ping', 'hello', '__proto__']) {
    const got = parseFrame(JSON.stringify({ jsonrpc: '2.0', method, params: {} }));
    assert.ok(got.kind === 'invalid' && got.reply === undefined, method);
  }
});

test('bad params are answered with -32602 and the name of the field', () => {
  const bad: readonly (readonly [string, unknown, string])[] = [
    ['tool.dispatch', 'no', 'params: want an object, got string'],
    ['tool.dispatch', [], 'params: want an object, got an array'],
    ['tool.dispatch', {}, 'params.dispatchId: missing'],
    ['tool.dispatch', { ...dispatch, dispatchId: 5 }, 'params.dispatchId: want a string, got number'],
    ['tool.dispatch', { ...dispatch, tabId: 1.5 }, 'params.tabId: want an integer, got number'],
    ['tool.dispatch', { ...dispatch, tabId: 2 ** 53 }, 'params.tabId: want an integer, got number'],
    ['tool.dispatch', { ...dispatch, tabId: null }, 'params.tabId: want an integer, got null'],
    ['tool.dispatch', { ...dispatch, args: undefined }, 'params.args: missing'],
    ['tool.cancel', { dispatchId: 'c1' }, 'params.reason: missing'],
    ['plugin.sync', { plugins: {} }, 'params.plugins: want an array, got object'],
    ['plugin.sync', { plugins: [null] }, 'params.plugins[0]: want an object, got null'],
    [
      'plugin.sync',
      { plugins: [{ name: 'p', displayName: 'P', hash: 'h', world: 'moon' }] },
      'params.plugins[0].world: want one of main, isolated, got "moon"',
    ],
    [
      'plugin.sync',
      { plugins: [{ name: 'p', displayName: 'P', hash: 'h', world: 'main', matches: ['a', 1] }] },
      'params.plugins[0].matches[1]: want a string, got number',
    ],
  ];
  for (const [method, params, want] of bad) {
    const got = parseFrame(ask(method, params));
    assert.ok(got.kind === 'invalid' && got.reply !== undefined, want);
    assert.equal(got.problem, `${method}: ${want}`);
    assert.deepEqual(parseFrame(got.reply), {
      kind: 'error',
      id: 's1',
      error: { code: CodeInvalidParams, message: want },
    });
  }
});

test('bad params of a notification have no reply', () => {
  const got = parseFrame(JSON.stringify({ jsonrpc: '2.0', method: 'state.sync', params: { running: 'two' } }));
  assert.deepEqual(got, { kind: 'invalid', problem: 'state.sync: params.serverVersion: missing' });
});

test('a key from a prototype is no field', () => {
  const got = parseFrame(`{"jsonrpc":"2.0","id":"s1","method":"tool.cancel","params":{"__proto__":${ask('x', {})}}}`);
  assert.ok(got.kind === 'invalid' && got.problem.includes('dispatchId: missing'));
});

test('an error keeps its code and message when its data is not known', () => {
  const text =
    '{"jsonrpc":"2.0","id":"s1","error":{"code":-32000,"message":"m","data":{"code":"later","message":"m"}}}';
  assert.deepEqual(parseFrame(text), { kind: 'error', id: 's1', error: { code: -32000, message: 'm' } });
});

test('readResult checks by the method that was asked', () => {
  assert.deepEqual(readResult('hello', { protocol: 1, serverVersion: '0.1.0' }), {
    ok: true,
    value: { protocol: 1, serverVersion: '0.1.0' },
  });
  assert.deepEqual(readResult('hello', { protocol: 1 }), { ok: false, problem: 'result.serverVersion: missing' });
  assert.deepEqual(readResult('tool.cancel', { outcome: 'maybe' }), {
    ok: false,
    problem: 'result.outcome: want one of aborted, finished, ignored, got "maybe"',
  });
  assert.deepEqual(readResult('ping', null), { ok: false, problem: 'result: want an object, got null' });
});

test('readAs checks one body', () => {
  assert.ok(readAs('Report', { progress: 1, later: true }).ok);
  assert.deepEqual(readAs('Report', { progress: '1' }), {
    ok: false,
    problem: 'Report.progress: want a number, got string',
  });
});

test('rawResultFrame carries the text as it is', () => {
  const text = '{ "n":9007199254740993, "f":1.10 }';
  assert.equal(rawResultFrame('a"b', text), `{"jsonrpc":"2.0","id":"a\\"b","result":{"output":${text}}}`);
  assert.equal(rawResultFrame('c1', 'null'), resultFrame('c1', 'tool.dispatch', { output: null }));
  assert.equal(rawResultFrame('c1', undefined), resultFrame('c1', 'tool.dispatch', {}));
});

test('rawProgressFrame is the notification with the reports as they are', () => {
  const reports = [{ progress: 1, message: '"' }, {}];
  assert.equal(
    rawProgressFrame('c1', 7, JSON.stringify(reports), 3),
    notification('tool.progress', { dispatchId: 'c1', seq: 7, reports, skipped: 3 }),
  );
  assert.equal(
    rawProgressFrame('c1', 0, '[]', 0),
    notification('tool.progress', { dispatchId: 'c1', seq: 0, reports: [] }),
  );
});

test('errorFrame and callErrorFrame', () => {
  assert.equal(
    errorFrame('s1', { code: CodeMethodNotFound, message: 'm' }),
    '{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"m"}}',
  );
  assert.deepEqual(parseFrame(callErrorFrame('s1', { code: 'navigated', message: 'the document is gone' })), {
    kind: 'error',
    id: 's1',
    error: {
      code: CodeCallFailed,
      message: 'the document is gone',
      data: { code: 'navigated', message: 'the document is gone' },
    },
  });
});

test('a table of handlers takes every request with its own types', async () => {
  const handlers: { readonly [M in RequestMethod]: (params: Requests[M]['params']) => string } = {
    hello: (params) => params.browserId,
    ping: () => 'pong',
    'tool.dispatch': (params) => params.tool,
    'tool.cancel': (params) => params.reason,
    'call.cancel': (params) => params.callId,
    'plugin.sync': (params) => `${params.plugins?.length ?? 0}`,
    'plugin.code': (params) => params.hash,
    'plugin.fetch': (params) => params.script,
    'tab.load': (params) => `${params.tabId}`,
    'tool.answer': (params) => `${params.ask}`,
    'call.decide': (params) => params.ticketId,
    'config.permission': (params) => params.plugin,
    'config.review': (params) => params.hash,
    'config.settings': (params) => params.plugin,
    'config.opening': (params) => params.plugin,
    'config.calls': (params) => params.other,
    'config.lateAccess': (params) => params.plugin,
    'plugin.settings': (params) => params.name,
    'tab.open': (params) => params.url,
  };
  const run = <M extends RequestMethod>(frame: RequestFrame<M>): string => handlers[frame.method](frame.params);
  const frame = parseFrame(request('s1', 'tool.dispatch', dispatch));
  assert.ok(frame.kind === 'request');
  assert.equal(run(frame), 't');
});
