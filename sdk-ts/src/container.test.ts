import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { clearAuthCache, getAuthCache, setAuthCache } from './auth-cache.ts';
import { getConfig } from './config.ts';
import { getPreScriptValue, setPreScriptOwner } from './pre-script-value.ts';
import { notifyReadinessChanged } from './readiness.ts';

afterEach(() => {
  globalThis.__openTabs = undefined;
});

test('outside opentabs, the functions that read the container of the adapter return nothing and do not throw', () => {
  globalThis.__openTabs = undefined;
  assert.equal(getConfig('key'), undefined);
  assert.equal(getPreScriptValue('key'), undefined);
  assert.equal(getAuthCache('key'), null);
  notifyReadinessChanged();
});

test('getConfig reads the current setting and ignores values of other types', () => {
  // A page can add properties to every object through Object.prototype, which the SDK must ignore.
  const inheritedMembers = { polluted: 'by the page' };
  const pluginConfig: Record<string, unknown> = {
    __proto__: inheritedMembers,
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

test('getPreScriptValue returns only values of the same plugin', () => {
  const preScript = { mine: { token: 't' }, other: { token: 'x' } };
  globalThis.__openTabs = { preScript, _pluginName: 'other' };
  assert.equal(getPreScriptValue('token'), 'x');
  // During isReady, the original OpenTabs platform sets `_pluginName` to nothing, or to another plugin's name.
  setPreScriptOwner('mine');
  assert.equal(getPreScriptValue<string>('token'), 't');
  assert.equal(getPreScriptValue('constructor'), undefined);
});

test('the auth cache stores values of any type until they are cleared', () => {
  globalThis.__openTabs = undefined;
  setAuthCache('site', { token: 't' });
  setAuthCache('__proto__', 'p');
  assert.deepEqual(getAuthCache('site'), { token: 't' });
  assert.equal(getAuthCache('__proto__'), 'p');
  assert.equal(getAuthCache('toString'), null);
  const authCache = { __proto__: null, site: { token: 't' } };
  assert.deepEqual(globalThis.__openTabs, {
    __proto__: null,
    tokenCache: Object.defineProperty(authCache, '__proto__', { value: 'p', enumerable: true }),
  });
  clearAuthCache('site');
  assert.equal(getAuthCache('site'), null);
});

test('the auth cache stays empty if the page has frozen the container of the adapter', () => {
  globalThis.__openTabs = Object.freeze({});
  setAuthCache('site', 1);
  assert.equal(getAuthCache('site'), null);
});

test('notifyReadinessChanged notifies the platform and ignores errors of the platform', () => {
  let notifiedCount = 0;
  globalThis.__openTabs = {
    _notifyReadinessChanged() {
      notifiedCount++;
      throw new Error('no');
    },
  };
  notifyReadinessChanged();
  assert.equal(notifiedCount, 1);
});
