import assert from 'node:assert/strict';
import test from 'node:test';
import { indentJson, visible } from './json-text.ts';

test('arguments are written as they are sent, a member on each line', () => {
  assert.equal(
    indentJson('{"to":["a","b"],"n":12345678901234567890,"n":1.0,"none":{},"empty":[],"yes":true}'),
    `{
  "to": [
    "a",
    "b"
  ],
  "n": 12345678901234567890,
  "n": 1.0,
  "none": {},
  "empty": [],
  "yes": true
}`,
  );
  assert.equal(
    indentJson('"just a text, with {brackets}: and \\"quotes\\""'),
    '"just a text, with {brackets}: and \\"quotes\\""',
  );
  assert.equal(indentJson(''), '');
});

test('letters that were escaped are letters, what is not seen is an escape', () => {
  assert.equal(indentJson('{"a":"\\u6d88\\u606f caf\\u00e9"}'), '{\n  "a": "消息 café"\n}');
  assert.equal(indentJson('"a\\u202eb\u202ec\\u0007"'), '"a\\u202eb\\u202ec\\u0007"');
  assert.equal(visible('x\u{e0041}y\u2028z\u00ad👩\u200d🚀\n'), 'x\\udb40\\udc41y\\u2028z\\u00ad👩\u200d🚀\n');
});

test('brackets in brackets without end take little room', () => {
  assert.ok(indentJson('['.repeat(8_000)).length < 80 * 8_000);
  assert.equal(indentJson('[[[[]]]]').split('\n')[3], '      []');
});

test('text that was cut is written as far as it goes', () => {
  assert.equal(indentJson('{"a":[1,{"b":"lon'), '{\n  "a": [\n    1,\n    {\n      "b": "lon');
  assert.equal(indentJson('{"a":"x\\'), '{\n  "a": "x\\');
});
