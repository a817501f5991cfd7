import assert from 'node:assert/strict';
import test from 'node:test';
import { makeAdapterCode, makeRealm } from '../../test/realm.ts';

async function readLogOfHandler(
  handlerCode: string,
  toolFields = '',
  setupCode = '',
): Promise<readonly Record<string, unknown>[]> {
  const realm = makeRealm();
  realm.start('demo', 'h1', makeAdapterCode('demo', `{ name: 'run', handle: ${handlerCode}${toolFields} }`));
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  realm.run(setupCode);
  port.receivedTexts.splice(0);
  port.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  const [logEntries] = port.receivedTexts.flatMap((receivedText) =>
    receivedText.startsWith('l ') ? [receivedText.replace(/^l \d+ \d+ /, '')] : [],
  );
  return logEntries === undefined ? [] : JSON.parse(logEntries);
}

test('the log names each part of a result that JSON cannot represent, with its path', async () => {
  for (const [handlerCode, expectedEntry] of [
    ['() => ({ items: [1, { p: Promise.resolve(1) }] })', /^run: items\[1\]\.p is a promise, .* Add an await\.$/],
    ['() => [new Map()]', /^run: result\[0\] is a Map/],
    ['() => new Set()', /^run: the result is a Set/],
    ['() => ({ e: new TypeError("x") })', /^run: e is an Error/],
    ['() => ({ f() {} })', /^run: f is a function, which JSON leaves out/],
    ['() => ({ c: new (class Song { get a() {} get b() {} })() })', /^run: c is an instance of Song: .*\(a, b\)/],
    ['() => ({ c: new (class Song { #a = 1 })() })', /^run: c is an instance of Song without public fields/],
    ['() => ({ n: { nodeType: 1, nodeName: "DIV", __proto__: { x: 1 } } })', /^run: n is a DOM node \(DIV\)/],
  ] as const) {
    const [logEntry] = await readLogOfHandler(handlerCode);
    assert.equal(logEntry?.level, 'warning', handlerCode);
    assert.match(String(logEntry?.message), expectedEntry);
  }
});

test('the log has no hint about a result that JSON represents fully, and at most three hints per result', async () => {
  const losslessCode = `() => ({ a: 1n, d: new Date(0), u: new URL('https://a.b'), j: { toJSON: () => 1 },
    c: new (class { a = 1 })(), n: Object.create(null), s: new String('s'), x: undefined, l: [, 1] })`;
  assert.deepEqual(await readLogOfHandler(losslessCode), []);
  assert.equal((await readLogOfHandler('() => [1, 2, 3, 4, 5].map(() => () => 1)')).length, 3);
});

test('the log reports a missing return only if the output schema requires a result', async () => {
  const output = (type: string) => `, output: { def: { type: '${type}' } }`;
  const [logEntry] = await readLogOfHandler('() => undefined', output('object'));
  assert.equal(
    logEntry?.message,
    'run: the handler returned undefined, but the tool has an output schema. Is a return missing?',
  );
  for (const toolFields of [output('void'), output('optional'), ''])
    assert.deepEqual(await readLogOfHandler('() => undefined', toolFields), []);
});

test('the log contains the stack trace of a thrown error and advice', async () => {
  const [error] = await readLogOfHandler('() => { throw new TypeError("Failed to fetch") }');
  assert.equal(error?.level, 'error');
  assert.match(String(error?.message), /^run failed: Failed to fetch\nThe browser got no answer .*\(CORS\)/);
  assert.match(String(error?.stack), /^TypeError: Failed to fetch\n +at .*:\d+:\d+/);
  const [receivedText] = await readLogOfHandler('() => { throw "no luck" }');
  assert.match(String(receivedText?.message), /^run failed: no luck\nThe tool threw a text/);
  assert.equal(receivedText?.stack, undefined);
  const [codedErrorEntry] = await readLogOfHandler(
    '() => { throw Object.assign(new Error("gone"), { code: "NOT_FOUND" }) }',
  );
  assert.equal(codedErrorEntry?.level, 'debug');
});

test("the page's Error.prepareStackTrace does not receive the error, and is not removed", async () => {
  const throwingHook = 'Error.prepareStackTrace = () => { throw new Error("the hook ran") }';
  const handlerCode = '() => { throw globalThis.made ??= new TypeError("x") }';
  const [logEntry] = await readLogOfHandler(handlerCode, '', throwingHook);
  assert.match(String(logEntry?.stack), /^TypeError: x\n/);
  const [lockedEntry] = await readLogOfHandler(
    handlerCode,
    '',
    'Object.defineProperty(Error, "prepareStackTrace", { value: () => "x" })',
  );
  assert.deepEqual([lockedEntry?.level, lockedEntry?.stack], ['error', undefined]);
});
