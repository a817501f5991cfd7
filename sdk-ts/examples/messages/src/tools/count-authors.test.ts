import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { mockSite } from '../test/site.ts';
import { countAuthors } from './count-authors.ts';

test('the last table of the activity is the table that count_authors returns', async (t) => {
  mockSite(t);
  const context = makeContext();
  const { authors } = await countAuthors.handle({ channelId: 'a' }, context);
  assert.deepEqual(authors, [
    { author: 'ann', messages: 3 },
    { author: 'bob', messages: 3 },
  ]);
  assert.deepEqual(context.activity('table'), authors);
  assert.deepEqual(context.activities[0], { type: 'table', content: [], audience: 'user' });
  assert.deepEqual([context.activities.length, context.dropped, context.endedFor], [7, [], 'user']);
});

test('count_authors runs without a context', async (t) => {
  mockSite(t);
  assert.equal((await countAuthors.handle({ channelId: 'a' })).authors.length, 2);
});
