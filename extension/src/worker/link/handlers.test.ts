import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeNotification, encodeRequest, parseFrame } from '../../../../wire/frame.ts';
import { RequestMethods } from '../../../../wire/wire.gen.ts';
import { answerRequest, handleNotification, type NotificationHandlers, type RequestHandlers } from './handlers.ts';

const handlers: RequestHandlers = {
  ping: async () => ({}),
  'tool.dispatch': async () => undefined,
  'tool.cancel': async () => ({ outcome: 'aborted' }),
  'tool.answer': async () => ({ taken: true }),
  'plugin.sync': async () => ({ mode: 'none' }),
  'plugin.settings': async () => {
    throw new Error('not wanted');
  },
  'tab.load': async () => ({ loading: true }),
  'tab.open': async () => ({ tabId: 1 }),
  'tab.describe': async () => ({}),
};

async function answerRequestText(requestText: string): Promise<string[]> {
  const sentFrames: string[] = [];
  const frame = parseFrame(requestText);
  assert.equal(frame.kind, 'request');
  if (frame.kind === 'request') await answerRequest(handlers, frame, (reply) => sentFrames.push(reply));
  return sentFrames;
}

test('the compiler rejects handlers that lack a method of the server', () => {
  const { 'tab.open': openTabHandler, ...otherHandlers } = handlers;
  // @ts-expect-error: tab.open has no handler
  const requests: RequestHandlers = otherHandlers;
  // @ts-expect-error: tool.resync, state.plugins and state.waiting have no handler
  const notifications: NotificationHandlers = { 'state.sync': () => undefined };
  assert.deepEqual(
    [typeof openTabHandler, 'tab.open' in requests, 'tool.resync' in notifications],
    ['function', false, false],
  );
});

test('a request for a method without a handler is rejected', async () => {
  for (const method of RequestMethods) {
    if (Object.hasOwn(handlers, method)) continue;
    const params = {
      hello: '{"protocol":1,"browserId":"a","browserName":"","bootId":"b","extensionVersion":"1","proof":"p"}',
      'call.cancel': '{"callId":"c"}',
      'plugin.fetch': '{"script":"s"}',
      'call.decide': '{"callId":"c","ticketId":"t","allow":true}',
      'call.repeat': '{"callId":"c"}',
      'call.inspect': '{"callId":"c"}',
      'call.undo': '{"callId":"c"}',
      'calls.history': '{"limit":1}',
      'config.permission': '{"plugin":"p"}',
      'config.settings': '{"plugin":"p","values":{}}',
      'config.opening': '{"plugin":"p","allowed":true}',
      'config.calls': '{"plugin":"p","other":"q","allowed":true}',
      'config.lateAccess': '{"plugin":"p","allowed":true}',
      'config.review': '{"plugin":"p","hash":"h","permission":"auto"}',
      'plugin.inspect': '{"plugin":"p"}',
      'plugin.page': '{"plugin":"p","hash":"h","section":"code","page":1}',
      'plugin.install': '{"package":"p"}',
      'plugin.update': '{"plugin":"p"}',
      'plugin.remove': '{"plugin":"p"}',
      'config.browserTools': '{"on":true}',
      'config.site': '{"site":"shop.example"}',
      'tab.release': '{"tabId":7}',
    };
    const body = Object.entries(params).find(([name]) => name === method)?.[1];
    const [reply = ''] = await answerRequestText(`{"jsonrpc":"2.0","id":"1","method":"${method}","params":${body}}`);
    assert.match(reply, /"code":-32601,"message":"the browser does not answer /, method);
  }
});

test('answerRequest sends results and errors at once, but no answer to a dispatched call', async (t) => {
  const warnMock = t.mock.method(console, 'warn', () => undefined);
  assert.deepEqual(await answerRequestText(encodeRequest('1', 'ping', {})), ['{"jsonrpc":"2.0","id":"1","result":{}}']);
  assert.deepEqual(await answerRequestText(encodeRequest('2', 'tool.cancel', { dispatchId: 'x', reason: '' })), [
    '{"jsonrpc":"2.0","id":"2","result":{"outcome":"aborted"}}',
  ]);
  assert.deepEqual(await answerRequestText(encodeRequest('3', 'plugin.settings', { name: 'a', settings: {} })), [
    '{"jsonrpc":"2.0","id":"3","error":{"code":-32603,"message":"not wanted"}}',
  ]);
  assert.equal(warnMock.mock.callCount(), 1);
  const dispatch = { dispatchId: '4', plugin: 'p', tool: 't', tabId: 1, documentId: 'd', maxResultBytes: 1, args: {} };
  assert.deepEqual(await answerRequestText(encodeRequest('4', 'tool.dispatch', dispatch)), []);
});

test('a notification without a handler is ignored', () => {
  const handledMethods: string[] = [];
  const notifications: NotificationHandlers = {
    'tool.resync': ({ dispatchId }) => handledMethods.push(dispatchId),
    'state.sync': () => handledMethods.push('sync'),
    'state.plugins': () => handledMethods.push('plugins'),
    'state.browser': () => handledMethods.push('browser tools'),
    'state.waiting': ({ count }) => handledMethods.push(`${count} waiting`),
    'tab.holds': () => handledMethods.push('holds'),
    'session.ended': () => handledMethods.push('ended'),
  };
  for (const requestText of [
    encodeNotification('state.waiting', { count: 2 }),
    encodeNotification('state.watch', { on: true }),
    encodeNotification('tool.resync', { dispatchId: 'x', activityType: 'a' }),
  ]) {
    const frame = parseFrame(requestText);
    assert.equal(frame.kind, 'notification');
    if (frame.kind === 'notification') handleNotification(notifications, frame);
  }
  assert.deepEqual(handledMethods, ['2 waiting', 'x']);
});
