import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginInfo, PluginSyncParams } from '../../../../wire/wire.gen.ts';
import type { RegisteredScript } from '../../chrome-scripts.ts';
import { Plugins, type Registrar } from './plugins.ts';

function makeFixture() {
  const state = { boot: 'first', allowed: true, asked: 0, registrations: 0, chars: 10 };
  const refused = new Set<string>();
  const used: string[] = [];
  const scripts = new Map<string, { script: RegisteredScript; code: string }>();
  const files: { script: RegisteredScript; file: string }[] = [];
  const log: string[] = [];
  /** The constant `order` contains the script IDs in the order in which Chrome runs the scripts. */
  const order: string[] = [];
  const removeFromOrder = (id: string) => order.splice(order.indexOf(id), 1);
  const chrome: Registrar = {
    areUserScriptsAllowed: async () => state.allowed,
    listUserScripts: async () => {
      state.asked++;
      return [...scripts.values()].map((s) => s.script);
    },
    registerUserScripts: async (all) => {
      state.registrations++;
      if (all.some(({ id }) => refused.has(id))) throw new Error('Chrome refuses it');
      for (const { code, ...script } of all) {
        assert.ok(!scripts.has(script.id), 'a script was registered twice');
        scripts.set(script.id, { script, code });
        order.push(script.id);
      }
    },
    updateUserScript: async (script) => {
      const old = scripts.get(script.id);
      assert.ok(old);
      scripts.set(script.id, { script, code: old.code });
      order.push(...removeFromOrder(script.id));
      log.push(`moved ${script.id}`);
    },
    unregisterUserScripts: async (ids) => {
      for (const id of ids) {
        assert.ok(scripts.delete(id), `${id} was not registered`);
        removeFromOrder(id);
      }
    },
    listFileScripts: async () => files.map((f) => f.script),
    registerFiles: async (all) => {
      for (const { file, ...script } of all) {
        assert.ok(!files.some((f) => f.script.id === script.id), 'a script was registered twice');
        files.push({ script, file });
        order.push(script.id);
      }
    },
    updateFile: async (script) => {
      const old = files.find((f) => f.script.id === script.id);
      assert.ok(old, 'a script was updated before its registration');
      old.script = script;
      log.push(`moved ${script.id}`);
    },
    unregisterFiles: async (ids) => {
      for (const id of ids) {
        const at = files.findIndex((f) => f.script.id === id);
        assert.ok(at >= 0, `${id} was not registered`);
        files.splice(at, 1);
        removeFromOrder(id);
      }
    },
  };
  const code = async (name: string) => {
    if (name === 'unknown') throw new Error('the plugin may not run');
    if (name === '') return { code: 'HOST' };
    const preScript = name.startsWith('pre') ? { preScript: `function () { /* pre ${name} */ }` } : {};
    return { code: `function () { ${name} }`.padEnd(state.chars), options: `{"name":"${name}"}`, ...preScript };
  };
  const make = () =>
    new Plugins(chrome, {
      entryPoints: { deriveName: async (plugin) => `_${plugin}` },
      fetchCode: code,
      recentlyUsed: async () => used,
      bootId: async () => state.boot,
    });
  return { state, refused, used, scripts, files, log, order, chrome, make, plugins: make() };
}

async function syncAndPrepare(plugins: Plugins, wanted: readonly PluginInfo[]): Promise<void> {
  assert.equal(await plugins.sync(makeSyncParams(...wanted)), 'userScripts');
  await plugins.prepare();
}

const makeSyncParams = (...plugins: PluginInfo[]): PluginSyncParams => ({ host: 'h1', plugins });
const removeDigests = (ids: Iterable<string>) =>
  [...ids].map((id) => id.replace(/(base|bridge|bridge-frames)-[0-9a-f]{16}$/, '$1'));

const makePlugin = (name: string, more: Partial<PluginInfo> = {}): PluginInfo => ({
  name,
  displayName: name,
  hash: `hash-${name}`,
  script: `script-${name}`,
  world: 'main',
  matches: [`*://${name}.org/*`],
  ...more,
});
test('one base and one bridge serve the pages of all plugins, and isolated or framed plugins have their own', async () => {
  const { plugins, scripts, files, state } = makeFixture();
  const all = [
    makePlugin('a'),
    makePlugin('i', { world: 'isolated' }),
    makePlugin('f', { frames: true, allFrames: true }),
    makePlugin('b'),
  ];
  await plugins.sync(makeSyncParams(...all));
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'base']);
  const [framed, top] = [...scripts.values()].map((s) => s.script);
  assert.deepEqual([framed?.allFrames, framed?.matches, framed?.excludeMatches], [true, ['*://f.org/*'], []]);
  assert.deepEqual(
    [top?.allFrames, top?.matches, top?.excludeMatches],
    [false, ['*://a.org/*', '*://b.org/*'], ['*://f.org/*']],
  );
  const bridges = files.filter((f) => f.file === 'bridge.js').map((f) => [f.script.allFrames, f.script.matches.length]);
  assert.deepEqual(bridges, [
    [false, 4],
    [true, 1],
  ]);
  assert.equal(state.registrations, 1);
  const [base] = [...scripts.values()];
  assert.equal(base?.code, `const _ = HOST(false)("{\\"frames\\":true}"\n);`);
});

test('a few adapters are preregistered together, with their entry points, and the bridge after them', async () => {
  const { plugins, scripts, state, order, refused } = makeFixture();
  const isolated = makePlugin('i', { world: 'isolated', excludes: ['*://i.org/x*'] });
  await syncAndPrepare(plugins, [makePlugin('a'), isolated]);
  assert.equal(state.registrations, 2);
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
  assert.deepEqual(removeDigests(order.slice(-1)), ['bridge']);
  assert.equal(order.filter((id) => id.startsWith('bridge-')).length, 1);
  for (const id of scripts.keys())
    assert.ok(order.indexOf(`probe-${id}`) < order.indexOf(id), `there is no probe before the script ${id}`);
  // If Chrome rejects one script, all other scripts are still registered.
  refused.add('plugin-c-script-c');
  await syncAndPrepare(plugins, [makePlugin('a'), isolated, makePlugin('c'), makePlugin('d')]);
  assert.deepEqual([scripts.has('plugin-c-script-c'), scripts.has('plugin-d-script-d')], [false, true]);
  await syncAndPrepare(plugins, [makePlugin('a'), makePlugin('unknown'), makePlugin('d')]);
  assert.deepEqual(removeDigests(scripts.keys()).sort(), ['base', 'plugin-a-script-a', 'plugin-d-script-d']);
});

test('of many plugins, those that start early or were used recently are preregistered, within the budget', async () => {
  const { plugins, scripts, used, state } = makeFixture();
  const many = Array.from({ length: 120 }, (_, i) => makePlugin(`p${i}`, i === 7 ? { early: true } : {}));
  await syncAndPrepare(plugins, many);
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'plugin-p7-script-p7']);
  used.push(...Array.from({ length: 30 }, (_, i) => `p${i + 50}`));
  await plugins.prepare();
  assert.equal(scripts.size, 17);
  assert.ok(scripts.has('plugin-p50-script-p50') && !scripts.has('plugin-p65-script-p65'));
  used.unshift('p3');
  await plugins.prepare();
  assert.ok(scripts.has('plugin-p3-script-p3') && !scripts.has('plugin-p64-script-p64'));
  state.chars = 3 << 20;
  await plugins.prepare();
  assert.deepEqual(removeDigests(scripts.keys()).sort(), ['base', 'plugin-p3-script-p3', 'plugin-p7-script-p7']);
});

test('pre-scripts are always preregistered, and plugins that need the document’s start cannot start late', async () => {
  const { plugins, scripts, state } = makeFixture();
  const pre = makePlugin('pre', { preScript: true, allFrames: true });
  const early = Array.from({ length: 3 }, (_, i) => makePlugin(`e${i}`, { early: true }));
  state.chars = 3 << 20;
  await syncAndPrepare(plugins, [pre, ...early]);
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
    [pre, ...early, makePlugin('x')].map((p) => plugins.canStartLate(p)),
    [false, false, false, true, true],
  );
});

test('a restarted worker finds the registrations', async () => {
  const { plugins, make, state, order } = makeFixture();
  await syncAndPrepare(plugins, [makePlugin('a')]);
  const [before, registrations] = [order.join(), state.registrations];
  await syncAndPrepare(make(), [makePlugin('a')]);
  assert.deepEqual([order.join(), state.registrations, state.asked], [before, registrations, 2]);
});

test('a restarted browser keeps the registrations, and the bridge is registered again because Chrome would run none of them', async () => {
  const { make, plugins, scripts, files, state } = makeFixture();
  const wanted = [makePlugin('b', { matches: ['*://b.org/*', '*://a.org/*'] }), makePlugin('i', { world: 'isolated' })];
  await syncAndPrepare(plugins, wanted);
  const before = [...files.map((f) => f.script.id), ...scripts.keys()];
  const bridge = before.find((id) => id.startsWith('bridge-'));
  // Chrome may list scripts in another order than the order of registration, and without the IDs of isolated worlds.
  const listed = [...scripts].reverse();
  scripts.clear();
  for (const [id, { script, code }] of listed) {
    const { worldId: _, matches, ...rest } = script;
    scripts.set(id, { script: { ...rest, matches: [...matches].reverse() }, code });
  }
  await syncAndPrepare(make(), wanted);
  assert.deepEqual(
    [...files.map((f) => f.script.id), ...scripts.keys()].sort(),
    [...before].sort(),
    'a restart of the worker alone changes no registration',
  );
  state.boot = 'second';
  await syncAndPrepare(make(), wanted);
  const after = [...files.map((f) => f.script.id), ...scripts.keys()];
  assert.deepEqual(after.filter((id) => !before.includes(id)).length, 1);
  assert.deepEqual([removeDigests([bridge ?? '']), after.includes(bridge ?? '')], [['bridge'], false]);
  assert.equal(state.registrations, 2, 'no code was registered again');
});

test('unwanted scripts are removed, changed patterns are updated, and a new script replaces the old one', async () => {
  const { plugins, scripts, files, log, order } = makeFixture();
  await syncAndPrepare(plugins, [makePlugin('a'), makePlugin('b')]);
  await syncAndPrepare(plugins, [makePlugin('a', { matches: ['*://other.org/*'] })]);
  assert.deepEqual(removeDigests(scripts.keys()).sort(), ['base', 'plugin-a-script-a']);
  assert.deepEqual(log, ['moved plugin-a-script-a']);
  assert.deepEqual(removeDigests(order.slice(-1)), ['bridge']);
  await plugins.sync(makeSyncParams(makePlugin('a', { script: 's2' })));
  assert.deepEqual(removeDigests(scripts.keys()), ['base'], 'the old script is gone at once');
  await plugins.prepare();
  assert.deepEqual(removeDigests(scripts.keys()), ['base', 'plugin-a-s2']);
  await plugins.sync({});
  await plugins.prepare();
  assert.deepEqual([scripts.size, files.length], [0, 0]);
});

test('a removed plugin is wanted until Chrome has unregistered it, and no registration comes before that', async () => {
  for (const allowed of [true, false]) {
    const { plugins, chrome, state, log } = makeFixture();
    state.allowed = allowed;
    const wanted = () => plugins.wantedPlugins.map(({ name }) => name);
    const [a, b] = [makePlugin('a', { file: 'a.js' }), makePlugin('b', { file: 'b.js' })];
    await plugins.sync(makeSyncParams(a, b));
    await plugins.prepare();
    for (const method of [
      'unregisterUserScripts',
      'unregisterFiles',
      'registerUserScripts',
      'registerFiles',
    ] as const) {
      const original: (all: never) => Promise<void> = chrome[method];
      chrome[method] = async (all: never) => {
        log.push(`${method} while ${wanted()} are wanted`);
        await original(all);
      };
    }
    await plugins.sync(makeSyncParams(b));
    const unregister = allowed ? 'unregisterUserScripts' : 'unregisterFiles';
    assert.equal(log[0], `${unregister} while a,b are wanted`);
    assert.ok(log.some((line) => line.startsWith('register')));
    assert.deepEqual(
      log.filter((line) => line.startsWith('register') && line.includes('a,b')),
      [],
    );
    assert.deepEqual(wanted(), ['b']);
  }
});

test('a pattern that Chrome would reject does not affect others', async () => {
  const { plugins, files } = makeFixture();
  const bad = makePlugin('bad', { matches: ['*://*', 'not a pattern'] });
  const half = makePlugin('half', { matches: ['nonsense', '*://half.org:81/*'], excludes: ['?'] });
  await plugins.sync(makeSyncParams(bad, half));
  assert.deepEqual(plugins.wantedPlugins, [half]);
  assert.deepEqual(files[0]?.script.matches, ['http://half.org:81/*', 'https://half.org:81/*']);
});

test('without user scripts, isolated plugins cannot run, whatever a document reports', async () => {
  const { plugins, state } = makeFixture();
  const isolated = makePlugin('a', { world: 'isolated', file: 'adapters/a.js' });
  await plugins.sync(makeSyncParams(isolated));
  assert.equal(plugins.canRun(isolated), true);
  state.allowed = false;
  await plugins.sync(makeSyncParams(isolated));
  assert.deepEqual([plugins.canRun(isolated), plugins.canRun(makePlugin('b'))], [false, true]);
});

test('without user scripts, files are registered before the bridge, but none in the isolated world', async () => {
  const { plugins, files, state } = makeFixture();
  state.allowed = false;
  const a = makePlugin('a', { file: 'adapters/a.js' });
  assert.equal(await plugins.sync(makeSyncParams(a)), 'files');
  const b = makePlugin('b', { file: 'adapters/b.js' });
  const c = makePlugin('c', { file: 'adapters/c.js', world: 'isolated' });
  await plugins.sync(makeSyncParams(a, b, c));
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'adapters/a.js', 'probe.js', 'adapters/b.js', 'bridge.js'],
  );
  await plugins.sync(makeSyncParams({ ...a, script: 's2', file: 'adapters/a2.js' }));
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'adapters/a2.js', 'bridge.js'],
  );
  state.allowed = true;
  assert.equal(await plugins.sync(makeSyncParams(a)), 'userScripts');
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'bridge.js'],
  );
});

test('without user scripts and files, the mode is none', async () => {
  const { plugins, state } = makeFixture();
  state.allowed = false;
  assert.equal(await plugins.sync(makeSyncParams()), 'files', 'without plugins, no permission is missing');
  assert.equal(await plugins.sync(makeSyncParams(makePlugin('a'))), 'none');
  assert.equal(plugins.mode, 'none');
  state.allowed = true;
  assert.equal(await plugins.detectMode(), 'userScripts');
});

test('syncs run one after the other', async () => {
  const { plugins, scripts } = makeFixture();
  const all = [
    plugins.sync(makeSyncParams(makePlugin('a'))),
    plugins.prepare(),
    plugins.sync(makeSyncParams(makePlugin('a'))),
    plugins.prepare(),
  ];
  await Promise.all(all);
  assert.equal(scripts.size, 2);
});

test('clear removes all registrations', async () => {
  const { plugins, scripts, files } = makeFixture();
  await syncAndPrepare(plugins, [makePlugin('a')]);
  await plugins.clear();
  assert.deepEqual([scripts.size, files.length], [0, 0]);
  await syncAndPrepare(plugins, [makePlugin('a')]);
  assert.equal(scripts.size, 2);
});
