import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import type { WorkerToBridgeMessage } from '../../port-message.ts';
import { makeDocs } from '../documents/docs.ts';
import { makeSettingsSync } from './settings-sync.ts';

const makePluginInfo = (name: string): PluginInfo => ({
  name,
  displayName: name,
  hash: 'h',
  script: 's',
  world: 'main',
});

function makeFixture() {
  const docs = makeDocs();
  const syncState: { wantedPlugins: PluginInfo[] | undefined } = { wantedPlugins: undefined };
  const settingsSync = makeSettingsSync({ docs, listWantedPlugins: () => syncState.wantedPlugins });
  const addDocument = (documentId: string, ...plugins: string[]) => {
    const receivedMessages: WorkerToBridgeMessage[] = [];
    docs.add({ tabId: 1, frameId: 0, documentId, url: '', post: (message) => receivedMessages.push(message) });
    docs.setPlugins(
      documentId,
      plugins.map((name) => ({ name, hash: 'h' })),
    );
    settingsSync.onDocumentReported(documentId);
    return receivedMessages;
  };
  return { docs, syncState, settingsSync, addDocument };
}

test('each current and later document receives the settings once', () => {
  const { settingsSync, addDocument } = makeFixture();
  const openDocument = addDocument('d1', 'a', 'b');
  const blueSettings = { values: { team: 'blue' } };
  const expectedMessages: WorkerToBridgeMessage[] = [{ op: 'settings', plugin: 'a', settings: blueSettings }];
  settingsSync.setSettings('a', blueSettings);
  settingsSync.onDocumentReported('d1');
  settingsSync.onDocumentReported('unknown');
  assert.deepEqual(openDocument, expectedMessages);
  // A document that started before Chrome registered a plugin's new script has the plugin's old settings.
  assert.deepEqual(addDocument('d2', 'a'), expectedMessages);
  assert.deepEqual(addDocument('d3', 'b'), []);
  const red = { values: { team: 'red' } };
  settingsSync.setSettings('a', red);
  assert.deepEqual(openDocument.slice(1), [{ op: 'settings', plugin: 'a', settings: red }]);
});

test('a document that returns from the back/forward cache receives the settings again', () => {
  const { docs, settingsSync, addDocument } = makeFixture();
  settingsSync.setSettings('a', {});
  addDocument('d1', 'a');
  docs.remove('d1');
  settingsSync.onPluginsSynced();
  assert.equal(addDocument('d1', 'a').length, 1);
});

test('adapters of deleted plugins are removed, but not before the first plugin sync', () => {
  const { syncState, settingsSync, addDocument } = makeFixture();
  const openDocument = addDocument('d1', 'a', 'b');
  settingsSync.onPluginsSynced();
  assert.deepEqual(openDocument, []);
  syncState.wantedPlugins = [makePluginInfo('b')];
  settingsSync.onPluginsSynced();
  assert.deepEqual(openDocument, [{ op: 'removePlugin', plugin: 'a' }]);
  // A document that returns from the back/forward cache still runs adapters that were removed in the meantime.
  assert.deepEqual(addDocument('d2', 'a'), [{ op: 'removePlugin', plugin: 'a' }]);
});
