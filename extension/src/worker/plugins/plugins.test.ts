import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginInfo, PluginSyncParams } from '../../../../wire/wire.gen.ts';
import type { RegisteredScript } from '../../chrome-scripts.ts';
import { Plugins, type ScriptRegistrar } from './plugins.ts';

function makeFixture() {
  const browserState = { boot: 'first', allowed: true, asked: 0, registrations: 0, chars: 10 };
  const refusedScripts = new Set<string>();
  const usedPlugins: string[] = [];
  const scripts = new Map<string, { script: RegisteredScript; code: string }>();
  const files: { script: RegisteredScript; file: string }[] = [];
  const log: string[] = [];
  /** eventOrder contains the script IDs in the order in which Chrome runs the scripts. */
  const eventOrder: string[] = [];
  const removeFromEventOrder = (id: string) => eventOrder.splice(eventOrder.indexOf(id), 1);
  const chrome: ScriptRegistrar = {
    areUserScriptsAllowed: async () => browserState.allowed,
    listUserScripts: async () => {
      browserState.asked++;
      return [...scripts.values()].map((s) => s.script);
    },
    registerUserScripts: async (registeredScripts) => {
      browserState.registrations++;
      if (registeredScripts.some(({ id }) => refusedScripts.has(id))) throw new Error('Chrome refuses it');
      for (const { code, ...script } of registeredScripts) {
        assert.ok(!scripts.has(script.id), 'a script was registered twice');
        scripts.set(script.id, { script, code });
        eventOrder.push(script.id);
      }
    },
    updateUserScript: async (script) => {
      const oldScript = scripts.get(script.id);
      assert.ok(oldScript);
      scripts.set(script.id, { script, code: oldScript.code });
      eventOrder.push(...removeFromEventOrder(script.id));
      log.push(`moved ${script.id}`);
    },
    unregisterUserScripts: async (ids) => {
      for (const id of ids) {
        assert.ok(scripts.delete(id), `${id} was not registered`);
        removeFromEventOrder(id);
      }
    },
    listFileScripts: async () => files.map((f) => f.script),
    registerFiles: async (registeredScripts) => {
      for (const { file, ...script } of registeredScripts) {
        assert.ok(!files.some((f) => f.script.id === script.id), 'a script was registered twice');
        files.push({ script, file });
        eventOrder.push(script.id);
      }
    },
    updateFile: async (script) => {
      const oldScript = files.find((f) => f.script.id === script.id);
      assert.ok(oldScript, 'a script was updated before its registration');
      oldScript.script = script;
      log.push(`moved ${script.id}`);
    },
    unregisterFiles: async (ids) => {
      for (const id of ids) {
        const at = files.findIndex((f) => f.script.id === id);
        assert.ok(at >= 0, `${id} was not registered`);
        files.splice(at, 1);
        removeFromEventOrder(id);
      }
    },
  };
  const code = async (name: string) => {
    if (name === 'unknown') throw new Error('the plugin may not run');
    if (name === '') return { code: 'HOST' };
    const preScript = name.startsWith('pre') ? { preScript: `function () { /* pre ${name} */ }` } : {};
    return { code: `function () { ${name} }`.padEnd(browserState.chars), options: `{"name":"${name}"}`, ...preScript };
  };
  const makePlugins = () =>
    new Plugins(chrome, {
      entryPoints: { deriveName: async (plugin) => `_${plugin}` },
      fetchCode: code,
      listRecentlyUsedPlugins: async () => usedPlugins,
      readBootId: async () => browserState.boot,
    });
  return {
    browserState,
    refusedScripts,
    usedPlugins,
    scripts,
    files,
    log,
    eventOrder,
    chrome,
    makePlugins,
    plugins: makePlugins(),
  };
}

async function syncAndPrepare(plugins: Plugins, wantedPlugins: readonly PluginInfo[]): Promise<void> {
  assert.equal(await plugins.sync(makeSyncParams(...wantedPlugins)), 'userScripts');
  await plugins.registerEarlyScripts();
}

const makeSyncParams = (...plugins: PluginInfo[]): PluginSyncParams => ({ host: 'h1', plugins });
const removeDigests = (ids: Iterable<string>) =>
  [...ids].map((id) => id.replace(/(base|bridge|bridge-frames)-[0-9a-f]{16}$/, '$1'));

const makePlugin = (name: string, pluginFields: Partial<PluginInfo> = {}): PluginInfo => ({
  name,
  displayName: name,
  hash: `hash-${name}`,
  script: `script-${name}`,
  world: 'main',
  matches: [`*://${name}.org/*`],
  ...pluginFields,
});
test('plugins share one base and one bridge, but plugins with frames have separate ones, and isolated ones no base', async () => {
  const { plugins, scripts, files, browserState } = makeFixture();
  const registeredScripts = [
    makePlugin('a'),
    makePlugin('i', { world: 'isolated' }),
    makePlugin('f', { frames: true, allFrames: true }),
    makePlugin('b'),
  ];
  await plugins.sync(makeSyncParams(...registeredScripts));
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'base']);
  const [allFramesScript, topScript] = [...scripts.values()].map((s) => s.script);
  assert.deepEqual(
    [allFramesScript?.allFrames, allFramesScript?.matches, allFramesScript?.excludeMatches],
    [true, ['*://f.org/*'], []],
  );
  assert.deepEqual(
    [topScript?.allFrames, topScript?.matches, topScript?.excludeMatches],
    [false, ['*://a.org/*', '*://b.org/*'], ['*://f.org/*']],
  );
  const bridgeScripts = files
    .filter((f) => f.file === 'bridge.js')
    .map((f) => [f.script.allFrames, f.script.matches.length]);
  assert.deepEqual(bridgeScripts, [
    [false, 4],
    [true, 1],
  ]);
  assert.equal(browserState.registrations, 1);
  const [base] = [...scripts.values()];
  assert.equal(base?.code, `const _ = HOST(false)("{\\"frames\\":true}"\n);`);
});

test('a few adapters are registered in advance together, and the bridge after them', async () => {
  const { plugins, scripts, browserState, eventOrder, refusedScripts } = makeFixture();
  const isolatedPlugin = makePlugin('i', { world: 'isolated', excludes: ['*://i.org/x*'] });
  await syncAndPrepare(plugins, [makePlugin('a'), isolatedPlugin]);
  assert.equal(browserState.registrations, 2);
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'plugin-a-script-a', 'plugin-i-script-i']);
  const { script, code } = scripts.get('plugin-i-script-i') ?? {};
  assert.deepEqual(script, {
    id: 'plugin-i-script-i',
    matches: ['*://i.org/*'],
    excludeMatches: ['*://i.org/x*'],
    isIsolated: true,
    allFrames: false,
    worldId: 'plugin-i',
  });
  assert.equal(code, `var _i = HOST(false)("{\\"name\\":\\"i\\"}",\nfunction () { i }\n);`);
  assert.deepEqual(removeDigests(eventOrder.slice(-1)), ['bridge']);
  assert.equal(eventOrder.filter((id) => id.startsWith('bridge-')).length, 1);
  for (const id of scripts.keys())
    assert.ok(eventOrder.indexOf(`probe-${id}`) < eventOrder.indexOf(id), `no probe runs before ${id}`);
  // If Chrome rejects one script, all other scripts are still registered.
  refusedScripts.add('plugin-c-script-c');
  await syncAndPrepare(plugins, [makePlugin('a'), isolatedPlugin, makePlugin('c'), makePlugin('d')]);
  assert.deepEqual([scripts.has('plugin-c-script-c'), scripts.has('plugin-d-script-d')], [false, true]);
  await syncAndPrepare(plugins, [makePlugin('a'), makePlugin('unknown'), makePlugin('d')]);
  assert.deepEqual(removeDigests(scripts.keys()).sort(), ['base', 'plugin-a-script-a', 'plugin-d-script-d']);
});

test('of many plugins, only early or recently used plugins are registered in advance, up to a limit', async () => {
  const { plugins, scripts, usedPlugins, browserState } = makeFixture();
  const manyPlugins = Array.from({ length: 120 }, (_, i) => makePlugin(`p${i}`, i === 7 ? { early: true } : {}));
  await syncAndPrepare(plugins, manyPlugins);
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'plugin-p7-script-p7']);
  usedPlugins.push(...Array.from({ length: 30 }, (_, i) => `p${i + 50}`));
  await plugins.registerEarlyScripts();
  assert.equal(scripts.size, 17);
  assert.ok(scripts.has('plugin-p50-script-p50') && !scripts.has('plugin-p65-script-p65'));
  usedPlugins.unshift('p3');
  await plugins.registerEarlyScripts();
  assert.ok(scripts.has('plugin-p3-script-p3') && !scripts.has('plugin-p64-script-p64'));
  browserState.chars = 3 << 20;
  await plugins.registerEarlyScripts();
  assert.deepEqual(removeDigests(scripts.keys()).sort(), ['base', 'plugin-p3-script-p3', 'plugin-p7-script-p7']);
});

test('pre-scripts are always registered in advance, and their plugins cannot start late', async () => {
  const { plugins, scripts, browserState } = makeFixture();
  const preScriptPlugin = makePlugin('pre', { preScript: true, allFrames: true });
  const earlyPlugins = Array.from({ length: 3 }, (_, i) => makePlugin(`e${i}`, { early: true }));
  browserState.chars = 3 << 20;
  await syncAndPrepare(plugins, [preScriptPlugin, ...earlyPlugins]);
  assert.deepEqual(removeDigests(scripts.keys()), [
    'base',
    'early-pre-script-pre',
    'plugin-e0-script-e0',
    'plugin-e1-script-e1',
  ]);
  const { script, code } = scripts.get('early-pre-script-pre') ?? {};
  assert.equal(script?.allFrames, true);
  assert.equal(
    code,
    `const _pre = HOST(false)("{\\"name\\":\\"pre\\"}",\nundefined,\nfunction () { /* pre pre */ }\n);`,
  );
  assert.deepEqual(
    [preScriptPlugin, ...earlyPlugins, makePlugin('x')].map((p) => plugins.canInjectAfterLoad(p)),
    [false, false, false, true, true],
  );
});

test('a restarted worker finds the registered scripts and registers nothing again', async () => {
  const { plugins, makePlugins, browserState, eventOrder } = makeFixture();
  await syncAndPrepare(plugins, [makePlugin('a')]);
  const [stateBefore, registrations] = [eventOrder.join(), browserState.registrations];
  await syncAndPrepare(makePlugins(), [makePlugin('a')]);
  assert.deepEqual(
    [eventOrder.join(), browserState.registrations, browserState.asked],
    [stateBefore, registrations, 2],
  );
});

test('after a browser restart, the bridge is registered again, because otherwise Chrome would run no script', async () => {
  const { makePlugins, plugins, scripts, files, browserState } = makeFixture();
  const wantedPlugins = [
    makePlugin('b', { matches: ['*://b.org/*', '*://a.org/*'] }),
    makePlugin('i', { world: 'isolated' }),
  ];
  await syncAndPrepare(plugins, wantedPlugins);
  const stateBefore = [...files.map((f) => f.script.id), ...scripts.keys()];
  const bridge = stateBefore.find((id) => id.startsWith('bridge-'));
  // Chrome may list scripts in another order than the order of registration, and without the IDs of isolated worlds.
  const listedScripts = [...scripts].reverse();
  scripts.clear();
  for (const [id, { script, code }] of listedScripts) {
    const { worldId: _, matches, ...rest } = script;
    scripts.set(id, { script: { ...rest, matches: [...matches].reverse() }, code });
  }
  await syncAndPrepare(makePlugins(), wantedPlugins);
  assert.deepEqual(
    [...files.map((f) => f.script.id), ...scripts.keys()].sort(),
    [...stateBefore].sort(),
    'a restart of the worker alone must change no registration',
  );
  browserState.boot = 'second';
  await syncAndPrepare(makePlugins(), wantedPlugins);
  const after = [...files.map((f) => f.script.id), ...scripts.keys()];
  assert.deepEqual(after.filter((id) => !stateBefore.includes(id)).length, 1);
  assert.deepEqual([removeDigests([bridge ?? '']), after.includes(bridge ?? '')], [['bridge'], false]);
  assert.equal(browserState.registrations, 2, 'no user script may be registered again');
});

test('a sync removes unwanted scripts, updates changed patterns, and replaces old scripts', async () => {
  const { plugins, scripts, files, log, eventOrder } = makeFixture();
  await syncAndPrepare(plugins, [makePlugin('a'), makePlugin('b')]);
  await syncAndPrepare(plugins, [makePlugin('a', { matches: ['*://other.org/*'] })]);
  assert.deepEqual(removeDigests(scripts.keys()).sort(), ['base', 'plugin-a-script-a']);
  assert.deepEqual(log, ['moved plugin-a-script-a']);
  assert.deepEqual(removeDigests(eventOrder.slice(-1)), ['bridge']);
  await plugins.sync(makeSyncParams(makePlugin('a', { script: 's2' })));
  assert.deepEqual(removeDigests(scripts.keys()), ['base'], 'the sync must remove the old script at once');
  await plugins.registerEarlyScripts();
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'plugin-a-s2']);
  await plugins.sync({});
  await plugins.registerEarlyScripts();
  assert.deepEqual([scripts.size, files.length], [0, 0]);
});

test('a removed plugin stays wanted until Chrome has unregistered it, before any new registration', async () => {
  for (const isAllowed of [true, false]) {
    const { plugins, chrome, browserState, log } = makeFixture();
    browserState.allowed = isAllowed;
    const wantedPlugins = () => plugins.wantedPlugins.map(({ name }) => name);
    const [pluginA, pluginB] = [makePlugin('a', { file: 'a.js' }), makePlugin('b', { file: 'b.js' })];
    await plugins.sync(makeSyncParams(pluginA, pluginB));
    await plugins.registerEarlyScripts();
    for (const method of [
      'unregisterUserScripts',
      'unregisterFiles',
      'registerUserScripts',
      'registerFiles',
    ] as const) {
      const originalMethod: (registeredScripts: never) => Promise<void> = chrome[method];
      chrome[method] = async (registeredScripts: never) => {
        log.push(`${method} while ${wantedPlugins()} are wanted`);
        await originalMethod(registeredScripts);
      };
    }
    await plugins.sync(makeSyncParams(pluginB));
    const unregisterMethod = isAllowed ? 'unregisterUserScripts' : 'unregisterFiles';
    assert.equal(log[0], `${unregisterMethod} while a,b are wanted`);
    assert.ok(log.some((line) => line.startsWith('register')));
    assert.deepEqual(
      log.filter((line) => line.startsWith('register') && line.includes('a,b')),
      [],
    );
    assert.deepEqual(wantedPlugins(), ['b']);
  }
});

test('a match pattern that Chrome would reject does not affect other patterns', async () => {
  const { plugins, files } = makeFixture();
  const invalidPlugin = makePlugin('bad', { matches: ['*://*', 'not a pattern'] });
  const partlyValidPlugin = makePlugin('half', { matches: ['nonsense', '*://half.org:81/*'], excludes: ['?'] });
  await plugins.sync(makeSyncParams(invalidPlugin, partlyValidPlugin));
  assert.deepEqual(plugins.wantedPlugins, [partlyValidPlugin]);
  assert.deepEqual(files[0]?.script.matches, ['http://half.org:81/*', 'https://half.org:81/*']);
});

test('without user scripts, plugins for an isolated world cannot run', async () => {
  const { plugins, browserState } = makeFixture();
  const isolatedPlugin = makePlugin('a', { world: 'isolated', file: 'adapters/a.js' });
  await plugins.sync(makeSyncParams(isolatedPlugin));
  assert.equal(plugins.canRun(isolatedPlugin), true);
  browserState.allowed = false;
  await plugins.sync(makeSyncParams(isolatedPlugin));
  assert.deepEqual([plugins.canRun(isolatedPlugin), plugins.canRun(makePlugin('b'))], [false, true]);
});

test('without user scripts, plugin files are registered before the bridge, but none for an isolated world', async () => {
  const { plugins, files, browserState } = makeFixture();
  browserState.allowed = false;
  const pluginA = makePlugin('a', { file: 'adapters/a.js' });
  assert.equal(await plugins.sync(makeSyncParams(pluginA)), 'files');
  const pluginB = makePlugin('b', { file: 'adapters/b.js' });
  const isolatedFilePlugin = makePlugin('c', { file: 'adapters/c.js', world: 'isolated' });
  await plugins.sync(makeSyncParams(pluginA, pluginB, isolatedFilePlugin));
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'adapters/a.js', 'probe.js', 'adapters/b.js', 'bridge.js'],
  );
  await plugins.sync(makeSyncParams({ ...pluginA, script: 's2', file: 'adapters/a2.js' }));
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'adapters/a2.js', 'bridge.js'],
  );
  browserState.allowed = true;
  assert.equal(await plugins.sync(makeSyncParams(pluginA)), 'userScripts');
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'bridge.js'],
  );
});

test('the injection mode is none if user scripts are not allowed and a plugin has no file', async () => {
  const { plugins, browserState } = makeFixture();
  browserState.allowed = false;
  assert.equal(await plugins.sync(makeSyncParams()), 'files', 'without plugins, the mode must be files');
  assert.equal(await plugins.sync(makeSyncParams(makePlugin('a'))), 'none');
  assert.equal(plugins.mode, 'none');
  browserState.allowed = true;
  assert.equal(await plugins.detectMode(), 'userScripts');
});

test('plugin syncs run one after the other', async () => {
  const { plugins, scripts } = makeFixture();
  const registeredScripts = [
    plugins.sync(makeSyncParams(makePlugin('a'))),
    plugins.registerEarlyScripts(),
    plugins.sync(makeSyncParams(makePlugin('a'))),
    plugins.registerEarlyScripts(),
  ];
  await Promise.all(registeredScripts);
  assert.equal(scripts.size, 2);
});

test('clear removes all registered scripts', async () => {
  const { plugins, scripts, files } = makeFixture();
  await syncAndPrepare(plugins, [makePlugin('a')]);
  await plugins.clear();
  assert.deepEqual([scripts.size, files.length], [0, 0]);
  await syncAndPrepare(plugins, [makePlugin('a')]);
  assert.equal(scripts.size, 2);
});
