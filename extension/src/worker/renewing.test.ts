import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginCodeParams, PluginInfo } from '../../../wire/wire.gen.ts';
import { settle } from '../../test/server.ts';
import type { Live, ToBridge, Vacant } from '../port-message.ts';
import { makeDocs } from './docs.ts';
import { enter } from './doors.ts';
import { makeRenewing } from './renewing.ts';

const demo: PluginInfo = { name: 'demo', displayName: 'Demo', hash: 'h2', script: 's2', world: 'main', base: 'b' };
const fresh: PluginCodeParams = {
  name: 'demo',
  hash: 'h2',
  script: 's2',
  code: '',
  hot: { adapter: 'function(globalThis){ // a comment', waitMs: 1000 },
};
const armed = { op: 'armed', plugin: 'demo', nonce: 'n', based: false } as const;

function makeBench(t: TestContext, plugin: PluginInfo = demo) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const warn = t.mock.method(console, 'warn', () => undefined);
  const docs = makeDocs();
  const got: string[] = [];
  const ran: string[] = [];
  const wanted: { plugin: PluginInfo; code?: string; syntax?: string } = { plugin };
  const fetched: string[] = [];
  const renewing = makeRenewing({
    docs,
    doors: { nameOf: async () => '_door' },
    plugins: () => [wanted.plugin],
    code: async ({ script }) => {
      fetched.push(script);
      if (wanted.code === undefined) throw new Error('there is no link to the server');
      return { code: wanted.code };
    },
    syntax: { problem: async () => wanted.syntax, known: () => undefined },
    run: async (doc, of, code) => {
      if (doc.documentId === 'gone') throw new Error('No document with id');
      ran.push(`${doc.documentId} ${of.name} ${code}`);
      return doc.documentId !== 'deaf';
    },
    nonce: () => 'n',
    changed: () => undefined,
  });
  const join = (documentId: string, plugins: Live[], vacant: Vacant[] = []) => {
    const post = (message: ToBridge) => got.push(`${documentId} ${message.op}`);
    const doc = { tabId: 1, frameId: 0, documentId, url: '', post };
    docs.add(doc);
    docs.named(documentId, plugins, vacant);
    return doc;
  };
  const old = (documentId: string) => join(documentId, [{ name: 'demo', hash: 'h1', base: 'b' }]);
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settle();
  };
  const told = () => warn.mock.calls.map((call) => String(call.arguments[0]));
  return { docs, renewing, got, ran, wanted, fetched, join, old, pass, told };
}

test('the new adapter goes where an older one is, or was, on the same base, once its calls have ended', async (t) => {
  const { renewing, got, ran, join, old, pass } = makeBench(t);
  const doc = old('old');
  join('new', [{ name: 'demo', hash: 'h2', base: 'b' }]);
  join('other base', [{ name: 'demo', hash: 'h1', base: 'c' }]);
  join('without', []);
  join('vacant', [], [{ name: 'demo', base: 'b' }]);
  join('vacant, other base', [], [{ name: 'demo', base: 'c' }]);
  assert.deepEqual(renewing.lacking(), ['demo', 'demo']);
  await renewing.code(fresh);
  await pass(900);
  assert.deepEqual([got, ran], [['old renew', 'vacant renew'], []]);
  renewing.armed(doc, armed);
  await settle();
  assert.deepEqual(ran, [`old demo ${enter('_door', 'n', 'h2', fresh.hot?.adapter ?? '')}`]);
});

test('a document that says it late gets the code as well, however late', async (t) => {
  const { renewing, got, ran, wanted, fetched, join, old, pass } = makeBench(t);
  wanted.code = 'function () {}';
  await renewing.code(fresh);
  await pass(60_000);
  const doc = old('late');
  renewing.named(doc);
  renewing.named(doc);
  await settle();
  renewing.named(join('vacant', [], [{ name: 'demo', base: 'b' }]));
  await settle();
  assert.deepEqual(
    [got, fetched],
    [
      ['late renew', 'vacant renew'],
      ['s2', 's2'],
    ],
  );
  assert.equal(renewing.expects(1, 'demo'), true);
  renewing.armed(doc, armed);
  await settle();
  assert.deepEqual(ran, [`late demo ${enter('_door', 'n', 'h2', 'function () {}')}`]);
  renewing.named(join('other base', [{ name: 'demo', hash: 'h1', base: 'c' }]));
  renewing.named(join('new', [{ name: 'demo', hash: 'h2', base: 'b' }]));
  assert.equal(fetched.length, 2);
});

test('code that can not be fetched now is fetched when the document names its adapters again', async (t) => {
  const { renewing, got, wanted, old } = makeBench(t);
  const doc = old('d');
  renewing.named(doc);
  await settle();
  assert.deepEqual([got, renewing.expects(1, 'demo')], [[], false]);
  wanted.code = 'function () {}';
  renewing.named(doc);
  await settle();
  assert.deepEqual(got, ['d renew']);
});

test('a build that a document refused is not tried there again, and its problem is said until there is another', async (t) => {
  const { docs, renewing, got, wanted, old, told } = makeBench(t);
  const doc = old('d');
  assert.equal(renewing.takes(doc, demo), true, 'no reload while its code is still to come');
  await renewing.code(fresh);
  assert.equal(renewing.problem('d', demo), undefined);
  renewing.renewed(doc, { op: 'renewed', plugin: 'demo', hash: 'h1', problem: 'a typo' });
  assert.equal(renewing.problem('d', demo), 'a typo');
  assert.equal(renewing.takes(doc, demo), false);
  assert.match(told().join(), /tab 1 keeps the old adapter of demo: a typo/);
  renewing.named(old('d')); // the same document on another port
  await renewing.code(fresh);
  assert.deepEqual([got.length, renewing.lacking()], [1, []]);
  wanted.plugin = { ...demo, hash: 'h3', script: 's3' };
  assert.equal(renewing.problem('d', wanted.plugin), undefined);
  assert.deepEqual(renewing.lacking(), ['demo']);
  docs.remove('d');
  renewing.synced([]);
  assert.equal(renewing.problem('d', demo), undefined);
});

test('a build that can not be parsed is refused at once, with the reason', async (t) => {
  const { renewing, got, wanted, old, pass } = makeBench(t);
  wanted.syntax = 'SyntaxError';
  const doc = old('deaf');
  await renewing.code(fresh);
  renewing.armed(doc, armed);
  await settle();
  assert.equal(renewing.problem('deaf', demo), 'SyntaxError');
  await pass(60_000);
  assert.equal(got.length, 1);
});

test('a document that does not answer is asked again, three times', async (t) => {
  const { renewing, got, old, pass, told } = makeBench(t);
  const all = ['gone', 'deaf', 'silent'].map(old);
  renewing.synced(['demo']);
  await renewing.code(fresh);
  for (let i = 0; i < 3; i++) {
    for (const doc of all.slice(0, 2)) renewing.armed(doc, armed);
    await settle();
    await pass(2000);
  }
  assert.match(told().join(), /No document with id.*its door did not take the new one/);
  assert.equal(told().length, 2);
  for (let i = 0; i < 20; i++) await pass(1000);
  assert.match(told()[2] ?? '', /it did not answer/);
  assert.deepEqual([got.length, renewing.expects(1, 'demo'), renewing.lacking()], [9, false, []]);
  for (const { documentId } of all) assert.equal(renewing.problem(documentId, demo), undefined);
});

test('code that is not wanted any more is put nowhere', async (t) => {
  const { renewing, got, ran, wanted, old } = makeBench(t);
  const doc = old('old');
  await renewing.code({ ...fresh, hash: 'h3' });
  await renewing.code({ ...fresh, name: 'other' });
  const { hot: _, ...cold } = fresh;
  await renewing.code(cold);
  assert.deepEqual(got, []);
  await renewing.code(fresh);
  wanted.plugin = { ...demo, name: 'removed' };
  renewing.armed(doc, armed);
  await settle();
  assert.deepEqual(ran, []);
});

test('a tab that is about to get new code needs no reload, one that does not take it does', async (t) => {
  const { renewing, old, pass } = makeBench(t);
  const doc = old('old');
  assert.equal(renewing.expects(1, 'demo'), false, 'nothing was said yet');
  renewing.synced(['other']);
  assert.equal(renewing.expects(1, 'demo'), false, 'its code is not on the way');
  renewing.synced(['demo']);
  assert.equal(renewing.expects(1, 'demo'), true);
  assert.equal(renewing.expects(2, 'demo'), false, 'another tab');
  await renewing.code(fresh);
  renewing.armed(doc, armed);
  await settle();
  assert.equal(renewing.expects(1, 'demo'), true, 'it is being put in');
  renewing.renewed(doc, { op: 'renewed', plugin: 'demo', hash: 'h2' });
  assert.equal(renewing.expects(1, 'demo'), false, 'it is in');
  renewing.synced(['demo']);
  await pass(30_000);
  assert.equal(renewing.expects(1, 'demo'), false, 'its code did not come');
});
