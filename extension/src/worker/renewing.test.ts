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
  const wanted = { plugin };
  const renewing = makeRenewing({
    docs,
    doors: { nameOf: async () => '_door' },
    plugin: (name) => (name === wanted.plugin.name ? wanted.plugin : undefined),
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
  return { docs, renewing, got, ran, wanted, join, old, pass, told };
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
  renewing.said(doc, armed);
  await settle();
  assert.deepEqual(ran, [`old demo ${enter('_door', 'n', 'h2', fresh.hot?.adapter ?? '')}`]);
});

test('a document that says it late gets the code as well, one that refused it gets it no more', async (t) => {
  const { renewing, got, old, pass, told } = makeBench(t);
  await renewing.code(fresh);
  const doc = old('late');
  renewing.named(doc);
  renewing.named(doc);
  assert.deepEqual(got, ['late renew']);
  renewing.said(doc, { op: 'renewed', plugin: 'demo', hash: 'h1', problem: 'a typo' });
  renewing.named(doc);
  await renewing.code(fresh);
  assert.deepEqual([got.length, renewing.lacking()], [1, []]);
  assert.match(told().join(), /tab 1 keeps the old adapter of demo: a typo/);
  await pass(10_000);
  renewing.named(old('too late'));
  assert.equal(got.length, 1);
});

test('a document that goes, or does not answer, keeps nobody waiting', async (t) => {
  const { renewing, old, pass, told } = makeBench(t);
  const docs = ['gone', 'deaf', 'silent'].map(old);
  renewing.synced(['demo']);
  await renewing.code(fresh);
  for (const doc of docs.slice(0, 2)) renewing.said(doc, armed);
  await settle();
  assert.match(told().join(), /No document with id.*its door did not take the new one/);
  await pass(5999);
  assert.equal(told().length, 2);
  await pass(1);
  assert.match(told()[2] ?? '', /it did not answer/);
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
  renewing.said(doc, armed);
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
  renewing.said(doc, armed);
  await settle();
  assert.equal(renewing.expects(1, 'demo'), true, 'it is being put in');
  renewing.said(doc, { op: 'renewed', plugin: 'demo', hash: 'h2' });
  assert.equal(renewing.expects(1, 'demo'), false, 'it is in');
  renewing.synced(['demo']);
  await pass(30_000);
  assert.equal(renewing.expects(1, 'demo'), false, 'its code did not come');
});
