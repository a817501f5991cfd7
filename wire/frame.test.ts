import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  checkResult,
  checkType,
  encodeCallError,
  encodeError,
  encodeNotification,
  encodeRawAsk,
  encodeRawProgress,
  encodeRawResult,
  encodeRequest,
  encodeResult,
  parseFrame,
  type RequestFrame,
} from './frame.ts';
import {
  CodeCallFailed,
  CodeInvalidParams,
  CodeMethodNotFound,
  type RequestMethod,
  type Requests,
} from './wire.gen.ts';

interface FrameCase {
  readonly frame: string;
  readonly why?: string;
  readonly kind?: string;
}

function readFrameCases(name: string): readonly FrameCase[] {
  const list: readonly FrameCase[] = JSON.parse(readFileSync(new URL(`testdata/${name}`, import.meta.url), 'utf8'));
  assert.ok(list.length > 0, `${name} is empty`);
  return list;
}

test('parseFrame rejects the frames in refused.json, as the Go parser does, and returns no reply', () => {
  for (const { frame, why: reason = 'missing' } of readFrameCases('refused.json')) {
    const parsedFrame = parseFrame(frame);
    assert.equal(parsedFrame.kind, 'invalid', frame);
    if (parsedFrame.kind !== 'invalid') continue;
    assert.match(parsedFrame.formatProblem, /^not a frame/, frame);
    assert.ok(parsedFrame.formatProblem.includes(reason), `${frame}: ${parsedFrame.formatProblem}`);
    assert.equal(parsedFrame.reply, undefined, frame);
  }
});

test('parseFrame accepts the frames in accepted.json, as the Go parser does', () => {
  for (const { frame, kind } of readFrameCases('accepted.json')) assert.equal(parseFrame(frame).kind, kind, frame);
});

const dispatchParams = {
  dispatchId: 'c1',
  plugin: 'p',
  tool: 't',
  tabId: 1,
  documentId: 'd',
  maxResultBytes: 10,
  args: {},
};

function makeRequestText(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 's1', method, params });
}

test('an unknown request gets an answer with code -32601', () => {
  for (const method of ['tool.nope', 'tool.progress', 'toString', '__proto__', 'constructor', 'x'.repeat(5000)]) {
    const parsedFrame = parseFrame(makeRequestText(method, {}));
    assert.ok(parsedFrame.kind === 'invalid' && parsedFrame.reply !== undefined, method);
    const reply = parseFrame(parsedFrame.reply);
    assert.ok(reply.kind === 'error' && reply.id === 's1' && reply.error.code === CodeMethodNotFound, method);
    assert.ok(parsedFrame.formatProblem.length < 200, 'the problem must not contain the whole method name');
  }
});

test('a notification of an unknown method, or of a method for requests, gets no answer', () => {
  for (const method of ['tool.nope', 'ping', 'hello', '__proto__']) {
    const parsedFrame = parseFrame(JSON.stringify({ jsonrpc: '2.0', method, params: {} }));
    assert.ok(parsedFrame.kind === 'invalid' && parsedFrame.reply === undefined, method);
  }
});

test('a request with malformed params gets an answer with code -32602 and the name of the field', () => {
  const malformedRequests: readonly (readonly [string, unknown, string])[] = [
    ['tool.dispatch', 'no', 'params: must be an object, got string'],
    ['tool.dispatch', [], 'params: must be an object, got an array'],
    ['tool.dispatch', {}, 'params.dispatchId: missing'],
    ['tool.dispatch', { ...dispatchParams, dispatchId: 5 }, 'params.dispatchId: must be a string, got number'],
    ['tool.dispatch', { ...dispatchParams, tabId: 1.5 }, 'params.tabId: must be an integer, got number'],
    ['tool.dispatch', { ...dispatchParams, tabId: 2 ** 53 }, 'params.tabId: must be an integer, got number'],
    ['tool.dispatch', { ...dispatchParams, tabId: null }, 'params.tabId: must be an integer, got null'],
    ['tool.dispatch', { ...dispatchParams, args: undefined }, 'params.args: missing'],
    ['tool.cancel', { dispatchId: 'c1' }, 'params.reason: missing'],
    ['plugin.sync', { plugins: {} }, 'params.plugins: must be an array, got object'],
    ['plugin.sync', { plugins: [null] }, 'params.plugins[0]: must be an object, got null'],
    [
      'plugin.sync',
      { plugins: [{ name: 'p', displayName: 'P', hash: 'h', world: 'moon' }] },
      'params.plugins[0].world: must be one of main, isolated, got "moon"',
    ],
    [
      'plugin.sync',
      { plugins: [{ name: 'p', displayName: 'P', hash: 'h', world: 'main', matches: ['a', 1] }] },
      'params.plugins[0].matches[1]: must be a string, got number',
    ],
  ];
  for (const [method, params, expectedProblem] of malformedRequests) {
    const parsedFrame = parseFrame(makeRequestText(method, params));
    assert.ok(parsedFrame.kind === 'invalid' && parsedFrame.reply !== undefined, expectedProblem);
    assert.equal(parsedFrame.formatProblem, `${method}: ${expectedProblem}`);
    assert.deepEqual(parseFrame(parsedFrame.reply), {
      kind: 'error',
      id: 's1',
      error: { code: CodeInvalidParams, message: expectedProblem },
    });
  }
});

test('a notification with malformed params gets no answer', () => {
  const parsedFrame = parseFrame(JSON.stringify({ jsonrpc: '2.0', method: 'state.sync', params: { running: 'two' } }));
  assert.deepEqual(parsedFrame, { kind: 'invalid', formatProblem: 'state.sync: params.serverVersion: missing' });
});

test('params inherited through __proto__ are ignored', () => {
  const parsedFrame = parseFrame(
    `{"jsonrpc":"2.0","id":"s1","method":"tool.cancel","params":{"__proto__":${makeRequestText('x', {})}}}`,
  );
  assert.ok(parsedFrame.kind === 'invalid' && parsedFrame.formatProblem.includes('dispatchId: missing'));
});

test('parseFrame keeps the code and message of an error whose data has an unknown format', () => {
  const text =
    '{"jsonrpc":"2.0","id":"s1","error":{"code":-32000,"message":"m","data":{"code":"later","message":"m"}}}';
  assert.deepEqual(parseFrame(text), { kind: 'error', id: 's1', error: { code: -32000, message: 'm' } });
});

test('checkResult validates the result for the method of the request', () => {
  assert.deepEqual(checkResult('hello', { protocol: 1, serverVersion: '0.1.0' }), {
    ok: true,
    value: { protocol: 1, serverVersion: '0.1.0' },
  });
  assert.deepEqual(checkResult('hello', { protocol: 1 }), {
    ok: false,
    formatProblem: 'result.serverVersion: missing',
  });
  assert.deepEqual(checkResult('tool.cancel', { outcome: 'maybe' }), {
    ok: false,
    formatProblem: 'result.outcome: must be one of aborted, finished, ignored, got "maybe"',
  });
  assert.deepEqual(checkResult('ping', null), { ok: false, formatProblem: 'result: must be an object, got null' });
});

test('checkType validates a value against a named type', () => {
  assert.ok(checkType('Report', { progress: 1, later: true }).ok);
  assert.deepEqual(checkType('Report', { progress: '1' }), {
    ok: false,
    formatProblem: 'Report.progress: must be a number, got string',
  });
});

test('encodeRawResult copies the output unchanged', () => {
  const text = '{ "n":9007199254740993, "f":1.10 }';
  assert.equal(encodeRawResult('a"b', text), `{"jsonrpc":"2.0","id":"a\\"b","result":{"output":${text}}}`);
  assert.equal(encodeRawResult('c1', 'null'), encodeResult('c1', 'tool.dispatch', { output: null }));
  assert.equal(encodeRawResult('c1', undefined), encodeResult('c1', 'tool.dispatch', {}));
});

test('encodeRawProgress equals encodeNotification with the same reports', () => {
  const reports = [{ progress: 1, message: '"' }, {}];
  assert.equal(
    encodeRawProgress('c1', 7, JSON.stringify(reports), 3),
    encodeNotification('tool.progress', { dispatchId: 'c1', seq: 7, reports, skipped: 3 }),
  );
  assert.equal(
    encodeRawProgress('c1', 0, '[]', 0),
    encodeNotification('tool.progress', { dispatchId: 'c1', seq: 0, reports: [] }),
  );
});

test('encodeRawAsk copies a valid body unchanged', () => {
  const id = 'c"1';
  for (const requestBody of [
    { call: { tool: 'other__search', tabId: 7, args: { query: 'x' } } },
    { user: { reason: 'Log in.', title: 'Log in' } },
    { withdrawn: true },
  ]) {
    const expectedFrame = encodeNotification('tool.ask', { dispatchId: id, ask: 2, ...requestBody });
    assert.equal(encodeRawAsk(id, 2, JSON.stringify(requestBody)), expectedFrame);
  }
  const frame = encodeRawAsk('c1', 1, ' {"call":{"tool":"t","args":{"n":9007199254740993}}} ');
  assert.ok(frame?.includes('"n":9007199254740993}'), frame);
  assert.equal(parseFrame(frame ?? '').kind, 'notification');
});

test('encodeRawAsk rejects a body that is malformed or has other members', () => {
  for (const requestBody of [
    '',
    '[]',
    'null',
    '{}',
    '{"other":1}',
    '{"call":{"tool":"t"}}',
    '{"withdrawn":"yes"}',
    '{"user":{"reason":"r"},"dispatchId":"other"}',
    '{"user":{"reason":"r"},"withdrawn":true}',
    '{"user":{"reason":"r"}}}',
    '{"user":{"reason":"r"}},"dispatchId":"other",{',
  ]) {
    assert.equal(encodeRawAsk('c1', 1, requestBody), undefined, requestBody);
  }
});

test('encodeError and encodeCallError make JSON-RPC error responses', () => {
  assert.equal(
    encodeError('s1', { code: CodeMethodNotFound, message: 'm' }),
    '{"jsonrpc":"2.0","id":"s1","error":{"code":-32601,"message":"m"}}',
  );
  assert.deepEqual(
    parseFrame(encodeCallError('s1', { code: 'navigated', message: 'the tab navigated to another document' })),
    {
      kind: 'error',
      id: 's1',
      error: {
        code: CodeCallFailed,
        message: 'the tab navigated to another document',
        data: { code: 'navigated', message: 'the tab navigated to another document' },
      },
    },
  );
});

test('handlers receive the params of their method with the right type', async () => {
  const handlers: { readonly [M in RequestMethod]: (params: Requests[M]['params']) => string } = {
    hello: (params) => params.browserId,
    ping: () => 'pong',
    'tool.dispatch': (params) => params.tool,
    'tool.cancel': (params) => params.reason,
    'call.cancel': (params) => params.callId,
    'plugin.sync': (params) => `${params.plugins?.length ?? 0}`,
    'plugin.fetch': (params) => params.script,
    'tab.load': (params) => `${params.tabId}`,
    'tool.answer': (params) => `${params.ask}`,
    'call.decide': (params) => params.ticketId,
    'call.repeat': (params) => params.callId,
    'call.inspect': (params) => params.callId,
    'call.undo': (params) => params.callId,
    'calls.history': (params) => `${params.limit}`,
    'config.permission': (params) => params.plugin,
    'config.review': (params) => params.hash,
    'plugin.inspect': (params) => params.plugin,
    'plugin.page': (params) => params.section,
    'plugin.install': (params) => params.package,
    'plugin.update': (params) => params.plugin,
    'plugin.remove': (params) => params.plugin,
    'config.settings': (params) => params.plugin,
    'config.opening': (params) => params.plugin,
    'config.calls': (params) => params.other,
    'config.lateAccess': (params) => params.plugin,
    'plugin.settings': (params) => params.name,
    'tab.open': (params) => params.url,
    'config.site': (params) => params.site,
    'config.browserTools': (params) => `${params.on}`,
    'tab.release': (params) => `${params.tabId}`,
    'tab.describe': (params) => `${params.tabId}`,
  };
  const runHandler = <M extends RequestMethod>(frame: RequestFrame<M>): string => handlers[frame.method](frame.params);
  const frame = parseFrame(encodeRequest('s1', 'tool.dispatch', dispatchParams));
  assert.ok(frame.kind === 'request');
  assert.equal(runHandler(frame), 't');
});
