import assert from 'node:assert/strict';
import test from 'node:test';
import { buildQueryString, stripUndefined } from './query.ts';

test('buildQueryString omits undefined values and repeats the key of an array', () => {
  assert.equal(buildQueryString({}), '');
  assert.equal(
    buildQueryString({ q: 'a b&c', limit: 50, all: false, cursor: undefined, type: ['x', 2, true], none: [] }),
    'q=a+b%26c&limit=50&all=false&type=x&type=2&type=true',
  );
});

test('stripUndefined keeps null, 0, false and the empty text', () => {
  const object = { a: undefined, b: null, c: 0, d: false, e: '' };
  assert.deepEqual(stripUndefined(object), { b: null, c: 0, d: false, e: '' });
  assert.equal(Object.keys(object).length, 5);
});
