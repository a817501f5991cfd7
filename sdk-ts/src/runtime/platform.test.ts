import assert from 'node:assert/strict';
import test from 'node:test';
import { log, setLogTransport } from '../log.ts';
import { notifyReadinessChanged } from '../readiness.ts';
import { connectToPlatform } from './platform.ts';

test('an adapter puts its log into the container, as the original OpenTabs platform expects', async () => {
  globalThis.__openTabs = undefined;
  const freshModule = './platform.ts?fresh';
  await import(freshModule);
  assert.deepEqual(globalThis.__openTabs, { __proto__: null, _setLogTransport: setLogTransport, log });
});

test('the original OpenTabs platform receives logs and readiness notices as window messages until the adapter ends', () => {
  const messages: unknown[] = [];
  Object.assign(globalThis, { window: { postMessage: (...args: unknown[]) => messages.push(args) } });
  const container = { _setLogTransport: setLogTransport };
  globalThis.__openTabs = container;
  const disconnect = connectToPlatform('site');
  notifyReadinessChanged();
  assert.deepEqual(messages, []);
  Object.assign(container, { _logNonce: 'l', _readinessNonce: 'r' });
  notifyReadinessChanged();
  log.info('hi', 1);
  const [readinessMessage, logMessage] = messages.splice(0);
  assert.deepEqual(readinessMessage, [{ type: 'opentabs:readiness-changed', plugin: 'site', nonce: 'r' }, '*']);
  const ts = JSON.stringify(logMessage).match(/"ts":"(.*?)"/)?.[1];
  assert.deepEqual(logMessage, [
    {
      type: 'opentabs:plugin-logs',
      plugin: 'site',
      nonce: 'l',
      entries: [{ level: 'info', message: 'hi', data: [1], ts }],
    },
    '*',
  ]);
  disconnect();
  setLogTransport(() => undefined);
  log.info('later');
  assert.deepEqual(messages, []);
});

test('the host of this repository keeps logs and readiness notices private', () => {
  const logs: unknown[] = [];
  let notices = 0;
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
      return () => notices++;
    },
    set _notifyReadinessChanged(_: unknown) {},
    _logNonce: 'l',
    _readinessNonce: 'r',
  };
  globalThis.__openTabs = container;
  Object.assign(container, { _setLogTransport: setLogTransport });
  const disconnect = connectToPlatform('site');
  log.warn('private');
  notifyReadinessChanged();
  disconnect();
  assert.deepEqual([logs, notices], [['private'], 1]);
});
