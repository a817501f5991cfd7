import assert from 'node:assert/strict';
import { test } from 'node:test';

test('the worker can load the browser tools, because they use no DOM', async () => {
  assert.equal(typeof globalThis.document, 'undefined');
  const { makeBrowserTools } = await import('./browser-tools.ts');
  assert.equal(typeof makeBrowserTools, 'function');
});
