import assert from 'node:assert/strict';
import test from 'node:test';
import { log, setLogTransport } from '../log.ts';
import { notifyReadinessChanged } from '../readiness.ts';
import { connectToPlatform } from './platform.ts';

test('an adapter puts its log into the container, as the original OpenTabs platform expects', async () => {
  globalThis.__openTabs = undefined;
  const uncachedModulePath = './platform.ts?fresh';
  await import(uncachedModulePath);
  assert.deepEqual(globalThis.__openTabs, { __proto__: null, _setLogTransport: setLogTransport, log });
});

test('the original OpenTabs platform receives logs and readiness notices as window messages until the adapter ends', () => {
  const postedMessages: unknown[] = [];
  Object.assign(globalThis, { window: { postMessage: (...args: unknown[]) => postedMessages.push(args) } });
  const container = { _setLogTransport: setLogTransport };
  globalThis.__openTabs = container;
  const disconnectPlatform = connectToPlatform('site');
  notifyReadinessChanged();
  assert.deepEqual(postedMessages, []);
  Object.assign(container, { _logNonce: 'l', _readinessNonce: 'r' });
  notifyReadinessChanged();
  log.info('hi', 1);
  const [readinessMessage, logMessage] = postedMessages.splice(0);
  assert.deepEqual(readinessMessage, [{ type: 'opentabs:readiness-changed', plugin: 'site', nonce: 'r' }, '*']);
  const logTimestamp = JSON.stringify(logMessage).match(/"ts":"(.*?)"/)?.[1];
  assert.deepEqual(logMessage, [
    {
      type: 'opentabs:plugin-logs',
      plugin: 'site',
      nonce: 'l',
      entries: [{ level: 'info', message: 'hi', data: [1], ts: logTimestamp }],
    },
    '*',
  ]);
  disconnectPlatform();
  setLogTransport(() => undefined);
  log.info('later');
  assert.deepEqual(postedMessages, []);
});

test('the host of this repository keeps logs and readiness notices private', () => {
  const logs: unknown[] = [];
  let noticeCount = 0;
  Object.assign(globalThis, { window: { postMessage: () => assert.fail('a page could read this') } });
  // The accessors of the test's container behave like the accessors that the extension's host defines.
  const container = {
    get _setLogTransport() {
      return () => () => undefined;
    },
    set _setLogTransport(setTransport: typeof setLogTransport) {
      setTransport((entry) => logs.push(entry.message));
    },
    get _notifyReadinessChanged() {
      return () => noticeCount++;
    },
    set _notifyReadinessChanged(_: unknown) {},
    _logNonce: 'l',
    _readinessNonce: 'r',
  };
  globalThis.__openTabs = container;
  Object.assign(container, { _setLogTransport: setLogTransport });
  const disconnectPlatform = connectToPlatform('site');
  log.warn('private');
  notifyReadinessChanged();
  disconnectPlatform();
  assert.deepEqual([logs, noticeCount], [['private'], 1]);
});
