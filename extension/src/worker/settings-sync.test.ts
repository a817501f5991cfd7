import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginInfo } from '../../../wire/wire.gen.ts';
import type { ToBridge } from '../port-message.ts';
import { makeDocs } from './docs.ts';
import { makeSettingsSync } from './settings-sync.ts';

const info = (name: string): PluginInfo => ({ name, displayName: name, hash: 'h', script: 's', world: 'main' });

function makeBench() {
  const docs = makeDocs();
  const state: { wanted: PluginInfo[] | undefined } = { wanted: undefined };
  const settingsSync = makeSettingsSync({ docs, wanted: () => state.wanted });
  const join = (documentId: string, ...plugins: string[]) => {
    const got: ToBridge[] = [];
    docs.add({ tabId: 1, frameId: 0, documentId, url: '', post: (message) => got.push(message) });
    docs.named(
      documentId,
      plugins.map((name) => ({ name, hash: 'h' })),
    );
    settingsSync.documentNamed(documentId);
    return got;
  };
  return { docs, state, settingsSync, join };
}

test('settings reach the documents that are there and those that come, each once', () => {
  const { settingsSync, join } = makeBench();
  const there = join('d1', 'a', 'b');
  const blue = { values: { team: 'blue' } };
  const want: ToBridge[] = [{ op: 'settings', plugin: 'a', settings: blue }];
  settingsSync.settings('a', blue);
  settingsSync.documentNamed('d1');
  settingsSync.documentNamed('nobody');
  assert.deepEqual(there, want);
  // A document that began while the script was registered anew has the settings that held before.
  assert.deepEqual(join('d2', 'a'), want);
  assert.deepEqual(join('d3', 'b'), []);
  const red = { values: { team: 'red' } };
  settingsSync.settings('a', red);
  assert.deepEqual(there.slice(1), [{ op: 'settings', plugin: 'a', settings: red }]);
});

test('a document that comes back after it was left is told again', () => {
  const { docs, settingsSync, join } = makeBench();
  settingsSync.settings('a', {});
  join('d1', 'a');
  docs.remove('d1');
  settingsSync.synced();
  assert.equal(join('d1', 'a').length, 1);
});

test('an adapter whose plugin is gone is torn down, but not while nobody knows which plugins there are', () => {
  const { state, settingsSync, join } = makeBench();
  const there = join('d1', 'a', 'b');
  settingsSync.synced();
  assert.deepEqual(there, []);
  state.wanted = [info('b')];
  settingsSync.synced();
  assert.deepEqual(there, [{ op: 'remove', plugin: 'a' }]);
  // One that comes out of the back/forward cache still has it.
  assert.deepEqual(join('d2', 'a'), [{ op: 'remove', plugin: 'a' }]);
});
