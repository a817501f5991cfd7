import assert from 'node:assert/strict';
import test from 'node:test';
import { hostileCode, makeAdapterCode, makeRealm, type Realm } from '../../test/realm.ts';

// The handlers in `tools` use no built-in functions, so every use that the page observes comes from the host.
const tools = `
  { name: 'value', handle: (p) => ({ secret: p.secret, list: [p.secret] }) },
  { name: 'promise', handle: () => given },
  { name: 'thrown', handle: () => { throw made; } },
  { name: 'type', handle: () => { throw wrong; } },
  { name: 'list', handle: () => list },
  { name: 'reports', handle: (p, c) => { c.reportProgress({ progress: 1, message: p.secret }); c.reportPercent(2, p.secret); c.reportCount(1, 2); return 1; } },
  { name: 'checked', input: { safeParse: (v) => ({ __proto__: null, success: true, data: v }) }, handle: (p) => p.secret },
  { name: 'wrong', input: { safeParse: () => ({ __proto__: null, success: false, error: { __proto__: null, issues: [{ __proto__: null, path: ['a', 0], message: 'no' }] } }) }, handle: () => 1 },
  { name: 'calls', handle: async (p, c) => { const got = await c.call('other', p); return got.secret + got.list[0]; } },
  { name: 'returns', handle: (p, c) => c.call('other', p) },
  { name: 'chains', handle: (p, c) => c.call('other', p).then((v) => v.secret).catch(() => 0).finally(() => 0) },
  { name: 'fails', handle: (p, c) => c.call('other', p) },
  { name: 'forgets', handle: (p, c) => { c.call('other', p); return 1; } },
  { name: 'withdraws', handle: (p, c) => { const asked = c.call('other', p, { signal: mine }); stopMine('S3CRET'); return asked; } },
  { name: 'showing', handle: (p, c) => { c.reportActivity('t', { secret: p.secret }, { audience: 'user' }); return never; } },
  { name: 'user', handle: (p, c) => c.waitForUser({ reason: p.secret }) },
  { name: 'shows', handle: (p, c) => { c.reportActivity('t', { secret: p.secret }, { audience: 'user' }); c.reportActivityDelta('t', op); c.reportActivityDelta('t', [op]); c.endAudience('user'); return 1; } },
  { name: 'logs', handle: (p) => { log({ __proto__: null, level: 'error', message: p.secret, data: [p.secret, { __proto__: null, s: p.secret }] }); return 1; } },
  { name: 'config', handle: () => globalThis.__openTabs.pluginConfig },
  { name: 'notifies', handle: () => globalThis.__openTabs._notifyReadinessChanged() },
  { name: 'sleeps', handle: () => { const set = globalThis.__openTabs._setTimer; set(1000, () => {})(); set(0, () => {}); return 1; } },
  { name: 'decided', handle: (p, c) => c.decision.secret },
  { name: 'waits', handle: () => never },
  { name: 'big', handle: () => 'aaaaaaaaaaaaaaaaaaaa' },
  { name: 'wide', handle: () => 'ééééé' },
  { name: 'mixed', handle: (p) => ({ __proto__: null, page: planted, secret: p.secret, deep: { __proto__: null, secret: p.secret } }) },
  { name: 'schema', input: schema, handle: (p) => p }`;

/** The constant `schema` uses built-in functions at each step and reads optional fields, as the schemas of zod do. */
const schema = `{ safeParse(data) {
  const out = {};
  for (const [key, value] of Object.entries(data)) out[key] = Array.isArray(value) ? [...value.map((v) => String(v).trim())] : value;
  const seen = new Map(Object.keys(out).map((k) => [k, 1]));
  if (data.limit !== undefined) out.limit = data.limit;
  const issues = [...seen.keys()].filter((key) => /^bad/.test(key)).map((key) => ({ path: [key], message: 'no ' + JSON.stringify(data[key]) }));
  return issues.length > 0 ? { success: false, error: { get issues() { return issues.slice(); } } } : { success: true, data: { limit: 10, ...out } };
} }`;

const pageAttackSetupCode = `
  const schema = ${schema};
  let log; globalThis.__openTabs._setLogTransport = (fn) => { log = fn; };
  const given = Promise.resolve('S3CRET'); const op = { op: 'add', path: '/a', value: ['S3CRET'] };
  const controller = new AbortController(); const mine = controller.signal; const stopMine = controller.abort.bind(controller); const never = new Promise(() => {}); const made = new Error('S3CRET');
  const wrong = new TypeError('S3CRET'); const list = ['S3CRET'];
  const yes = Promise.resolve(true);`;

/** openHostilePage returns a page whose script, which runs after the host has started, attacks the host. */
async function openHostilePage() {
  const realm = makeRealm();
  realm.start('demo', 'h', pageAttackSetupCode + makeAdapterCode('demo', tools, '() => yes'));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  assert.ok(port);
  assert.deepEqual(port.receivedTexts.splice(0), ['ready']);
  realm.addContent();
  realm.run(`page = ${hostileCode}`);
  return { realm, port };
}

function listBuiltInsSeenByPage(realm: Realm): string[] {
  const saw = realm.run('page.saw');
  return Array.isArray(saw) ? Array.from({ length: saw.length }, (_, i) => String(saw[i])) : [];
}

const args = { secret: 'S3CRET' };
const attackCases: [string, unknown[][], string[]][] = [
  ['a result', [['call', 1, 'value', 1 << 20, args]], ['r 1 {"secret":"S3CRET","list":["S3CRET"]}']],
  ['a promise', [['call', 1, 'promise', 1 << 20, {}]], ['r 1 "S3CRET"']],
  ['an error', [['call', 1, 'thrown', 1 << 20, {}]], ['e 1 {"code":"tool_error","message":"S3CRET"}']],
  ['an error of another class', [['call', 1, 'type', 1 << 20, {}]], ['e 1 {"code":"tool_error","message":"S3CRET"}']],
  ['an array', [['call', 1, 'list', 1 << 20, {}]], ['r 1 ["S3CRET"]']],
  [
    'reports',
    [['call', 1, 'reports', 1 << 20, args]],
    ['p 1 3 0 [{"progress":1,"message":"S3CRET"},{"percent":2,"message":"S3CRET"},{"progress":1,"total":2}]', 'r 1 1'],
  ],
  ['arguments that a schema checks', [['call', 1, 'checked', 1 << 20, args]], ['r 1 "S3CRET"']],
  [
    'wrong arguments',
    [['call', 1, 'wrong', 1 << 20, args]],
    ['e 1 {"code":"invalid_arguments","message":"the arguments of wrong are not valid:\\na[0]: no"}'],
  ],
  [
    'a result that is too large',
    [['call', 1, 'big', 10, {}]],
    ['e 1 {"code":"result_too_large","message":"the result of big has 22 bytes, the limit is 10 bytes"}'],
  ],
  [
    'a result that must be measured',
    [['call', 1, 'wide', 11, {}]],
    ['e 1 {"code":"result_too_large","message":"the result of wide has 12 bytes, the limit is 11 bytes"}'],
  ],
  [
    'an unknown tool',
    [['call', 1, 'none', 10, {}]],
    ['e 1 {"code":"unknown_tool","message":"the plugin demo has no tool none in this tab"}'],
  ],
  [
    'a cancellation',
    [
      ['call', 1, 'waits', 10, {}],
      ['cancel', 1, 'S3CRET'],
      ['cancel', 2, 'S3CRET'],
    ],
    ['f 2', 'a 1'],
  ],
];

attackCases.push(
  [
    'arguments of a schema that looks up built-ins',
    [['call', 1, 'schema', 1 << 20, { secret: 'S3CRET', list: [' S3CRET '] }]],
    ['r 1 {"limit":10,"secret":"S3CRET","list":["S3CRET"]}'],
  ],
  [
    'wrong arguments of a schema that looks up built-ins',
    [['call', 1, 'schema', 1 << 20, { bad: 'S3CRET' }]],
    ['e 1 {"code":"invalid_arguments","message":"the arguments of schema are not valid:\\nbad: no \\"S3CRET\\""}'],
  ],
);

const secretArguments = { secret: 'S3CRET', list: ['S3CRET'] };
const toolRequestText = 'q 1 1 {"call":{"tool":"other","args":{"secret":"S3CRET"}}}';
const activityReportText = '{"activity":{"type":"t","content":{"secret":"S3CRET"}},"audience":"user"}';
const patchReportText = '{"activity":{"type":"t","patch":[{"op":"add","path":"/a","value":["S3CRET"]}]}}';
attackCases.push(
  [
    'the result of a nested call',
    [
      ['call', 1, 'calls', 1 << 20, args],
      ['answer', 1, 1, true, secretArguments],
    ],
    [toolRequestText, 'r 1 "S3CRETS3CRET"'],
  ],
  [
    'the promise of a nested call as a result',
    [
      ['call', 1, 'returns', 1 << 20, args],
      ['answer', 1, 1, true, secretArguments],
    ],
    [toolRequestText, 'r 1 {"secret":"S3CRET","list":["S3CRET"]}'],
  ],
  [
    'then, catch and finally of a nested call',
    [
      ['call', 1, 'chains', 1 << 20, args],
      ['answer', 1, 1, true, secretArguments],
    ],
    [toolRequestText, 'r 1 "S3CRET"'],
  ],
  [
    'the error of a nested call',
    [
      ['call', 1, 'fails', 1 << 20, args],
      ['answer', 1, 1, false, { code: 'tool_error', message: 'S3CRET', tool: { code: 'MINE', retryable: false } }],
    ],
    [toolRequestText, 'e 1 {"code":"tool_error","message":"S3CRET","tool":{"code":"MINE","retryable":false}}'],
  ],
  ['an ask without await', [['call', 1, 'forgets', 1 << 20, args]], [toolRequestText, 'r 1 1']],
  [
    'a cancellation during a nested call',
    [
      ['call', 1, 'returns', 1 << 20, args],
      ['resync', 1, 'none'],
      ['cancel', 1, 'S3CRET'],
    ],
    [toolRequestText, 'a 1'],
  ],
  [
    'a wait for the user',
    [
      ['call', 1, 'user', 1 << 20, args],
      ['answer', 1, 1, true],
    ],
    ['q 1 1 {"user":{"reason":"S3CRET"}}', 'n 1'],
  ],
  [
    'a denial by the user',
    [
      ['call', 1, 'user', 1 << 20, args],
      ['answer', 1, 1, false, { code: 'denied', message: 'S3CRET' }],
    ],
    [
      'q 1 1 {"user":{"reason":"S3CRET"}}',
      'e 1 {"code":"tool_error","message":"S3CRET","tool":{"code":"user_denied","retryable":false}}',
    ],
  ],
  [
    'an ask that is withdrawn',
    [['call', 1, 'withdraws', 1 << 20, args]],
    [
      toolRequestText,
      'q 1 1 {"withdrawn":true}',
      'e 1 {"code":"tool_error","message":"aborted: S3CRET","tool":{"code":"aborted","retryable":false}}',
    ],
  ],
  [
    'an activity that is sent again',
    [
      ['call', 1, 'showing', 1 << 20, args],
      ['resync', 1, ''],
    ],
    [`p 1 2 0 [${activityReportText},${activityReportText}]`],
  ],
  [
    'activities',
    [['call', 1, 'shows', 1 << 20, args]],
    [`p 1 4 0 [${activityReportText},${patchReportText},${patchReportText},{"endAudience":"user"}]`, 'r 1 1'],
  ],
  ['a decision of the user', [['call', 1, 'decided', 1 << 20, {}, false, secretArguments]], ['r 1 "S3CRET"']],
);

attackCases.push(
  [
    'settings',
    [
      [
        'settings',
        { values: { key: 'S3CRET' }, urls: { at: { far: 'https://S3CRET.example', here: 'http://localhost:8000' } } },
      ],
      ['call', 1, 'config', 1 << 20, {}],
    ],
    ['r 1 {"key":"S3CRET","at":"http://localhost:8000"}'],
  ],
  ['a readiness probe', [['probe'], ['call', 1, 'notifies', 1 << 20, {}]], ['n 1']],
  ['messages of another version', [['renew', 'S3CRET', 'S3CRET'], ['begin'], ['unknown', 'S3CRET']], ['armed S3CRET']],
  ['a timer', [['call', 1, 'sleeps', 1 << 20, {}], ['wake']], ['r 1 1', 'w 0']],
  ['the removal of the plugin', [['remove']], []],
);

for (const [name, attackMessages, expectedMessages] of attackCases) {
  test(`page: a hostile page observes nothing of ${name}`, async () => {
    const { realm, port } = await openHostilePage();
    realm.run('page.watch()');
    for (const attackMessage of attackMessages) {
      // The host accepts an answer or a resync only while a handler runs, but accepts a cancellation at any time.
      if (attackMessage[0] === 'answer' || attackMessage[0] === 'resync') await realm.waitUntilIdle();
      port.sendParts(...attackMessage);
    }
    await realm.waitUntilIdle();
    realm.runNextTask();
    const isLogEntry = (attackMessage: string) => attackMessage.startsWith('l ');
    assert.deepEqual(
      port.receivedTexts.filter((attackMessage) => !isLogEntry(attackMessage)),
      expectedMessages,
    );
    assert.deepEqual(listBuiltInsSeenByPage(realm), []);
  });
}

test('page: a hostile page cannot observe log messages', async () => {
  const { realm, port } = await openHostilePage();
  realm.run('page.watch()');
  port.sendParts('call', 1, 'logs', 1 << 20, args);
  await realm.waitUntilIdle();
  realm.runNextTask();
  assert.deepEqual(listBuiltInsSeenByPage(realm), []);
  const secretEntry = '{"level":"error","message":"S3CRET","data":["S3CRET",{"s":"S3CRET"}],"atMs":';
  assert.deepEqual(
    port.receivedTexts.map((receivedText) => receivedText.slice(0, 6 + secretEntry.length + 1)),
    [`l 1 0 [${secretEntry}`, 'r 1 1'],
  );
});

test('page: the hostile page of these tests detects each use of its built-in functions', async () => {
  const { realm } = await openHostilePage();
  realm.run('page.watch(); JSON.stringify({}); [].push(1); ({}).then; new Promise(() => 0)');
  assert.match(
    String(realm.run('page.saw.join()')),
    /JSON\.stringify.*Array\.prototype\.push.*Object\.prototype\.then.*new Promise/,
  );
});

for (const isLocked of [true, false]) {
  test(`page: the host does not call a ${isLocked ? 'non-configurable' : 'configurable'} toJSON of the page`, async () => {
    const { realm, port } = await openHostilePage();
    realm.run(`delete Object.prototype.toJSON; forge = { __proto__: null, configurable: ${!isLocked}, value() { taken = this; return 'forged'; } };
      Object.defineProperty(Object.prototype, 'toJSON', forge); Object.defineProperty(Array.prototype, 'toJSON', forge); taken = 0`);
    port.sendParts('call', 1, 'value', 1 << 20, args);
    await realm.waitUntilIdle();
    assert.deepEqual(port.receivedTexts, ['r 1 {"secret":"S3CRET","list":["S3CRET"]}']);
    assert.equal(realm.run('taken'), 0);
  });
}

test('page: a toJSON that defines another toJSON during serialization does not affect later values', async () => {
  const { realm, port } = await openHostilePage();
  realm.run(`planted = { __proto__: null, toJSON() { Object.defineProperty(Object.prototype, 'toJSON', { __proto__: null, configurable: true, value() { taken = this; return 'forged'; } });
    return 'of the page'; } }; taken = 0`);
  port.sendParts('call', 1, 'mixed', 1 << 20, args);
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 {"page":"of the page","secret":"S3CRET","deep":{"secret":"S3CRET"}}']);
  assert.equal(realm.run('taken'), 0);
});

test('page: the adapter does not get a non-configurable __openTabs of the page', async () => {
  const realm = makeRealm();
  realm.run(`Object.defineProperty(window, '__openTabs', { value: { adapters: {} } })`);
  realm.start('demo', 'h', pageAttackSetupCode + makeAdapterCode('demo', tools, '() => yes'));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.sendParts('call', 1, 'value', 1 << 20, args);
  await realm.waitUntilIdle();
  assert.deepEqual(port?.receivedTexts, ['ready', 'r 1 {"secret":"S3CRET","list":["S3CRET"]}']);
});

test("page: a page function that is called on the adapter's globalThis gets the page's window as this", async () => {
  const realm = makeRealm();
  realm.run('function pageFn() { saw = this; return this === window && arguments[0] === window; }');
  const calls = `{ name: 'run', handle: () => [globalThis.pageFn(globalThis.window.window), globalThis.window === globalThis] }`;
  realm.start('demo', 'h', makeAdapterCode('demo', calls));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  assert.equal(realm.run('typeof saw.__openTabs'), 'undefined');
  assert.equal(port?.receivedTexts.at(-1), 'r 1 [true,true]');
});

test("page: an adapter's globalThis as an argument becomes the page's window", async () => {
  const realm = makeRealm();
  realm.run(
    `got = []; function collect(a) { got[got.length] = a; } function Made(a, b) { got[got.length] = b; this.made = 1; }`,
  );
  const calls = `{ name: 'run', handle: () => {
    globalThis.collect(globalThis);
    const made = new globalThis.Made(1, globalThis);
    class Sub extends globalThis.Made {}
    return [made.made, made instanceof globalThis.Made, new Sub(1, globalThis) instanceof Sub];
  } }`;
  realm.start('demo', 'h', makeAdapterCode('demo', calls));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  assert.equal(port?.receivedTexts.at(-1), 'r 1 [1,true,true]');
  assert.equal(realm.run('got.length === 3 && got.every((g) => g === window)'), true);
});

test("page: a page that obtains the adapter's container cannot replace the adapter", async () => {
  const realm = makeRealm();
  realm.run('function pageFn() {}');
  // The adapter uses the page's Reflect to pass its globalThis to a function of the page.
  const calls = `{ name: 'run', handle: (p) => { Reflect.apply(pageFn, globalThis, []); return p.secret; } }`;
  realm.start('demo', 'h', makeAdapterCode('demo', calls));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  realm.run(`
    const forged = Object.freeze({ isReady: () => true, tools: [{ name: 'run', handle: () => 'forged' }] });
    pageFn = function () { replaced = typeof this.__openTabs; this.__openTabs = { adapters: { demo: forged } }; };`);
  for (const call of [1, 2]) port?.sendParts('call', call, 'run', 1 << 20, args);
  await realm.waitUntilIdle();
  assert.equal(realm.run('replaced'), 'object');
  assert.deepEqual(port?.receivedTexts, ['ready', 'r 1 "S3CRET"', 'r 2 "S3CRET"']);
});

test('page: the answer to a tool request does not reach a non-configurable then of the page', async () => {
  const { realm, port } = await openHostilePage();
  realm.run(
    `delete Object.prototype.then; Object.defineProperty(Object.prototype, 'then', { __proto__: null, value(ok) { taken = this; ok('forged'); } }); taken = 0`,
  );
  port.sendParts('call', 1, 'calls', 1 << 20, args);
  await realm.waitUntilIdle();
  port.sendParts('answer', 1, 1, true, secretArguments);
  await realm.waitUntilIdle();
  assert.equal(port.receivedTexts[1], 'r 1 "S3CRETS3CRET"');
  assert.equal(realm.run('taken'), 0);
});

test("page: after the answer to a tool request, the host restores the page's then", async () => {
  const { realm, port } = await openHostilePage();
  realm.run(
    `delete Object.prototype.then; Object.defineProperty(Object.prototype, 'then', { __proto__: null, configurable: true, value: 'bait' })`,
  );
  port.sendParts('call', 1, 'calls', 1 << 20, args);
  await realm.waitUntilIdle();
  port.sendParts('answer', 1, 1, true, secretArguments);
  await realm.waitUntilIdle();
  assert.equal(port.receivedTexts[1], 'r 1 "S3CRETS3CRET"');
  assert.equal(realm.run('({}).then'), 'bait');
});

test('page: the error of a tool request reaches no rejection listener or stack formatter of the page', async () => {
  const { realm, port } = await openHostilePage();
  realm.run('formatted = 0; Error.prepareStackTrace = () => { formatted++; return "x"; }');
  const unhandledRejections: unknown[] = [];
  const onUnhandledRejection = (reason: unknown) => unhandledRejections.push(reason);
  process.on('unhandledRejection', onUnhandledRejection);
  port.sendParts('call', 1, 'forgets', 1 << 20, args);
  port.sendParts('call', 2, 'fails', 1 << 20, args);
  await realm.waitUntilIdle();
  port.sendParts('answer', 2, 1, false, { code: 'denied', message: 'S3CRET' });
  await realm.waitUntilIdle();
  await new Promise((resolvePromise) => setImmediate(resolvePromise));
  process.off('unhandledRejection', onUnhandledRejection);
  assert.deepEqual([unhandledRejections, realm.run('formatted')], [[], 0]);
});
