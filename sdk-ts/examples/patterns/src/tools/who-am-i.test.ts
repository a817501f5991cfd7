import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { whoAmI } from './who-am-i.ts';

/** Mocks the document. Returns the data attributes of the document's <html>. */
function mockPage(t: TestContext): { user?: string } {
  const dataset: { user?: string } = {};
  Object.defineProperty(globalThis, 'document', { value: { documentElement: { dataset } }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  return dataset;
}

test('who_am_i does not ask a user who is logged in', async (t) => {
  mockPage(t).user = 'ann';
  const context = makeContext({ user: 'deny' });
  assert.deepEqual(await whoAmI.handle({}, context), { name: 'ann' });
  assert.deepEqual(context.userRequests, []);
});

test('who_am_i waits until the user has logged in', async (t) => {
  const dataset = mockPage(t);
  const context = makeContext({
    user: () => {
      dataset.user = 'bob';
    },
  });
  assert.deepEqual(await whoAmI.handle({}, context), { name: 'bob' });
  assert.deepEqual(context.userRequests, [{ title: 'Log in', reason: 'Log in to the chat in this tab.' }]);
});

test('who_am_i fails if the user declines, or confirms without having logged in', async (t) => {
  mockPage(t);
  await assert.rejects(whoAmI.handle({}, makeContext({ user: 'deny' })), { code: 'user_denied' });
  await assert.rejects(whoAmI.handle({}, makeContext()), { code: 'AUTH_ERROR' });
});
