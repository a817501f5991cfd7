import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginCodeParams, PluginInfo } from '../../../wire/wire.gen.ts';
import type { Script } from '../chrome.ts';
import { makePlugins, type Registrar } from './plugins.ts';

function makeBench() {
  const state = { allowed: true, asked: 0, registrations: 0, bridges: 0 };
  const scripts = new Map<string, { script: Script; code: string }>();
  const files: { script: Script; file: string }[] = [];
  const log: string[] = [];
  /** order is what Chrome runs, in order. */
  const order: string[] = [];
  const went = (id: string) => order.splice(order.indexOf(id), 1);
  const chrome: Registrar = {
    userScriptsAllowed: async () => state.allowed,
    userScripts: async () => {
      state.asked++;
      return [...scripts.values()].map((s) => s.script);
    },
    registerUserScripts: async (all) => {
      state.registrations++;
      if (all.some(({ code }) => code.endsWith('refused'))) throw new Error('Chrome refuses it');
      for (const { code, ...script } of all) {
        assert.ok(!scripts.has(script.id), 'registered twice');
        scripts.set(script.id, { script, code });
        order.push(script.id);
      }
    },
    updateUserScript: async (script) => {
      const old = scripts.get(script.id);
      assert.ok(old);
      scripts.set(script.id, { script, code: old.code });
      order.push(...went(script.id));
      log.push(`moved ${script.id}`);
    },
    unregisterUserScripts: async (ids) => {
      for (const id of ids) {
        assert.ok(scripts.delete(id), `${id} was not registered`);
        went(id);
      }
    },
    fileScripts: async () => files.map((f) => f.script),
    registerFiles: async (all) => {
      for (const { file, ...script } of all) {
        if (file === 'bridge.js') state.bridges++;
        assert.ok(!files.some((f) => f.script.id === script.id), 'registered twice');
        files.push({ script, file });
        order.push(script.id);
      }
    },
    updateFile: async (script) => {
      const old = files.find((f) => f.script.id === script.id);
      assert.ok(old, 'updated before it was registered');
      old.script = script;
      log.push(`moved ${script.id}`);
    },
    unregisterFiles: async (ids) => {
      for (const id of ids) {
        const at = files.findIndex((f) => f.script.id === id);
        assert.ok(at >= 0, `${id} was not registered`);
        files.splice(at, 1);
        went(id);
      }
    },
  };
  const make = () => makePlugins(chrome, { nameOf: async (plugin) => `_${plugin}` });
  return { state, scripts, files, log, order, make, plugins: make() };
}

const plugin = (name: string, more: Partial<PluginInfo> = {}): PluginInfo => ({
  name,
  displayName: name,
  hash: `hash-${name}`,
  script: `script-${name}`,
  world: 'main',
  matches: [`*://${name}.org/*`],
  ...more,
});
/** codeOf is the code of a script. */
const codeOf = (name: string, script: string, code: string): PluginCodeParams => ({ name, hash: 'any', script, code });

test('code is asked for once and registered for the pages it matches', async () => {
  const { plugins, scripts, files, state } = makeBench();
  const isolated = plugin('b', { world: 'isolated', excludes: ['*://b.org/x*'] });
  assert.deepEqual(await plugins.sync({ plugins: [plugin('a'), isolated] }), {
    mode: 'userScripts',
    missing: ['a', 'b'],
  });
  await plugins.code(codeOf('a', 'script-a', 'A'));
  await plugins.code(codeOf('b', 'script-b', 'B'));
  await plugins.code(codeOf('b', 'script-b', 'B'));
  assert.deepEqual(await plugins.sync({ plugins: [plugin('a'), isolated] }), { mode: 'userScripts' });
  assert.deepEqual(
    [...scripts.values()],
    [
      {
        script: {
          id: 'plugin-a-script-a',
          matches: ['*://a.org/*'],
          excludeMatches: [],
          isolated: false,
          allFrames: false,
        },
        code: 'const _a = A',
      },
      {
        script: {
          id: 'plugin-b-script-b',
          matches: ['*://b.org/*'],
          excludeMatches: ['*://b.org/x*'],
          isolated: true,
          allFrames: false,
          worldId: 'plugin-b',
        },
        code: 'const _b = B',
      },
    ],
  );
  assert.deepEqual(
    files.map((f) => [f.script.id.split('-')[0], f.file, f.script.matches]),
    [
      ['probe', 'probe.js', ['*://a.org/*']],
      ['probe', 'probe.js', ['*://b.org/*']],
      ['bridge', 'bridge.js', ['*://a.org/*', '*://b.org/*']],
    ],
  );
  assert.equal(state.asked, 1);
});

test('code that comes together is registered together, and one that Chrome refuses keeps none of the others out', async () => {
  const { plugins, scripts, state, order } = makeBench();
  const names = ['a', 'b', 'c', 'd', 'e'];
  await plugins.sync({ plugins: names.map((name) => plugin(name)) });
  const send = (name: string, code: string) => plugins.code(codeOf(name, `script-${name}`, code));
  await Promise.all([send('a', 'A'), send('b', 'B')]);
  assert.deepEqual([state.registrations, scripts.size], [1, 2]);
  const sent = await Promise.allSettled([send('c', 'C'), send('d', 'refused'), send('zzz', ''), send('e', 'E')]);
  assert.deepEqual(
    sent.map((s) => (s.status === 'rejected' ? String(s.reason) : 'taken')),
    [
      'taken',
      'Error: Chrome refuses it',
      'Error: the plugin zzz with the script script-zzz is not wanted; sync the plugins first',
      'taken',
    ],
  );
  assert.deepEqual(
    [...scripts.values()].map((s) => s.code),
    ['A', 'B', 'C', 'E'].map((code, i) => `const _${'abce'[i]} = ${code}`),
  );
  assert.equal(order.at(-1)?.split('-')[0], 'bridge');
});

test('while more code comes the bridge is registered once, after all of it', async () => {
  const { plugins, order, state } = makeBench();
  const names = ['a', 'b', 'c'];
  await plugins.sync({ plugins: names.map((name) => plugin(name)) });
  const before = state.bridges;
  const send = (name: string) => plugins.code(codeOf(name, `script-${name}`, name));
  const first = send('a');
  await Promise.resolve(); // its registration has begun
  const [b, c] = [send('b'), send('c')];
  await first;
  await Promise.all([b, c]);
  assert.deepEqual([state.registrations, state.bridges - before], [2, 1]);
  assert.equal(order.at(-1)?.split('-')[0], 'bridge');
});

test('the bridge is registered after every host, also after one that came or moved', async () => {
  const { plugins, make, order, files } = makeBench();
  const last = () => order.at(-1)?.split('-')[0];
  const bridges = () => files.filter((f) => f.file === 'bridge.js').map((f) => f.script.id);
  await plugins.sync({ plugins: [plugin('a'), plugin('b')] });
  for (const name of ['a', 'b']) {
    await plugins.code(codeOf(name, `script-${name}`, ''));
    assert.equal(last(), 'bridge');
  }
  const before = bridges();
  await make().sync({ plugins: [plugin('a'), plugin('b')] });
  assert.deepEqual(bridges(), before);
  await plugins.sync({ plugins: [plugin('a', { excludes: ['*://a.org/x'] }), plugin('b')] });
  assert.equal(last(), 'bridge');
  assert.equal(bridges().length, 1);
  for (const name of ['a', 'b']) {
    const host = `plugin-${name}-script-${name}`;
    assert.ok(order.indexOf(`probe-${host}`) < order.indexOf(host), `no probe before ${host}: ${order}`);
  }
});

test('pre-scripts and plugins that want frames run in all; probe and bridge in those of the latter alone (fault 88)', async () => {
  const { plugins, scripts, files, order } = makeBench();
  const all = [
    plugin('plain'),
    plugin('pre', { allFrames: true }),
    plugin('framed', { allFrames: true, frames: true }),
  ];
  await plugins.sync({ plugins: all });
  await Promise.all(all.map(({ name, script }) => plugins.code(codeOf(name, script, ''))));
  const framed = (list: readonly { script: Script }[]) =>
    list.filter((s) => s.script.allFrames).map((s) => s.script.id);
  assert.deepEqual(framed([...scripts.values()]), ['plugin-pre-script-pre', 'plugin-framed-script-framed']);
  const [probe = '', bridge = '', ...more] = framed(files);
  assert.equal(probe, 'probe-plugin-framed-script-framed');
  assert.match(bridge, /^bridge-frames-/);
  assert.deepEqual(more, []);
  const bridges = files.filter((f) => f.file === 'bridge.js').map((f) => [f.script.allFrames, f.script.matches]);
  assert.deepEqual(bridges, [
    [false, ['*://plain.org/*', '*://pre.org/*', '*://framed.org/*']],
    [true, ['*://framed.org/*']],
  ]);
  assert.deepEqual(
    order.slice(-2).map((id) => id.split('-')[0]),
    ['bridge', 'bridge'],
  );
  // It wants them no more.
  await plugins.sync({ plugins: [plugin('framed', { allFrames: true, script: 's2' })] });
  assert.deepEqual(framed(files), []);
});

test('without user scripts no isolated plugin can run, whatever a document says', async () => {
  const { plugins, state } = makeBench();
  const isolated = plugin('a', { world: 'isolated', file: 'adapters/a.js' });
  await plugins.sync({ plugins: [isolated] });
  assert.equal(plugins.canRun(isolated), true);
  state.allowed = false;
  await plugins.sync({ plugins: [isolated] });
  assert.deepEqual([plugins.canRun(isolated), plugins.canRun(plugin('b'))], [false, true]);
});

test('a worker that was started anew finds what is registered', async () => {
  const { plugins, make } = makeBench();
  await plugins.sync({ plugins: [plugin('a')] });
  await plugins.code(codeOf('a', 'script-a', 'A'));
  assert.deepEqual(await make().sync({ plugins: [plugin('a')] }), { mode: 'userScripts' });
});

test('what is not wanted any more is removed, what runs elsewhere is moved', async () => {
  const { plugins, scripts, files, log } = makeBench();
  await plugins.sync({ plugins: [plugin('a'), plugin('b')] });
  await plugins.code(codeOf('a', 'script-a', 'A'));
  await plugins.code(codeOf('b', 'script-b', 'B'));
  await plugins.sync({ plugins: [plugin('a', { matches: ['*://other.org/*'] })] });
  assert.deepEqual([...scripts.keys()], ['plugin-a-script-a']);
  assert.deepEqual(log, ['moved plugin-a-script-a']);
  assert.deepEqual(files[0]?.script.matches, ['*://other.org/*']);
  await plugins.sync({});
  assert.equal(scripts.size, 0);
  assert.equal(files.length, 0);
});

test('a new script makes the old one stale', async () => {
  const { plugins, scripts } = makeBench();
  await plugins.sync({ plugins: [plugin('a')] });
  await plugins.code(codeOf('a', 'script-a', 'A'));
  assert.deepEqual((await plugins.sync({ plugins: [plugin('a', { script: 's2' })] })).missing, ['a']);
  assert.equal(scripts.size, 0);
  await plugins.code(codeOf('a', 's2', 'A2'));
  assert.deepEqual([...scripts.keys()], ['plugin-a-s2']);
});

test('a pattern that Chrome would refuse does not keep others from working', async () => {
  const { plugins, files } = makeBench();
  const bad = plugin('bad', { matches: ['*://*', 'not a pattern'] });
  const half = plugin('half', { matches: ['nonsense', '*://half.org:81/*'], excludes: ['?'] });
  assert.deepEqual(await plugins.sync({ plugins: [bad, half] }), { mode: 'userScripts', missing: ['half'] });
  assert.deepEqual(files[0]?.script.matches, ['http://half.org:81/*', 'https://half.org:81/*']);
});

test('code that nobody wants is refused', async () => {
  const { plugins, state } = makeBench();
  await plugins.sync({ plugins: [plugin('a')] });
  await assert.rejects(plugins.code(codeOf('b', 'script-b', '')), /plugin b .* is not wanted/);
  await assert.rejects(plugins.code(codeOf('a', 'other', '')), /is not wanted/);
  state.allowed = false;
  await assert.rejects(plugins.code(codeOf('a', 'script-a', '')), /does not allow user scripts/);
});

test('without user scripts, files are registered before the bridge, but none in the isolated world', async () => {
  const { plugins, files, state } = makeBench();
  state.allowed = false;
  const a = plugin('a', { file: 'adapters/a.js' });
  assert.deepEqual(await plugins.sync({ plugins: [a] }), { mode: 'files' });
  const b = plugin('b', { file: 'adapters/b.js' });
  const c = plugin('c', { file: 'adapters/c.js', world: 'isolated' });
  await plugins.sync({ plugins: [a, b, c] });
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'adapters/a.js', 'probe.js', 'adapters/b.js', 'bridge.js'],
  );
  await plugins.sync({ plugins: [{ ...a, script: 's2', file: 'adapters/a2.js' }] });
  assert.deepEqual(
    files.map((f) => f.file),
    ['probe.js', 'adapters/a2.js', 'bridge.js'],
  );
  state.allowed = true;
  assert.deepEqual(await plugins.sync({ plugins: [a] }), { mode: 'userScripts', missing: ['a'] });
  assert.deepEqual(
    files.map((f) => f.file),
    ['bridge.js'],
  );
});

test('with neither it says so', async () => {
  const { plugins, state } = makeBench();
  state.allowed = false;
  assert.deepEqual(await plugins.sync({ plugins: [plugin('a')] }), { mode: 'none' });
  assert.equal(plugins.mode, 'none');
  state.allowed = true;
  assert.equal(await plugins.detect(), 'userScripts');
});

test('syncs run one after the other, and one that fails holds up nobody', async () => {
  const { plugins, scripts } = makeBench();
  const first = plugins.sync({ plugins: [plugin('a')] });
  const bad = plugins.code(codeOf('zzz', '', ''));
  const code = plugins.code(codeOf('a', 'script-a', 'A'));
  const second = plugins.sync({ plugins: [plugin('a')] });
  await assert.rejects(bad);
  assert.deepEqual((await first).missing, ['a']);
  await code;
  assert.deepEqual(await second, { mode: 'userScripts' });
  assert.equal(scripts.size, 1);
});

test('clear leaves nothing', async () => {
  const { plugins, scripts, files } = makeBench();
  await plugins.sync({ plugins: [plugin('a')] });
  await plugins.code(codeOf('a', 'script-a', 'A'));
  await plugins.clear();
  assert.deepEqual([scripts.size, files.length], [0, 0]);
  assert.deepEqual((await plugins.sync({ plugins: [plugin('a')] })).missing, ['a']);
});
