import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { clearAuthCache, getAuthCache, setAuthCache } from './auth-cache.ts';
import { getConfig } from './config.ts';
import { getPreScriptValue, setPreScriptOwner } from './pre-script-value.ts';
import { notifyReadinessChanged } from './readiness.ts';

// What the SDK finds in the container that a platform gives a plugin.

afterEach(() => {
  globalThis.__openTabs = undefined;
});

test('without a platform there is nothing, and nothing throws', () => {
  globalThis.__openTabs = undefined;
  assert.equal(getConfig('key'), undefined);
  assert.equal(getPreScriptValue('key'), undefined);
  assert.equal(getAuthCache('key'), null);
  notifyReadinessChanged();
});

test('settings are read at each use, and only what a setting can be', () => {
  // A page can give every object a member.
  const polluted = { polluted: 'by the page' };
  const pluginConfig: Record<string, unknown> = {
    __proto__: polluted,
    url: 'https://a.test',
    n: 0,
    on: false,
    map: { a: 1 },
  };
  globalThis.__openTabs = { pluginConfig };
  assert.deepEqual(['url', 'n', 'on', 'map', 'absent', 'polluted'].map(getConfig), [
    'https://a.test',
    0,
    false,
    undefined,
    undefined,
    undefined,
  ]);
  pluginConfig.n = 5;
  assert.equal(getConfig('n'), 5);
});

test('values of the pre-script are those of the own plugin', () => {
  const preScript = { mine: { token: 't' }, other: { token: 'x' } };
  globalThis.__openTabs = { preScript, _pluginName: 'other' };
  assert.equal(getPreScriptValue('token'), 'x');
  // While isReady runs an existing host names no plugin, or another one.
  setPreScriptOwner('mine');
  assert.equal(getPreScriptValue<string>('token'), 't');
  assert.equal(getPreScriptValue('constructor'), undefined);
});

test('the auth cache keeps values of any kind until it is cleared', () => {
  globalThis.__openTabs = undefined;
  setAuthCache('site', { token: 't' });
  setAuthCache('__proto__', 'p');
  assert.deepEqual(getAuthCache('site'), { token: 't' });
  assert.equal(getAuthCache('__proto__'), 'p');
  assert.equal(getAuthCache('toString'), null);
  const cache = { __proto__: null, site: { token: 't' } };
  assert.deepEqual(globalThis.__openTabs, {
    __proto__: null,
    tokenCache: Object.defineProperty(cache, '__proto__', { value: 'p', enumerable: true }),
  });
  clearAuthCache('site');
  assert.equal(getAuthCache('site'), null);
});

test('a cache that can not be written is left alone', () => {
  globalThis.__openTabs = Object.freeze({});
  setAuthCache('site', 1);
  assert.equal(getAuthCache('site'), null);
});

test('a change of readiness is told to the platform, whatever that does', () => {
  let told = 0;
  globalThis.__openTabs = {
    _notifyReadinessChanged() {
      told++;
      throw new Error('no');
    },
  };
  notifyReadinessChanged();
  assert.equal(told, 1);
});
