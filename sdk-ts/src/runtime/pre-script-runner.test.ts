import assert from 'node:assert/strict';
import test from 'node:test';
import { definePreScript } from '../pre-script.ts';
import { getPreScriptValue } from '../pre-script-value.ts';

// In a build, OPENTABS_PLUGIN_NAME is replaced with the plugin's name; the test defines a global instead.
Object.assign(globalThis, { OPENTABS_PLUGIN_NAME: 'site' });
const { preparePreScript } = await import('./pre-script-runner.ts');

function captureConsole(method: 'info' | 'error', t: test.TestContext): unknown[][] {
  const consoleLines: unknown[][] = [];
  t.mock.method(console, method, (...args: unknown[]) => consoleLines.push(args));
  return consoleLines;
}

test('a pre-script runs immediately and stores values for the adapter', (t) => {
  globalThis.__openTabs = { _pluginName: 'site', preScript: { other: { kept: 1 } } };
  preparePreScript('site');
  const consoleLines = captureConsole('info', t);
  let setPreScriptValue: (key: string, value: string) => void = () => assert.fail('the pre-script did not run');
  definePreScript(({ set, log }) => {
    set('token', 'early');
    log.info('ready', 1);
    setPreScriptValue = set;
  });
  assert.equal(getPreScriptValue('token'), 'early');
  setPreScriptValue('token', 'late');
  assert.equal(getPreScriptValue('token'), 'late');
  assert.deepEqual(consoleLines, [['[opentabs:site:pre-script] ready', 1]]);
  assert.deepEqual(globalThis.__openTabs, {
    _pluginName: 'site',
    preScript: { other: { kept: 1 }, site: { token: 'late' } },
  });
});

test('preparePreScript lets one pre-script run', () => {
  globalThis.__openTabs = undefined;
  preparePreScript('site');
  let runCount = 0;
  definePreScript(() => runCount++);
  definePreScript(() => runCount++);
  globalThis.__openTabs = undefined;
  definePreScript(() => runCount++);
  assert.equal(runCount, 1);
});

test('an error of a pre-script is logged and not thrown', (t) => {
  globalThis.__openTabs = undefined;
  preparePreScript('site');
  const consoleLines = captureConsole('error', t);
  const error = new Error('no');
  definePreScript(({ set }) => {
    set('before', 1);
    throw error;
  });
  assert.deepEqual(consoleLines, [['[opentabs:site:pre-script] the pre-script failed:', error]]);
  assert.deepEqual(globalThis.__openTabs, { __proto__: null, preScript: { site: { before: 1 } } });
});

test('the pre-script module prepares the plugin that it was built for', async () => {
  globalThis.__openTabs = undefined;
  await import(`./pre-script-runner.ts?again=${process.pid}`);
  assert.deepEqual(Object.keys(Object(globalThis.__openTabs).preScript), ['site']);
});
