import assert from 'node:assert/strict';
import test from 'node:test';
import { navigateTool } from './navigate.ts';

test('the tool navigate opens web pages only', async (t) => {
  const location = { href: 'http://localhost:1/a' };
  Object.defineProperty(globalThis, 'location', { value: location, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'location'));
  assert.deepEqual(await navigateTool.handle({ to: '/b' }), { to: 'http://localhost:1/b' });
  assert.equal(location.href, 'http://localhost:1/b');
  await assert.rejects(navigateTool.handle({ to: 'javascript:alert(1)' }), { code: 'VALIDATION_ERROR' });
  assert.equal(location.href, 'http://localhost:1/b');
});
