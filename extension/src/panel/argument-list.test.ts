import assert from 'node:assert/strict';
import test from 'node:test';
import { listArguments, needsOwnBlock, summarizeArguments } from './argument-list.ts';

test('listArguments returns one row for each argument, with strings without quotation marks', () => {
  assert.deepEqual(listArguments('{"to":"ann","count":10000,"dry":false,"none":null}'), [
    { name: 'to', text: 'ann', isCode: false },
    { name: 'count', text: '10000', isCode: true },
    { name: 'dry', text: 'false', isCode: true },
    { name: 'none', text: 'null', isCode: true },
  ]);
  assert.deepEqual(listArguments('{}'), []);
});

test('listArguments keeps all digits of numbers, all arguments of a repeated name, and one row per nested value', () => {
  const argumentRows = listArguments('{"id":9007199254740993,"id":1.50,"list":[{"a":1},"b"]}') ?? [];
  assert.deepEqual(
    argumentRows.map(({ name, text }) => [name, text.replace(/\s+/g, '')]),
    [
      ['id', '9007199254740993'],
      ['id', '1.50'],
      ['list', '[{"a":1},"b"]'],
    ],
  );
});

test('listArguments shows hidden characters in names and values as escapes', () => {
  assert.deepEqual(listArguments('{"a\\u202e":"x\\u200by\\u0007"}'), [
    { name: 'a\\u202e', text: 'x\\u200by\\u0007', isCode: false },
  ]);
});

test('listArguments treats a string that contains JSON as a string', () => {
  assert.deepEqual(listArguments('{"a":"{\\"b\\":1}","c":"true"}'), [
    { name: 'a', text: '{"b":1}', isCode: false },
    { name: 'c', text: 'true', isCode: false },
  ]);
});

test('listArguments shows truncated arguments up to their end, and returns undefined for an array', () => {
  assert.deepEqual(listArguments('{"a":1,"b":"half of')?.[1], { name: 'b', text: '"half of', isCode: false });
  assert.deepEqual(listArguments('{"a":[1,2')?.[0]?.text.replace(/\s+/g, ''), '[1,2');
  assert.equal(listArguments('[1]'), undefined);
});

test('needsOwnBlock is true for values with many characters or many lines', () => {
  assert.equal(needsOwnBlock('x'.repeat(240)), false);
  assert.equal(needsOwnBlock('x'.repeat(241)), true);
  assert.equal(needsOwnBlock('1\n2\n3\n4\n5\n6\n7'), true);
});

test('summarizeArguments returns short arguments, and undefined for long arguments', () => {
  assert.equal(summarizeArguments('{"to":"ann","text":"a\\n b"}', 100), 'to: ann, text: a b');
  assert.equal(summarizeArguments('{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaa"}', 20), undefined);
  assert.equal(summarizeArguments('', 20), '');
});
