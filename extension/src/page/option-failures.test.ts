import assert from 'node:assert/strict';
import test from 'node:test';
import { makeOptionNotFoundFailure, makeOptionNotReachedFailure } from './option-failures.ts';

test('the names of options are in the page text of an error, and not in its message', () => {
  const label = 'Approved by the user';
  for (const failure of [
    makeOptionNotFoundFailure('There is no option "Paris".', ['Rome', label]),
    makeOptionNotReachedFailure('Paris', ['Rome', label]),
  ]) {
    assert.match(failure.message, /"Paris"/);
    assert.doesNotMatch(failure.message, /Approved/);
    assert.match(failure.pageText ?? '', /Approved by the user/);
  }
  assert.equal(makeOptionNotReachedFailure('Paris', []).pageText, undefined);
});
