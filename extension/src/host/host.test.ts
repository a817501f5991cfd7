import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { type HostPort, makeAdapterCode, makeRealm, type Realm } from '../../test/realm.ts';

const MB = 1 << 20;

async function openWithTools(tools: string, isReady?: string): Promise<{ realm: Realm; port: HostPort }> {
  const realm = makeRealm();
  realm.start('demo', 'h1', makeAdapterCode('demo', tools, isReady));
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['ready']);
  return { realm, port };
}

async function callTool(tools: string, args: unknown = {}, maxResultBytes = MB): Promise<string[]> {
  const { realm, port } = await openWithTools(tools);
  port.sendParts('call', 1, 'run', maxResultBytes, args);
  await realm.waitUntilIdle();
  return port.receivedTexts.filter((receivedText) => !receivedText.startsWith('l '));
}

const makeTool = (handlerCode: string, toolFields = '') => `{ name: 'run', handle: ${handlerCode}${toolFields} }`;

test('a call runs the handler with the arguments and sends its result as JSON text', async () => {
  assert.deepEqual(await callTool(makeTool('(p) => ({ got: p, list: [1, null] })'), { a: 'ü' }), [
    'r 1 {"got":{"a":"ü"},"list":[1,null]}',
  ]);
  assert.deepEqual(await callTool(makeTool('async (p) => p.n + 1'), { n: 1 }), ['r 1 2']);
  assert.deepEqual(await callTool(makeTool('async () => undefined')), ['n 1']);
  assert.deepEqual(await callTool(makeTool('() => null')), ['r 1 null']);
});

test('only a traced call reports when isReady returned, and when its handler started and settled', async () => {
  const { realm, port } = await openWithTools(makeTool('async () => 7'));
  port.sendParts('traced', 1, 'run', MB, {});
  port.sendParts('call', 2, 'run', MB, {});
  await realm.waitUntilIdle();
  const [stepTimesText = '', ...resultTexts] = port.receivedTexts;
  assert.deepEqual(resultTexts, ['r 1 7', 'r 2 7']);
  assert.match(stepTimesText, /^t 1( \d+(\.\d+)?){3}$/);
  const [, , adapterReadyMs, startedMs, handlerSettledMs] = stepTimesText.split(' ').map(Number);
  assert.ok(
    Number(adapterReadyMs) <= Number(startedMs) && Number(startedMs) <= Number(handlerSettledMs),
    stepTimesText,
  );
});

test('a failed traced call reports the times of only those steps that the call reached', async () => {
  const { realm, port } = await openWithTools(makeTool(`async () => { throw new Error('no') }`));
  port.sendParts('traced', 1, 'run', MB, {});
  port.sendParts('traced', 2, 'missing', MB, {});
  await realm.waitUntilIdle();
  const stepTimesText = port.receivedTexts.filter((messageText) => messageText.startsWith('t '));
  assert.deepEqual(stepTimesText.map((messageText) => messageText.split(' ').length - 2).sort(), [2, 3]);
  for (const callNumber of [1, 2]) {
    const callMessages = port.receivedTexts.filter(
      (messageText) => /^[te] /.test(messageText) && messageText.split(' ')[1] === String(callNumber),
    );
    assert.deepEqual(
      callMessages.map((messageText) => messageText[0]),
      ['t', 'e'],
    );
  }
});

test('hosts send the name of their plugin only during the handshake', async () => {
  const realm = makeRealm();
  realm.run(`offers = 0; document.addEventListener('opentabs:host', () => offers++)`);
  realm.start('a', 'h', makeAdapterCode('a', ''));
  realm.start('b', 'hash-b', makeAdapterCode('b', ''));
  assert.equal(realm.run('offers'), 0);
  realm.bridge();
  await realm.waitUntilIdle();
  assert.deepEqual(
    realm.ports.map(({ plugin, hash, receivedTexts }) => ({
      plugin,
      hash,
      received: receivedTexts,
    })),
    [
      { plugin: 'a', hash: 'h', received: ['ready'] },
      { plugin: 'b', hash: 'hash-b', received: ['ready'] },
    ],
  );
  realm.start('late', 'h', makeAdapterCode('late', ''));
  assert.equal(realm.ports.length, 2);
});

test("a host answers no handshake that the page starts, even if the document's root is a script", (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pageHandshakeRealm = makeRealm();
  pageHandshakeRealm.start('demo', 'h', makeAdapterCode('demo', ''));
  pageHandshakeRealm.dispatch('opentabs:bridge');
  pageHandshakeRealm.run(`offers = 0; document.addEventListener('opentabs:host', () => offers++)`);
  pageHandshakeRealm.dispatch('opentabs:bridge');
  assert.equal(pageHandshakeRealm.run('offers'), 0);
  const delayedHandshakeRealm = makeRealm();
  delayedHandshakeRealm.start('demo', 'h', makeAdapterCode('demo', ''));
  t.mock.timers.tick(1);
  delayedHandshakeRealm.run(`offers = 0; document.addEventListener('opentabs:host', () => offers++)`);
  delayedHandshakeRealm.dispatch('opentabs:bridge');
  assert.equal(delayedHandshakeRealm.run('offers'), 0);
});

test('the adapter is evaluated once, and only after a bridge has accepted the port', async () => {
  const realm = makeRealm();
  realm.run('globalThis.count = 0');
  realm.start('demo', 'h', `globalThis.count++;${makeAdapterCode('demo', '')}`);
  await realm.waitUntilIdle();
  assert.equal(realm.run('count'), 0);
  realm.bridge();
  await realm.waitUntilIdle();
  realm.dispatch('opentabs:bridge');
  await realm.waitUntilIdle();
  assert.equal(realm.run('count'), 1);
  assert.equal(realm.ports.length, 1);
});

test('a host offers no port in a document that already has content', async () => {
  const realmWithContent = makeRealm();
  realmWithContent.addContent();
  realmWithContent.bridge();
  realmWithContent.start('demo', 'h', 'globalThis.evaluated = true');
  await realmWithContent.waitUntilIdle();
  assert.deepEqual(realmWithContent.ports, []);
  assert.equal(realmWithContent.run('typeof evaluated'), 'undefined');
});

test('a host offers no port to a page script that starts the handshake', () => {
  const realm = makeRealm();
  realm.start('demo', 'h', makeAdapterCode('demo', ''));
  realm.addContent();
  realm.run(`offers = 0; document.addEventListener('opentabs:host', () => offers++)`);
  realm.dispatch('opentabs:bridge');
  assert.equal(realm.run('offers'), 0);
});

test('an adapter that fails to start is reported as broken', async () => {
  const handlerCases: [string, RegExp][] = [
    ['throw new Error("no luck")', /^broken the adapter threw while it started: no luck$/],
    ['', /^broken the adapter did not register as demo$/],
    ['globalThis.__openTabs.adapters = { demo: {} }', /^broken the adapter demo did not lock itself/],
    ['globalThis.__openTabs.adapters = { demo: Object.freeze({}) }', /^broken the adapter demo has no isReady/],
  ];
  for (const [code, expectedResult] of handlerCases) {
    const realm = makeRealm();
    realm.start('demo', 'h', code);
    const [port] = realm.bridge();
    await realm.waitUntilIdle();
    port?.sendParts('begin'); // The host restarts an adapter that threw before the document was parsed.
    await realm.waitUntilIdle();
    assert.match(port?.receivedTexts.join('\n') ?? '', expectedResult);
  }
});

test('a call of an adapter that is not ready fails with the reason', async () => {
  for (const [isReady, expectedReason] of [
    ['async () => false', 'isReady\\(\\) did not return true'],
    ['() => 1', 'isReady\\(\\) did not return true'],
    ['async () => { throw new Error("no cookie") }', 'isReady\\(\\) threw: no cookie'],
    ['() => { throw "odd" }', 'isReady\\(\\) threw: odd'],
  ] as const) {
    const { realm, port } = await openWithTools(makeTool('() => 1'), isReady);
    port.sendParts('call', 1, 'run', MB, {});
    await realm.waitUntilIdle();
    assert.match(port.receivedTexts.join(), new RegExp(`^e 1 {"code":"not_ready",.*${expectedReason}`));
  }
});

test('each tool call waits at most 5 s for isReady()', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const isReady = '() => (n = (globalThis.n ?? 0) + 1) === 2 ? true : new Promise(() => {})';
  const { realm, port } = await openWithTools(makeTool('() => 1'), isReady);
  const call = async (callNumber: number, notBeforeMs: number) => {
    t.mock.timers.tick(notBeforeMs);
    port.sendParts('call', callNumber, 'run', MB, {});
    await realm.waitUntilIdle();
  };
  await call(1, 0);
  await call(2, 1000);
  await call(3, 1000);
  assert.deepEqual(port.receivedTexts.splice(0), ['r 2 1']);
  t.mock.timers.tick(2999);
  assert.deepEqual(port.receivedTexts, []);
  t.mock.timers.tick(1);
  assert.match(port.receivedTexts.join(), /^e 1 .*not_ready.*did not return within 5 s[^e]*$/);
  t.mock.timers.tick(1999);
  assert.equal(port.receivedTexts.length, 1);
  t.mock.timers.tick(1);
  assert.match(port.receivedTexts[1] ?? '', /^e 3 .*not_ready.*did not return within 5 s/);
  await call(4, 60_000);
  t.mock.timers.tick(5000);
  assert.match(port.receivedTexts[2] ?? '', /^e 4 .*not_ready/);
});

test("a call needs a known tool and arguments that match the tool's schema", async () => {
  const { realm, port } = await openWithTools(makeTool('() => 1'));
  port.sendParts('call', 1, 'other', MB, {});
  await realm.waitUntilIdle();
  assert.match(port.receivedTexts.join(), /^e 1 {"code":"unknown_tool","message":"the plugin demo has no tool other/);

  const safeParseCode = `safeParse(v) { return typeof v.a === 'string'
    ? { success: true, data: { a: v.a, b: 'default' } }
    : { success: false, error: { issues: [{ path: ['a'], message: 'want text' }, { path: ['c', 0, 'd'], message: 'no' }, { path: [], message: 'x' }] } } }`;
  const inputSchemaTool = makeTool('(p) => p', `, input: { ${safeParseCode} }`);
  assert.deepEqual(await callTool(inputSchemaTool, { a: 'x' }), ['r 1 {"a":"x","b":"default"}']);
  assert.deepEqual(await callTool(inputSchemaTool, { a: 1 }), [
    'e 1 {"code":"invalid_arguments","message":"the arguments of run are not valid:\\na: want text\\nc[0].d: no\\narguments: x"}',
  ]);
  const asyncSchemaTool = makeTool(
    '(p) => p',
    `, input: { safeParse() { throw new Error('async'); }, safeParseAsync: async (v) => ({ success: true, data: [v.a] }) }`,
  );
  assert.deepEqual(await callTool(asyncSchemaTool, { a: 1 }), ['r 1 [1]']);
});

test('the host finds a prompt by name, validates its arguments, and passes it the same context as a tool', async () => {
  const realm = makeRealm();
  const args = `args: { safeParse: (v) => v.n ? { success: true, data: { n: Number(v.n) } } : { success: false, error: { issues: [{ path: ['n'], message: 'missing' }] } } }`;
  const prompts = `[{ name: 'ask', ${args}, render(p, c) { c.reportPercent(5); return { self: this.name, n: p.n }; } }, { name: 'old', handle: () => 'handled' }]`;
  realm.start(
    'demo',
    'h',
    `globalThis.__openTabs.adapters = { demo: Object.freeze({ isReady: () => true, prompts: ${prompts},
      tools: [{ name: 'ask', input: { safeParse: (v) => ({ success: true, data: v }) }, args: 'unread', handle: () => 'tool' }] }) }`,
  );
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.receivedTexts.splice(0);
  port?.sendParts('call', 1, 'ask', MB, { n: '7' }, true);
  port?.sendParts('call', 2, 'ask', MB, {}, true);
  port?.sendParts('call', 3, 'old', MB, {}, true);
  port?.sendParts('call', 4, 'none', MB, {}, true);
  port?.sendParts('call', 5, 'ask', MB, {}, false);
  await realm.waitUntilIdle();
  assert.deepEqual(port?.receivedTexts, [
    'p 1 1 0 [{"percent":5}]',
    'r 1 {"self":"ask","n":7}',
    'e 2 {"code":"invalid_arguments","message":"the arguments of ask are not valid:\\nn: missing"}',
    'r 3 "handled"',
    'e 4 {"code":"unknown_prompt","message":"the plugin demo has no prompt none in this tab"}',
    'r 5 "tool"',
  ]);
});

test('a handler gets a read-only context with all functions', async () => {
  const abortHandlerCode = `(p, c) => {
    const kinds = {};
    for (const name of Object.getOwnPropertyNames(c)) kinds[name] = typeof c[name];
    let changed = 0;
    for (const name of Object.getOwnPropertyNames(c)) { try { c[name] = 1; changed += c[name] === 1; } catch {} }
    try { c.more = 1; } catch {}
    return { kinds, changed, more: 'more' in c, from: Object.getPrototypeOf(c) };
  }`;
  const functionType = 'function';
  const methodTypes = {
    reportProgress: functionType,
    reportPercent: functionType,
    reportCount: functionType,
    reportActivity: functionType,
    reportActivityDelta: functionType,
  };
  const otherMemberTypes = {
    endAudience: functionType,
    call: functionType,
    waitForUser: functionType,
    decision: 'undefined',
    signal: 'object',
  };
  const receivedChanges = { kinds: { ...methodTypes, ...otherMemberTypes }, changed: 0, more: false, from: null };
  assert.deepEqual(await callTool(makeTool(abortHandlerCode)), [`r 1 ${JSON.stringify(receivedChanges)}`]);
});

test("a handler gets the user's decision in its context", async () => {
  const { realm, port } = await openWithTools(makeTool('(p, c) => [c.decision]'));
  port.sendParts('call', 1, 'run', MB, {}, false, { allow: true });
  port.sendParts('call', 2, 'run', MB, {}, false);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 [{"allow":true}]', 'r 2 [null]']);
});

test('a value that a tool throws becomes the error of the call', async () => {
  const toolError = `() => { throw Object.assign(new Error('slow down'), { code: 'LIMIT', category: 'rate_limit', retryable: true, retryAfterMs: 1500 }); }`;
  assert.deepEqual(await callTool(makeTool(toolError)), [
    'e 1 {"code":"tool_error","message":"slow down","tool":{"code":"LIMIT","category":"rate_limit","retryable":true,"retryAfterMs":1500}}',
  ]);
  const handlerCases: [string, string][] = [
    ['() => { throw new Error("plain"); }', '{"code":"tool_error","message":"plain"}'],
    ['async () => { throw "text"; }', '{"code":"tool_error","message":"text"}'],
    ['async () => { throw undefined; }', '{"code":"tool_error","message":"the tool threw a value without a message"}'],
    [
      '() => { throw new TypeError(); }',
      '{"code":"tool_error","message":"the tool threw a TypeError without a message"}',
    ],
    ['() => { throw new DOMException("gone", "AbortError"); }', '{"code":"tool_error","message":"gone"}'],
    [
      '() => { throw { get message() { throw 1; } }; }',
      '{"code":"tool_error","message":"the tool threw a value without a message"}',
    ],
    ['() => { throw Object.assign(new Error("m"), { code: 20 }); }', '{"code":"tool_error","message":"m"}'],
    [
      '() => { throw { code: "A", message: "m", retryAfterMs: NaN }; }',
      '{"code":"tool_error","message":"m","tool":{"code":"A","retryable":false}}',
    ],
  ];
  for (const [handlerCode, expectedResult] of handlerCases)
    assert.deepEqual(await callTool(makeTool(handlerCode)), [`e 1 ${expectedResult}`]);
});

test('a result that JSON cannot represent, or that is too large, fails the call', async () => {
  const cyclicValueCode = '() => { const a = {}; a.a = a; return a; }';
  for (const handlerCode of ['() => 1n', '() => ({ n: 1n })', cyclicValueCode, '() => () => 1', '() => Symbol()']) {
    assert.match(
      (await callTool(makeTool(handlerCode))).join(),
      /^e 1 {"code":"invalid_result","message":"the tool run returned a value that JSON cannot represent/,
    );
  }
  // The JSON text of the tool's result has 10 characters of 3 bytes each, and 2 quotes.
  assert.deepEqual(await callTool(makeTool("() => '€'.repeat(10)"), {}, 32), [`r 1 "${'€'.repeat(10)}"`]);
  assert.deepEqual(await callTool(makeTool("() => '€'.repeat(10)"), {}, 31), [
    'e 1 {"code":"result_too_large","message":"the result of run has 32 bytes, the limit is 31 bytes"}',
  ]);
  assert.match(
    (await callTool(makeTool('() => "x".repeat(3 * 1024 * 1024)'), {}, 2 * MB)).join(),
    /has 3\.1 MB, the limit is 2 MB/,
  );
});

test('the host measures the exact size of a long result with characters of several bytes', async () => {
  const pieceBytes = 64 * 1024;
  for (const [prefix, messageText] of [
    [pieceBytes - 2, '😀'],
    [pieceBytes - 1, '😀é€'],
    [pieceBytes, '€😀'],
    [0, '😀€é'.repeat(40_000)],
    [pieceBytes / 2, '\\ud83d'], // JSON escapes a lone surrogate
  ] as const) {
    const value = `'x'.repeat(${prefix}) + '${messageText}'`;
    const json = JSON.stringify('x'.repeat(prefix) + messageText.replace('\\ud83d', '\ud83d'));
    const bytes = Buffer.byteLength(json);
    assert.deepEqual(await callTool(makeTool(`() => ${value}`), {}, bytes), [`r 1 ${json}`]);
    assert.match((await callTool(makeTool(`() => ${value}`), {}, bytes - 1)).join(), /"code":"result_too_large"/);
  }
});

test('the host awaits a thenable or an instance of a Promise subclass that a handler returns', async () => {
  assert.deepEqual(await callTool(makeTool('() => ({ then(ok) { ok({ then(ok2) { ok2(7); ok2(8); } }); } })')), [
    'r 1 7',
  ]);
  assert.deepEqual(await callTool(makeTool('() => new (class extends Promise {})((ok) => ok(5))')), ['r 1 5']);
  assert.match(
    (await callTool(makeTool('() => Object.freeze(Promise.resolve(1))'))).join(),
    /tool_error.*frozen promise/,
  );
});

test('nested thenables cause no stack overflow, and an endless chain of thenables fails the call', async () => {
  const nestedThenableCode =
    'const make = (n) => n === 0 ? "end" : { then: (ok) => ok(make(n - 1)) }; return make(5000);';
  assert.deepEqual(await callTool(makeTool(`() => { ${nestedThenableCode} }`)), ['r 1 "end"']);
  for (const endlessThenableCode of [
    '{ then(ok) { ok(this); } }',
    '(function make() { return { then: (ok) => ok(make()) }; })()',
  ]) {
    assert.match(
      (await callTool(makeTool(`() => (${endlessThenableCode})`))).join(),
      /tool_error.*resolved to another one 10000 times/,
    );
  }
  const { realm, port } = await openWithTools(
    makeTool('() => ({ then(ok) { Promise.resolve().then(() => ok(this)); } })'),
  );
  port.sendParts('call', 1, 'run', MB, {});
  for (let idleWaitCount = 0; idleWaitCount < 5_000 && port.receivedTexts.length === 0; idleWaitCount++)
    await realm.waitUntilIdle();
  assert.match(port.receivedTexts.join(), /tool_error.*resolved to another one 10000 times/);
});

test('a thenable that settles when the stack is almost full still ends its call', async () => {
  const deepRecursionCode = 'const down = (work) => { try { down(work); } catch { work(); } };';
  const deepestCallCode =
    'const deepest = (work) => { let done = false; down(() => { if (!done) { work(); done = true; } }); };';
  for (const [settleCode, expectedResult] of [
    ['ok(7)', /^r 1 7$/],
    ['bad(new Error("no"))', /tool_error.*no/],
  ] as const) {
    const now = `() => { ${deepRecursionCode} ${deepestCallCode} return { then: (ok, bad) => deepest(() => ${settleCode}) }; }`;
    assert.match((await callTool(makeTool(now))).join(), expectedResult);
    const asyncThenableTool = `() => { ${deepRecursionCode} ${deepestCallCode} return { then: (ok, bad) => Promise.resolve().then(() => deepest(() => ${settleCode})) }; }`;
    assert.match((await callTool(makeTool(asyncThenableTool))).join(), expectedResult);
  }
});

test('progress reports are sent once per task, and before the result', async () => {
  const handlerCode = `async (p, c) => {
    c.reportProgress({ progress: 1, total: 3, message: 'one', status: 's', audience: 'user', loaded: 5 });
    c.reportPercent(50, 'half'); c.reportCount(2, 3, 'two');
    await new Promise((ok) => { resume = ok; });
    c.reportProgress({ message: 'last' });
    return 'end';
  }`;
  const { realm, port } = await openWithTools(makeTool(handlerCode));
  realm.run('resume = undefined');
  port.sendParts('call', 4, 'run', MB, {});
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, []);
  realm.runNextTask();
  assert.deepEqual(port.receivedTexts.splice(0), [
    'p 4 3 0 [{"progress":1,"total":3,"loaded":5,"message":"one","status":"s","audience":"user"},{"percent":50,"message":"half"},{"progress":2,"total":3,"message":"two"}]',
  ]);
  realm.run('resume()');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['p 4 1 0 [{"message":"last"}]', 'r 4 "end"']);
  realm.runNextTask();
  assert.equal(port.receivedTexts.length, 2);
});

test('a malformed progress report throws no error and keeps its message', async () => {
  const reports = [
    'undefined',
    '{ progress: NaN, message: "m" }',
    '{ progress: "5" }',
    '{ total: Infinity }',
    '7',
    '{ progress: undefined, total: null }',
    '{ get progress() { throw 1; }, message: "unread" }',
    '{ message: 5, status: "" }',
    'Object.create({ progress: 3 })',
    '{ message: "x".repeat(1999) + "\\ud83d\\ude00" }',
  ];
  const callTexts = await callTool(
    makeTool(`(p, c) => { ${reports.map((reportCallCode) => `c.reportProgress(${reportCallCode});`).join('')} }`),
  );
  assert.deepEqual(callTexts, [
    `p 1 10 0 [{},{"message":"m","invalid":true},{"invalid":true},{"invalid":true},{"invalid":true},{},{"invalid":true},{},{"progress":3},{"message":"${'x'.repeat(1999)}"}]`,
    'n 1',
  ]);
});

test('reportPercent and reportCount accept an audience', async () => {
  const reports = [
    "reportPercent(5, 'p', { audience: 'user' })",
    "reportCount(1, 2, 'c', { audience: 'user' })",
    "reportCount(1, 2, 'c', { audience: '' })",
    "reportPercent(6, 'p', { get audience() { throw 1; } })",
    "reportCount(2, 2, 'c', 'user')",
  ];
  const callTexts = await callTool(
    makeTool(`(p, c) => { ${reports.map((reportCallCode) => `c.${reportCallCode};`).join('')} }`),
  );
  assert.deepEqual(callTexts, [
    'p 1 5 0 [{"percent":5,"message":"p","audience":"user"},{"progress":1,"total":2,"message":"c","audience":"user"},{"progress":1,"total":2,"message":"c"},{"percent":6,"message":"p"},{"progress":2,"total":2,"message":"c"}]',
    'n 1',
  ]);
});

test('progress reports of one loop are sent in batches of 1,000', async () => {
  const callTexts = await callTool(
    makeTool('(p, c) => { for (let i = 0; i < 2500; i++) c.reportProgress({ progress: i }); }'),
  );
  assert.equal(callTexts.pop(), 'n 1');
  const readValues: unknown[] = [];
  for (const progressLine of callTexts) {
    const [, count, skippedReportCount, reports] = /^p 1 (\d+) (\d+) (.*)$/.exec(progressLine) ?? [];
    const batch: unknown = JSON.parse(reports ?? '');
    assert.ok(Array.isArray(batch) && batch.length <= 1000, progressLine.slice(0, 40));
    assert.deepEqual([count, skippedReportCount], [`${batch.length}`, '0']);
    readValues.push(...batch);
  }
  assert.deepEqual(
    readValues,
    Array.from({ length: 2500 }, (_, progress) => ({ progress })),
  );
});

test('a progress report after the end of its call is ignored', async () => {
  const { realm, port } = await openWithTools(makeTool('(p, c) => { late = c; return 1; }'));
  realm.run('late = undefined');
  port.sendParts('call', 1, 'run', MB, {});
  await realm.waitUntilIdle();
  realm.run('late.reportProgress({ progress: 1 }); late.reportPercent(3)');
  realm.runNextTask();
  assert.deepEqual(port.receivedTexts, ['r 1 1']);
});

test('a cancellation aborts the signal with the reason, and the host reports the outcome', async () => {
  const rejectOnAbortCode = `(p, c) => new Promise((ok, bad) => { c.signal.addEventListener('abort', () => { why = c.signal.reason; bad(why); }); })`;
  const { realm, port } = await openWithTools(makeTool(rejectOnAbortCode));
  realm.run('why = undefined');
  port.sendParts('call', 1, 'run', MB, {});
  await realm.waitUntilIdle();
  port.sendParts('cancel', 1, 'the client cancelled');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['a 1']);
  assert.equal(realm.run('why.name + ": " + why.message'), 'AbortError: the client cancelled');
  port.sendParts('cancel', 1, 'again');
  port.sendParts('cancel', 99, 'unknown');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['f 1', 'f 99']);
});

test('the signal of a call is created when the handler first reads it', async () => {
  const realm = makeRealm();
  realm.run(`
    made = 0;
    const Native = AbortController;
    AbortController = function () { made++; return new Native(); };
    AbortController.prototype = Native.prototype;
  `);
  const signalReaderCode =
    '{ name: "reads", handle: (p, c) => [made, c.signal === c.signal, c.signal.aborted, made].join() }';
  const lateAdapter = `{ name: 'late', handle: (p, c) => { seen = () => [made, c.signal.aborted, c.signal.reason.message, made].join(); return new Promise(() => {}); } }`;
  realm.start('demo', 'h1', makeAdapterCode('demo', `${makeTool('() => made')}, ${signalReaderCode}, ${lateAdapter}`));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.receivedTexts.splice(0);
  ['run', 'reads', 'late'].forEach((name, i) => void port?.sendParts('call', i + 1, name, MB, {}));
  await realm.waitUntilIdle();
  assert.deepEqual(port?.receivedTexts, ['r 1 0', 'r 2 "0,true,false,1"']);
  port?.sendParts('cancel', 3, 'stopped early');
  port?.sendParts('cancel', 3, 'again');
  await realm.waitUntilIdle();
  assert.equal(realm.run('seen()'), '1,true,stopped early,2');
});

test('a cancelled handler may clean up before it settles', async () => {
  const cleanupHandlerCode = `async (p, c) => {
    try { await new Promise((ok, bad) => c.signal.addEventListener('abort', bad)); }
    finally { await null; cleaned = true; c.reportProgress({ message: 'too late' }); }
  }`;
  const { realm, port } = await openWithTools(makeTool(cleanupHandlerCode));
  realm.run('cleaned = false');
  port.sendParts('call', 1, 'run', MB, {});
  await realm.waitUntilIdle();
  port.sendParts('cancel', 1, 'stop');
  assert.equal(realm.run('cleaned'), false);
  await realm.waitUntilIdle();
  assert.equal(realm.run('cleaned'), true);
  assert.equal(port.receivedTexts.at(-1), 'a 1');
});

test('a call that is cancelled during isReady() does not run its handler', async () => {
  const { realm, port } = await openWithTools(
    makeTool('() => { ran = true; }'),
    '() => new Promise((ok) => { answer = ok; })',
  );
  realm.run('answer = undefined; ran = false');
  port.sendParts('call', 1, 'run', MB, {});
  await realm.waitUntilIdle();
  port.sendParts('cancel', 1, 'no');
  await realm.waitUntilIdle();
  realm.run('answer(true)');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['a 1']);
  assert.equal(realm.run('ran'), false);
});

test('a handler that ignores a cancellation for 2 s is dropped, and its later reports are ignored', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { realm, port } = await openWithTools(
      makeTool('(p, c) => { keep = c; return new Promise((ok) => { settle = ok; }); }'),
    );
    realm.run('keep = settle = undefined');
    port.sendParts('call', 1, 'run', MB, {});
    await realm.waitUntilIdle();
    port.sendParts('cancel', 1, 'stop');
    await realm.waitUntilIdle();
    mock.timers.tick(2000);
    realm.run('keep.reportPercent(1); settle(1)');
    await realm.waitUntilIdle();
    realm.runNextTask();
    assert.deepEqual(port.receivedTexts, []);
  } finally {
    mock.timers.reset();
  }
});

test('page code that a handler calls cannot read the port from window.event', async () => {
  const callTexts = await callTool(makeTool(`(p, c) => { pageSaw = typeof globalThis.event; return pageSaw; }`));
  assert.deepEqual(callTexts, ['r 1 "undefined"']);
});

test('each plugin has a separate __openTabs, and the window has none', async () => {
  const realm = makeRealm();
  const code = (
    name: string,
  ) => `${makeAdapterCode(name, makeTool('() => Object.keys(globalThis.__openTabs.adapters)'))}
    globalThis.__openTabs.pluginConfig.mine = ${JSON.stringify(name)};
    this.fromThis = 1; window.shared = (window.shared || 0) + 1;`;
  realm.start('a', 'h', code('a'));
  realm.start('b', 'h', code('b'));
  const [firstHost, secondHost] = realm.bridge();
  await realm.waitUntilIdle();
  firstHost?.sendParts('call', 1, 'run', MB, {});
  secondHost?.sendParts('call', 2, 'run', MB, {});
  await realm.waitUntilIdle();
  assert.deepEqual([firstHost?.receivedTexts.at(-1), secondHost?.receivedTexts.at(-1)], ['r 1 ["a"]', 'r 2 ["b"]']);
  assert.equal(realm.run('typeof __openTabs'), 'undefined');
  assert.equal(realm.run('shared'), 2);
});

test('malformed port messages are ignored', async () => {
  const { realm, port } = await openWithTools(makeTool('() => 1'));
  port.sendParts();
  port.sendParts('call');
  port.sendParts('nonsense', 1);
  port.sendParts('call', 1, 'run', MB, {});
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 1']);
});
