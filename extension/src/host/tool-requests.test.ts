import assert from 'node:assert/strict';
import test from 'node:test';
import { type HostPort, makeAdapterCode, makeRealm, type Realm } from '../../test/realm.ts';

/** The parameter handle is the code in the body of the tool's handler, whose second parameter is named `c`. */
async function beginCall(handlerCode: string): Promise<{ realm: Realm; port: HostPort }> {
  const realm = makeRealm();
  realm.start('demo', 'h', makeAdapterCode('demo', `{ name: 'run', handle: async (p, c) => { ${handlerCode} } }`));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  assert.deepEqual(port?.receivedTexts.splice(0), ['ready']);
  port?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  assert.ok(port);
  return { realm, port };
}

const errorFields = `(e) => [e.name, e.message, e.code, e.category, e.retryable, e.retryAfterMs, e instanceof Error]`;

test('context.call sends the tool and its input, and returns the result', async () => {
  const { realm, port } = await beginCall(`return [await c.call('other', { n: 1, list: ['ü'] }), 'after'];`);
  assert.deepEqual(port.receivedTexts.splice(0), ['q 1 1 {"call":{"tool":"other","args":{"n":1,"list":["ü"]}}}']);
  port.sendParts('answer', 1, 1, true, { got: [1] });
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 [{"got":[1]},"after"]']);
});

test('the tool requests of a call are numbered, and answered once each in any order', async () => {
  const { realm, port } = await beginCall(`
    const all = ['a', 'b', 'c'].map((tool, i) => c.call(tool, undefined, { tabId: i + 7 }));
    return await Promise.all(all);`);
  assert.deepEqual(port.receivedTexts.splice(0), [
    'q 1 1 {"call":{"tool":"a","tabId":7,"args":{}}}',
    'q 1 2 {"call":{"tool":"b","tabId":8,"args":{}}}',
    'q 1 3 {"call":{"tool":"c","tabId":9,"args":{}}}',
  ]);
  for (const [askId, answerValue] of [
    [3, 'three'],
    [3, 'again'],
    [1, 'one'],
    [9, 'unknown'],
  ]) {
    port.sendParts('answer', 1, askId, true, answerValue);
  }
  port.sendParts('answer', 2, 2, true, 'of another call');
  port.sendParts('answer', 1, 2, true);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 ["one",null,"three"]']);
});

test('a tool request contains no fields that the page added to Object.prototype', async () => {
  const { port } = await beginCall(`
    Object.defineProperties(Object.prototype, {
      tabId: { configurable: true, enumerable: true, value: '9' },
      title: { configurable: true, enumerable: true, get() { return '"forged"'; } },
      reports: { configurable: true, enumerable: true, value: '[]' },
    });
    c.reportActivity('text', 'x');
    c.call('other', {}, { __proto__: null });
    await c.waitForUser({ __proto__: null, reason: 'Log in.' });`);
  assert.deepEqual(port.receivedTexts, [
    'p 1 1 0 [{"activity":{"type":"text","content":"x"}}]',
    'q 1 1 {"call":{"tool":"other","args":{}}}',
    'q 1 2 {"user":{"reason":"Log in."}}',
  ]);
});

test('a progress report that precedes a tool request is sent before the request', async () => {
  const { port } = await beginCall(`c.reportProgress({ message: 'soon' }); await c.call('other', {});`);
  assert.deepEqual(port.receivedTexts, ['p 1 1 0 [{"message":"soon"}]', 'q 1 1 {"call":{"tool":"other","args":{}}}']);
});

test('the error of a nested call looks like a ToolError', async () => {
  const requestCases: [object, string][] = [
    [
      {
        code: 'tool_error',
        message: 'slow',
        tool: { code: 'LIMIT', category: 'rate_limit', retryable: true, retryAfterMs: 9 },
      },
      '["ToolError","slow","LIMIT","rate_limit",true,9,true]',
    ],
    [{ code: 'denied', message: 'no' }, '["ToolError","no","denied",null,false,null,true]'],
    [{ code: 'tool_error', message: 'plain' }, '["ToolError","plain","tool_error",null,false,null,true]'],
  ];
  for (const [error, expectedError] of requestCases) {
    const { realm, port } = await beginCall(
      `try { return await c.call('t', {}); } catch (e) { return (${errorFields})(e); }`,
    );
    port.receivedTexts.splice(0);
    port.sendParts('answer', 1, 1, false, error);
    await realm.waitUntilIdle();
    assert.deepEqual(port.receivedTexts, [`r 1 ${expectedError}`]);
  }
});

test('an uncaught error of a nested call fails the outer call with the same error code', async () => {
  const { realm, port } = await beginCall(`return await c.call('t', {});`);
  port.receivedTexts.splice(0);
  const tool = { code: 'LIMIT', category: 'rate_limit', retryable: true, retryAfterMs: 9 };
  port.sendParts('answer', 1, 1, false, { code: 'tool_error', message: 'slow', tool });
  await realm.waitUntilIdle();
  assert.match(port.receivedTexts.shift() ?? '', /^l 1 0 .*run failed: slow/);
  assert.deepEqual(port.receivedTexts, [
    'e 1 {"code":"tool_error","message":"slow","tool":{"code":"LIMIT","category":"rate_limit","retryable":true,"retryAfterMs":9}}',
  ]);
});

test('invalid arguments of a tool request are rejected in the page', async () => {
  const requestCases: [string, RegExp][] = [
    [`c.call('', {})`, /tool must be the name/],
    [`c.call({}, {})`, /tool must be the name/],
    [`c.call('t', [])`, /input must be an object/],
    [`c.call('t', 'text')`, /input must be an object/],
    [`c.call('t', () => 1)`, /input must be an object/],
    [`c.call('t', {}, { tabId: 1.5 })`, /tabId must be/],
    [`c.call('t', {}, { signal: {} })`, /signal must be an AbortSignal/],
    [`c.call('t', (() => { const a = {}; a.a = a; return a; })())`, /the input cannot be written as JSON: .*circular/i],
    [`c.call('t', { text: 'x'.repeat(17 * 1024 * 1024) })`, /the limit is 16777216 bytes/],
    ['c.waitForUser()', /reason must be a sentence/],
    [`c.waitForUser({ reason: '' })`, /reason must be a sentence/],
  ];
  for (const [code, expectedError] of requestCases) {
    const { port } = await beginCall(`try { await ${code}; } catch (e) { return e.message; }`);
    assert.match(port.receivedTexts.join(), expectedError, code);
    assert.match(port.receivedTexts.join(), /^r 1 /, code);
  }
});

test('context.waitForUser sends the reason and resolves with undefined', async () => {
  const { realm, port } = await beginCall(`return [await c.waitForUser({ reason: 'log in', title: 'Login' })];`);
  assert.deepEqual(port.receivedTexts.splice(0), ['q 1 1 {"user":{"reason":"log in","title":"Login"}}']);
  port.sendParts('answer', 1, 1, true, 'ignored');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 [null]']);
});

test('context.waitForUser rejects after a denial, a timeout or another error', async () => {
  for (const [code, expectedError] of [
    ['denied', 'user_denied'],
    ['approval_timeout', 'user_timeout'],
    ['no_browser', 'no_browser'],
  ]) {
    const { realm, port } = await beginCall(
      `try { await c.waitForUser({ reason: 'r' }); } catch (e) { return e.code; }`,
    );
    port.receivedTexts.splice(0);
    port.sendParts('answer', 1, 1, false, { code, message: 'm' });
    await realm.waitUntilIdle();
    assert.deepEqual(port.receivedTexts, [`r 1 "${expectedError}"`]);
  }
});

test('the signal option withdraws a tool request', async () => {
  const { realm, port } = await beginCall(`
    const stop = new AbortController(); stopIt = () => stop.abort('enough');
    try { await c.call('t', {}, { signal: stop.signal }); } catch (e) { return [e.code, e.message, e.cause]; }`);
  realm.run('stopIt()');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), [
    'q 1 1 {"call":{"tool":"t","args":{}}}',
    'q 1 1 {"withdrawn":true}',
    'r 1 ["aborted","aborted: enough","enough"]',
  ]);
  const callWithAbortedSignal = await beginCall(`
    const stop = new AbortController(); stop.abort('before');
    try { await c.call('t', {}, { signal: stop.signal }); } catch (e) { return e.message; }`);
  assert.deepEqual(callWithAbortedSignal.port.receivedTexts, ['r 1 "aborted: before"']);
});

test('an abort event that the page dispatches does not withdraw the tool request', async () => {
  const { realm, port } = await beginCall(`
    const stop = new AbortController(); dispatch = () => stop.signal.dispatchEvent(new Event('abort'));
    return await c.call('t', {}, { signal: stop.signal });`);
  port.receivedTexts.splice(0);
  realm.run('dispatch()');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, []);
  port.sendParts('answer', 1, 1, true, 1);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 1']);
});

test('aborting the signal does not withdraw a tool request that is already answered', async () => {
  const { realm, port } = await beginCall(`
    const stop = new AbortController(); stopIt = () => stop.abort();
    return [await c.call('t', {}, { signal: stop.signal }), await new Promise((ok) => { go = ok; })];`);
  port.receivedTexts.splice(0);
  port.sendParts('answer', 1, 1, true, 1);
  await realm.waitUntilIdle();
  realm.run('stopIt(); go(2)');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 [1,2]']);
});

test('a settled tool request removes its abort listener from the signal', async () => {
  const realm = makeRealm();
  realm.run(`listeners = 0;
    for (const [name, by] of [['addEventListener', 1], ['removeEventListener', -1]]) {
      const real = EventTarget.prototype[name];
      EventTarget.prototype[name] = function (type, listener) {
        if (type === 'abort') listeners += by;
        return real.call(this, type, listener);
      };
    }`);
  const handlerCode = `async (p, c) => {
    const { signal } = new AbortController();
    const all = ['a', 'b', 'c'].map((tool) => c.call(tool, {}, { signal }).catch((e) => e.code));
    most = listeners;
    return [await all[0], await all[1]];
  }`;
  realm.start('demo', 'h', makeAdapterCode('demo', `{ name: 'run', handle: ${handlerCode} }`));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  port?.sendParts('answer', 1, 1, true, 1);
  port?.sendParts('answer', 1, 2, false, { code: 'denied', message: 'no' });
  await realm.waitUntilIdle();
  assert.equal(port?.receivedTexts.at(-1), 'r 1 [1,"denied"]');
  assert.equal(realm.run('most + " " + listeners'), '3 0');
});

test('the tool requests of a cancelled call are rejected as aborted, and so are all later requests', async () => {
  const { realm, port } = await beginCall(`
    const why = [];
    keep = c;
    for (const ask of [c.call('a', {}), c.waitForUser({ reason: 'r' })]) await ask.catch((e) => why.push(e.cause === c.signal.reason && e.code + ', ' + e.message));
    await c.call('late', {}).catch((e) => why.push(e.cause === c.signal.reason));
    seen = why;`);
  assert.equal(port.receivedTexts.splice(0).length, 2);
  port.sendParts('cancel', 1, 'stop');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['a 1']);
  assert.equal(realm.run('JSON.stringify(seen)'), '["aborted, aborted: stop","aborted, aborted: stop",true]');
  realm.run(`keep.call('t', {}).catch((e) => { late = e.code; })`);
  await realm.waitUntilIdle();
  assert.equal(realm.run('late'), 'aborted', 'a tool request after the end of the call must be aborted');
});

test('the open tool requests of an ended call are rejected, and the call can send no more requests', async () => {
  const { realm, port } = await beginCall(`c.call('a', {}).catch((e) => { left = e.code; }); keep = c; return 1;`);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['q 1 1 {"call":{"tool":"a","args":{}}}', 'r 1 1']);
  realm.run(`keep.waitForUser({ reason: 'r' }).catch((e) => { late = e.code; })`);
  await realm.waitUntilIdle();
  assert.equal(realm.run('left + " " + late'), 'call_ended call_ended');
  assert.deepEqual(port.receivedTexts, []);
});

test('one call can have at most 64 open tool requests', async () => {
  const { realm, port } = await beginCall(`
    const all = Array.from({ length: 64 }, () => c.call('t', {}));
    const over = await c.call('t', {}).catch((e) => e.code);
    await all[0];
    c.call('t', {});
    return over;`);
  assert.equal(port.receivedTexts.splice(0).length, 64);
  port.sendParts('answer', 1, 1, true, 1);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['q 1 65 {"call":{"tool":"t","args":{}}}', 'r 1 "nested_too_deep"']);
});

test('one call can send at most 1,000 tool requests', async () => {
  const { realm, port } = await beginCall(`
    for (let n = 0; n < 1000; n++) await c.call('t', {});
    return await c.call('t', {}).catch((e) => e.code + ': ' + e.message);`);
  for (let askId = 1; askId <= 1000; askId++) {
    port.sendParts('answer', 1, askId, true);
    await realm.waitUntilIdle();
  }
  assert.deepEqual(
    [port.receivedTexts.length, port.receivedTexts.at(-1)],
    [1001, 'r 1 "nested_too_deep: this call has made 1000 requests to the server, the maximum"'],
  );
});

test('then, catch and finally of a returned promise work like those of Promise', async () => {
  const { realm, port } = await beginCall(`
    const ok = c.call('ok', {}), bad = c.call('bad', {});
    const done = [];
    const first = ok.then((v) => Promise.resolve(v + 1)).finally(() => { done.push('f'); return 'unused'; });
    const second = bad.then(() => 'no').catch((e) => e.code).then();
    const third = bad.finally(() => done.push('g')).catch((e) => { throw new Error('own ' + e.code); });
    const fourth = ok.finally().then(() => { throw new Error('thrown'); }).catch((e) => e.message);
    const fifth = bad.finally(() => { throw new Error('last'); }).catch((e) => e.message);
    return [await first, await second, await third.catch((e) => e.message), await fourth, await fifth, done.sort().join()];`);
  port.receivedTexts.splice(0);
  port.sendParts('answer', 1, 1, true, 1);
  port.sendParts('answer', 1, 2, false, { code: 'denied', message: 'no' });
  for (let i = 0; i < 5; i++) await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 [2,"denied","own denied","thrown","last","f,g"]']);
});

test('a handler may return the promise of a tool request', async () => {
  const realm = makeRealm();
  realm.start('demo', 'h', makeAdapterCode('demo', `{ name: 'run', handle: (p, c) => c.call('t', {}) }`));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  port?.sendParts('answer', 1, 1, true, JSON.parse('{"then":"data"}'));
  await realm.waitUntilIdle();
  assert.deepEqual(port?.receivedTexts.slice(1), ['q 1 1 {"call":{"tool":"t","args":{}}}', 'r 1 {"then":"data"}']);
});
