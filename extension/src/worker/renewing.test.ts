import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginCodeParams, PluginInfo } from '../../../wire/wire.gen.ts';
import { settle } from '../../test/server.ts';
import type { ToBridge } from '../port-message.ts';
import { makeDocs } from './docs.ts';
import { makeRenewing } from './renewing.ts';

const dev: PluginInfo = { name: 'demo', displayName: 'Demo', hash: 'h2', script: 's2', world: 'main', dev: true };
const fresh: PluginCodeParams = {
  name: 'demo',
  hash: 'h2',
  script: 's2',
  code: '',
  hot: { adapter: 'function(globalThis){ // last line is a comment' },
};

function makeBench(t: TestContext, plugin: PluginInfo = dev) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const docs = makeDocs();
  const got: string[] = [];
  const ran: string[] = [];
  const renewing = makeRenewing({
    docs,
    doors: { nameOf: async (name) => `_${name}` },
    plugin: (name) => (name === plugin.name ? plugin : undefined),
    run: async (tabId, documentId, code) => {
      if (documentId === 'gone') throw new Error('No document with id');
      ran.push(`${tabId} ${documentId} ${code}`);
      return documentId !== 'doorless';
    },
    nonce: () => 'n',
  });
  const join = (documentId: string, ...hashes: string[]) => {
    const post = (message: ToBridge) => got.push(`${documentId} ${JSON.stringify(message)}`);
    docs.add({ tabId: 1, frameId: 0, documentId, url: '', post });
    docs.named(
      documentId,
      hashes.map((hash) => ({ name: 'demo', hash })),
    );
  };
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settle();
  };
  return { renewing, got, ran, join, pass };
}

test('where an older adapter is live the new one comes through the door, once it is armed', async (t) => {
  const { renewing, got, ran, join } = makeBench(t);
  join('old', 'h1');
  join('new', 'h2');
  join('without');
  const done = renewing.code(fresh);
  await settle();
  assert.deepEqual(got, ['old {"op":"renew","plugin":"demo","hash":"h2","nonce":"n"}']);
  renewing.armed('old', 'another');
  renewing.armed('new', 'n');
  await settle();
  assert.deepEqual(ran, []);
  renewing.armed('old', 'n');
  await done;
  const call = `typeof _demo === 'function' && _demo("n", "h2", function(globalThis){ // last line is a comment\n)`;
  assert.deepEqual(ran, [`1 old ${call}`]);
});

test('a document that goes, or never takes it, keeps no other waiting', async (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const { renewing, ran, join, pass } = makeBench(t);
  for (const id of ['gone', 'deaf', 'doorless', 'old']) join(id, 'h1');
  const done = renewing.code(fresh);
  await settle();
  for (const id of ['gone', 'doorless', 'old']) renewing.armed(id, 'n');
  await settle();
  assert.equal(ran.length, 2);
  await pass(10_000);
  await done;
  const reports = warn.mock.calls.map((call) => String(call.arguments[0]));
  assert.equal(reports.length, 3);
  assert.match(reports.join(), /keeps the old adapter of demo: .*reload the tab/);
});

test('only a plugin that is being developed, in the page’s own world, gets one', async (t) => {
  for (const plugin of [{ ...dev, dev: false }, { ...dev, world: 'isolated' } as const, { ...dev, name: 'other' }]) {
    const { renewing, got, join } = makeBench(t, plugin);
    join('old', 'h1');
    await renewing.code(fresh);
    assert.deepEqual(got, []);
    t.mock.timers.reset();
  }
  const { renewing, got, join } = makeBench(t);
  join('old', 'h1');
  const { hot: _, ...cold } = fresh;
  await renewing.code(cold);
  assert.deepEqual(got, []);
});

test('a tab that is about to get new code is not loaded anew, one that does not take it is', async (t) => {
  t.mock.method(console, 'warn', () => undefined);
  const { renewing, join } = makeBench(t);
  join('old', 'h1');
  assert.equal(renewing.expects(1, 'demo'), false, 'nothing was said yet');
  renewing.synced(['other']);
  assert.equal(renewing.expects(1, 'demo'), false, 'its code is not on the way');
  renewing.synced(['demo']);
  assert.equal(renewing.expects(1, 'demo'), true);
  assert.equal(renewing.expects(2, 'demo'), false, 'another tab');
  const done = renewing.code(fresh);
  await settle();
  assert.equal(renewing.expects(1, 'demo'), true, 'it is being put in');
  renewing.armed('old', 'n');
  await done;
  assert.equal(renewing.expects(1, 'demo'), false, 'it is in');
  join('doorless', 'h1');
  renewing.synced(['demo']);
  assert.equal(renewing.expects(1, 'demo'), true);
  const refused = renewing.code(fresh);
  await settle();
  renewing.armed('old', 'n');
  renewing.armed('doorless', 'n');
  await refused;
  assert.equal(renewing.expects(1, 'demo'), false, 'it will not come');
});
