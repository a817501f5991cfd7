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
  hot: { door: 'door"1', adapter: 'function(globalThis){ // last line is a comment' },
};

function makeBench(t: TestContext, plugin: PluginInfo = dev) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const docs = makeDocs();
  const got: string[] = [];
  const ran: string[] = [];
  /** armed are the documents whose host has heard its nonce. */
  const armed = new Set<string>();
  const renewing = makeRenewing({
    docs,
    plugin: (name) => (name === plugin.name ? plugin : undefined),
    run: async (tabId, documentId, code) => {
      if (documentId === 'gone') throw new Error('No document with id');
      if (code.startsWith('typeof ')) return documentId !== 'doorless';
      ran.push(`${tabId} ${documentId} ${code}`);
      return armed.has(documentId);
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
  return { docs, renewing, got, ran, armed, join, pass };
}

test('where an older adapter is live the new one comes through the door, once the host has heard of it', async (t) => {
  const { renewing, got, ran, armed, join, pass } = makeBench(t);
  join('old', 'h1');
  join('new', 'h2');
  join('without');
  const done = renewing.code(fresh);
  await settle();
  assert.deepEqual(got, ['old {"op":"renew","plugin":"demo","hash":"h2","nonce":"n"}']);
  const call = 'window["door\\"1"]("n","h2",function(globalThis){ // last line is a comment\n)';
  assert.deepEqual(ran, [`1 old ${call}`]);
  armed.add('old');
  await pass(50);
  await done;
  assert.equal(ran.length, 2);
});

test('a document that goes, or never takes it, keeps nobody waiting', async (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const { docs, renewing, ran, join, pass } = makeBench(t);
  for (const id of ['gone', 'leaves', 'deaf', 'doorless']) join(id, 'h1');
  const done = renewing.code(fresh);
  await settle();
  docs.remove('leaves');
  for (let i = 0; i < 40; i++) await pass(50);
  await done;
  const tries = (id: string) => ran.filter((text) => text.startsWith(`1 ${id} `)).length;
  assert.deepEqual([tries('gone'), tries('leaves'), tries('deaf'), tries('doorless')], [0, 1, 40, 0]);
  const told = warn.mock.calls.map((call) => String(call.arguments[0]));
  assert.deepEqual(told.length, 3);
  assert.match(told.join(), /keeps the old adapter of demo: .*reload the tab/);
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
  const { renewing, armed, join, pass } = makeBench(t);
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
  armed.add('old');
  await pass(50);
  await done;
  assert.equal(renewing.expects(1, 'demo'), false, 'it is in');
  join('doorless', 'h1');
  renewing.synced(['demo']);
  assert.equal(renewing.expects(1, 'demo'), true);
  await renewing.code(fresh);
  assert.equal(renewing.expects(1, 'demo'), false, 'it will not come');
});
