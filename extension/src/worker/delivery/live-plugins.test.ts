import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import { type Doc, makeDocs } from '../documents/docs.ts';
import { makePanelTabs } from '../panels/panel-tabs.ts';
import { LivePlugins } from './live-plugins.ts';

const makePlugin = (name: string, pluginFields: Partial<PluginInfo> = {}): PluginInfo => ({
  name,
  displayName: name.toUpperCase(),
  hash: `hash-${name}`,
  script: `script-${name}`,
  world: 'main',
  ...pluginFields,
});

function makeFixture(...wantedPlugins: PluginInfo[]) {
  const docs = makeDocs();
  const replacingPlugins = new Set<string>();
  const arrivingPlugins = new Set<string>();
  const problemsByPlugin = new Map<string, string>();
  const replaceablePlugins = new Set<string>();
  const livePlugins = new LivePlugins({
    docs,
    plugins: { wantedPlugins, canRun: ({ world }) => world === 'main' },
    hotReload: {
      expects: (_tabId, name) => replacingPlugins.has(name),
      canReplace: (_doc, { name }) => replaceablePlugins.has(name),
      problem: () => undefined,
    },
    delivery: {
      expects: (_documentId, name) => arrivingPlugins.has(name),
      problem: (_documentId, name) => problemsByPlugin.get(name),
      isBroken: (_documentId, name) => problemsByPlugin.has(name),
    },
  });
  const addDocument = (
    documentId: string,
    frameId: number,
    ...liveAdapters: { name: string; hash: string; base?: string }[]
  ) => {
    const doc: Doc = { tabId: 1, frameId, documentId, url: '', post: () => undefined };
    docs.add(doc);
    docs.setPlugins(documentId, liveAdapters);
  };
  return {
    docs,
    livePlugins,
    replacingPlugins,
    arrivingPlugins,
    brokenPlugins: problemsByPlugin,
    replaceablePlugins,
    addDocument,
    wantedPlugins,
  };
}

test('LivePlugins omits plugins that cannot run now or have another base, and adds problems of broken plugins', () => {
  const { livePlugins, replacingPlugins, brokenPlugins, addDocument } = makeFixture(
    makePlugin('a'),
    makePlugin('b', { base: 'new' }),
    makePlugin('c'),
    makePlugin('d', { world: 'isolated' }),
    makePlugin('e'),
  );
  replacingPlugins.add('c');
  brokenPlugins.set('e', 'no code');
  const hash = (name: string) => ({ name, hash: `hash-${name}` });
  addDocument('top', 0, hash('a'), { ...hash('b'), base: 'old' }, hash('c'), hash('d'), hash('gone'));
  addDocument('frame', 3, hash('a'));
  assert.deepEqual(livePlugins.top(1)?.plugins, [hash('a'), { ...hash('e'), problem: 'no code' }]);
  assert.deepEqual(
    livePlugins.frames(1).map(({ doc, plugins }) => [doc.documentId, plugins.map(({ name }) => name)]),
    [['frame', ['a', 'e']]],
  );
  assert.equal(livePlugins.top(2), undefined);
});

test('isSettled is true for a plugin if a reload of the tab would not make the plugin live', () => {
  const {
    livePlugins,
    replacingPlugins,
    arrivingPlugins,
    brokenPlugins,
    replaceablePlugins,
    addDocument,
    wantedPlugins,
  } = makeFixture(...['live', 'old', 'broken', 'replaceable', 'arriving', 'replacing'].map((name) => makePlugin(name)));
  brokenPlugins.set('broken', 'no code');
  replaceablePlugins.add('replaceable');
  arrivingPlugins.add('arriving');
  replacingPlugins.add('replacing');
  const listSettledPlugins = (frame?: string) =>
    wantedPlugins.flatMap((p) => (livePlugins.isSettled(1, p, frame) ? [p.name] : []));
  assert.deepEqual(
    listSettledPlugins(),
    ['replacing'],
    'without a document, only a plugin that is being replaced may be settled',
  );
  addDocument('top', 0, { name: 'live', hash: 'hash-live' }, { name: 'old', hash: 'older' });
  addDocument('frame', 3);
  assert.deepEqual(listSettledPlugins(), ['live', 'broken', 'replaceable', 'arriving', 'replacing']);
  assert.deepEqual(listSettledPlugins('frame'), ['broken', 'replaceable', 'arriving', 'replacing']);
  assert.deepEqual([livePlugins.isArriving(1, 'arriving'), livePlugins.isArriving(2, 'arriving')], [true, false]);
});

test('LivePlugins returns the state of each plugin in a tab and its frames for the side panel', () => {
  const { docs, livePlugins, brokenPlugins, addDocument, wantedPlugins } = makeFixture(
    ...['ready', 'framed', 'old', 'absent', 'broken', 'elsewhere'].map((name) => makePlugin(name)),
  );
  brokenPlugins.set('broken', 'no code');
  addDocument('top', 0, { name: 'ready', hash: 'hash-ready' }, { name: 'old', hash: 'older' });
  docs.setPluginReady('top', 'ready', true);
  const tab = { tabId: 1, windowId: 1, url: 'https://a.example/', title: 'A', active: true, focused: true };
  const pluginInfo = {
    ...tab,
    lastAccessedMs: 0,
    needsReload: ['absent'],
    frames: [{ frameId: 3, url: '', documentId: 'f', plugins: [{ name: 'framed', hash: 'hash-framed' }] }],
  };
  const listShownPlugins = (isUnresponsive: boolean) =>
    makePanelTabs({
      tabs: [isUnresponsive ? { ...pluginInfo, unresponsive: isUnresponsive } : pluginInfo],
      wantedPlugins,
      docs,
      livePlugins,
    })[0]?.plugins;
  assert.deepEqual(listShownPlugins(false), [
    { name: 'ready', displayName: 'READY', status: 'live', ready: true },
    { name: 'framed', displayName: 'FRAMED', status: 'live', ready: false },
    { name: 'old', displayName: 'OLD', status: 'reload' },
    { name: 'absent', displayName: 'ABSENT', status: 'reload' },
    { name: 'broken', displayName: 'BROKEN', status: 'broken', problem: 'no code' },
  ]);
  assert.deepEqual(new Set(listShownPlugins(true)?.map(({ status }) => status)), new Set(['silent']));
});
