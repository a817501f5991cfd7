import assert from 'node:assert/strict';
import test from 'node:test';
import { type HostPort, makeAdapterCode, makeRealm, type Realm } from '../../test/realm.ts';

async function beginCall(handlerCode: string): Promise<{ realm: Realm; port: HostPort }> {
  const realm = makeRealm();
  realm.start('demo', 'h', makeAdapterCode('demo', `{ name: 'run', handle: async (p, c) => { ${handlerCode} } }`));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  assert.ok(port);
  port.receivedTexts.splice(0);
  port.sendParts('call', 1, 'run', 1 << 20, {});
  await realm.waitUntilIdle();
  return { realm, port };
}

function readReports(port: HostPort): unknown[] {
  return port.receivedTexts.splice(0).flatMap((receivedText): unknown[] => {
    const batch = /^p 1 \d+ \d+ (.*)$/.exec(receivedText);
    return batch ? JSON.parse(batch[1] ?? '') : [receivedText];
  });
}

test('activities are sent as reports, in order', async () => {
  const { port } = await beginCall(`
    c.reportActivity('table', { rows: [] }, { audience: 'user' });
    c.reportProgress({ progress: 1 });
    c.reportActivityDelta('table', { op: 'add', path: '/rows/-', value: 1 }, { audience: 'user' });
    c.reportActivityDelta('table', [{ op: 'remove', path: '/rows/0' }]);
    c.reportActivity('note', null);
    c.reportActivity('text', 'a');`);
  assert.deepEqual(readReports(port), [
    { activity: { type: 'table', content: { rows: [] } }, audience: 'user' },
    { progress: 1 },
    { activity: { type: 'table', patch: [{ op: 'add', path: '/rows/-', value: 1 }] }, audience: 'user' },
    { activity: { type: 'table', patch: [{ op: 'remove', path: '/rows/0' }] } },
    { activity: { type: 'note', content: null } },
    { activity: { type: 'text', content: 'a' } },
    'n 1',
  ]);
});

test('an invalid activity becomes an invalid report, and nothing throws', async () => {
  const { port } = await beginCall(`
    const cyclic = {}; cyclic.a = cyclic;
    for (const type of [undefined, '', 5, 'x'.repeat(101)]) c.reportActivity(type, 1);
    for (const content of [undefined, () => 1, cyclic, 'x'.repeat(256 * 1024), '€'.repeat(90 * 1024)]) c.reportActivity('t', content);
    for (const patch of [undefined, null, 'text', cyclic]) c.reportActivityDelta('t', patch);
    c.reportActivity(); c.reportActivityDelta(); c.endAudience(5); c.endAudience();
    c.reportActivity('t', 'x'.repeat(256 * 1024 - 2), 7);`);
  const allReports = readReports(port);
  assert.equal(allReports.length, 17);
  for (const report of allReports.slice(0, 15)) assert.deepEqual(report, { invalid: true });
  assert.match(JSON.stringify(allReports[15]), /^{"activity":{"type":"t","content":"x+"}}$/);
});

test('the last report of a successful call contains the audience that endAudience set', async () => {
  const audienceCases: [string, unknown[]][] = [
    [
      `c.endAudience('internal'); c.endAudience('user'); c.reportProgress({ progress: 1 }); return 1`,
      [{ progress: 1 }, { endAudience: 'user' }, 'r 1 1'],
    ],
    [`c.endAudience('user')`, [{ endAudience: 'user' }, 'n 1']],
    [`c.endAudience('user'); throw new Error('no')`, ['e 1 {"code":"tool_error","message":"no"}']],
  ];
  for (const [handlerCode, expectedReports] of audienceCases) {
    const receivedReports = readReports((await beginCall(handlerCode)).port);
    const isLogEntry = (portMessage: unknown) => typeof portMessage === 'string' && portMessage.startsWith('l ');
    assert.deepEqual(
      receivedReports.filter((portMessage) => !isLogEntry(portMessage)),
      expectedReports,
    );
  }
});

const waitStatement = 'await new Promise((ok) => { go = ok; });';

test('a resync resends the last complete content of an activity and all later patches', async () => {
  const { realm, port } = await beginCall(`
    c.reportActivity('a', 1); c.reportActivity('a', { n: 0 }, { audience: 'user' });
    c.reportActivity('b', 'other');
    for (let i = 1; i <= 3; i++) c.reportActivityDelta('a', { op: 'replace', path: '/n', value: i });
    ${waitStatement}
    c.reportActivity('a', 'new');
    ${waitStatement}`);
  realm.runNextTask();
  const earlierReports = readReports(port);
  port.sendParts('resync', 1, 'a');
  port.sendParts('resync', 1, 'unknown');
  port.sendParts('resync', 9, 'a');
  await realm.waitUntilIdle();
  realm.runNextTask();
  assert.match(port.receivedTexts[0] ?? '', /^p 1 4 0 /);
  const laterReports = readReports(port);
  assert.deepEqual(laterReports, [earlierReports[1], ...earlierReports.slice(3)]);
  port.sendParts('resync', 1, '');
  await realm.waitUntilIdle();
  realm.runNextTask();
  assert.deepEqual(readReports(port), [earlierReports[1], ...earlierReports.slice(3), earlierReports[2]]);
  realm.run('go()');
  await realm.waitUntilIdle();
  realm.runNextTask();
  port.receivedTexts.splice(0);
  port.sendParts('resync', 1, 'a');
  await realm.waitUntilIdle();
  realm.runNextTask();
  assert.deepEqual(readReports(port), [{ activity: { type: 'a', content: 'new' } }]);
});

test('a resync does not resend invalid activities', async () => {
  const { realm, port } = await beginCall(`
    c.reportActivity('a', 1); c.reportActivityDelta('a', 'no patch'); c.reportActivity('a', () => 1); ${waitStatement}`);
  realm.runNextTask();
  assert.equal(readReports(port).length, 3);
  port.sendParts('resync', 1, 'a');
  await realm.waitUntilIdle();
  realm.runNextTask();
  assert.deepEqual(readReports(port), [{ activity: { type: 'a', content: 1 } }]);
});

test('a resync resends the same content of an activity at most 8 times', async () => {
  const { realm, port } = await beginCall(
    `c.reportActivity('a', 1); ${waitStatement} c.reportActivity('a', 2); ${waitStatement}`,
  );
  realm.runNextTask();
  port.receivedTexts.splice(0);
  const requestResync = async () => {
    for (let i = 0; i < 20; i++) port.sendParts('resync', 1, 'a');
    await realm.waitUntilIdle();
    realm.runNextTask();
    return readReports(port).length;
  };
  assert.equal(await requestResync(), 8);
  realm.run('go()');
  await realm.waitUntilIdle();
  realm.runNextTask();
  assert.equal(readReports(port).length, 1);
  assert.equal(await requestResync(), 8);
});

test('at most 1 MiB and 16 activities of a call are stored for a resync', async () => {
  const { realm, port } = await beginCall(`
    const big = 'x'.repeat(200 * 1024);
    for (let i = 0; i < 20; i++) c.reportActivity('many' + i, i);
    c.reportActivity('many0', big);
    for (let i = 0; i < 6; i++) c.reportActivityDelta('many0', { op: 'add', path: '', value: big });
    ${waitStatement}`);
  realm.runNextTask();
  port.receivedTexts.splice(0);
  const receivedNumbers: number[] = [];
  for (let i = 0; i < 20; i++) {
    port.sendParts('resync', 1, `many${i}`);
    await realm.waitUntilIdle();
    realm.runNextTask();
    if (readReports(port).length > 0) receivedNumbers.push(i);
  }
  assert.deepEqual(receivedNumbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
});
