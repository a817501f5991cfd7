import assert from 'node:assert/strict';
import test from 'node:test';
import plugin from './index.ts';
import { bigTool } from './tools/big.ts';
import { echoTool } from './tools/echo.ts';
import { failTool } from './tools/fail.ts';
import { navigateTool } from './tools/navigate.ts';

test('the plugin is ready while a user is logged in', async (t) => {
  let loggedOut = false;
  const documentElement = { hasAttribute: (name: string) => name === 'data-logged-out' && loggedOut };
  Object.defineProperty(globalThis, 'document', { value: { documentElement }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  assert.equal(await plugin.isReady(), true);
  loggedOut = true;
  assert.equal(await plugin.isReady(), false);
});

test('the tool echo returns its input', async () => {
  for (const value of [null, 0, 'x', [1, { a: null }], 9007199254740991]) {
    assert.deepEqual(await echoTool.handle(echoTool.input.parse({ value })), { value });
  }
});

test('the tool big returns a text of the requested length', async () => {
  assert.equal((await bigTool.handle({ bytes: 3 })).text, 'xxx');
});

test('the tool fail throws the requested error', async () => {
  await assert.rejects(failTool.handle({ message: 'plain' }), { name: 'Error', message: 'plain' });
  const options = { category: 'rate_limit', retryable: true, retryAfterMs: 5 } as const;
  await assert.rejects(failTool.handle({ message: 'm', code: 'MINE', ...options }), {
    name: 'ToolError',
    message: 'm',
    code: 'MINE',
    ...options,
  });
});

test('the tool navigate opens web pages only', async (t) => {
  const location = { href: 'http://localhost:1/a' };
  Object.defineProperty(globalThis, 'location', { value: location, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'location'));
  assert.deepEqual(await navigateTool.handle({ to: '/b' }), { to: 'http://localhost:1/b' });
  assert.equal(location.href, 'http://localhost:1/b');
  await assert.rejects(navigateTool.handle({ to: 'javascript:alert(1)' }), { code: 'VALIDATION_ERROR' });
  assert.equal(location.href, 'http://localhost:1/b');
});
