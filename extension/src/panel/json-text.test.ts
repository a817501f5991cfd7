import assert from 'node:assert/strict';
import test from 'node:test';
import { escapeHidden, indentJson } from './json-text.ts';

test('indentJson prints one member per line and keeps numbers and duplicates', () => {
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

test('indentJson unescapes letters and escapes hidden characters', () => {
  assert.equal(indentJson('{"a":"\\u6d88\\u606f caf\\u00e9"}'), '{\n  "a": "消息 café"\n}');
  assert.equal(indentJson('"a\\u202eb\u202ec\\u0007"'), '"a\\u202eb\\u202ec\\u0007"');
  assert.equal(escapeHidden('x\u{e0041}y\u2028z\u00ad👩\u200d🚀\n'), 'x\\udb40\\udc41y\\u2028z\\u00ad👩\u200d🚀\n');
});

test('indentJson limits the indentation of deep nesting', () => {
  assert.ok(indentJson('['.repeat(8_000)).length < 80 * 8_000);
  assert.equal(indentJson('[[[[]]]]').split('\n')[3], '      []');
});

test('indentJson formats truncated text', () => {
  assert.equal(indentJson('{"a":[1,{"b":"lon'), '{\n  "a": [\n    1,\n    {\n      "b": "lon');
  assert.equal(indentJson('{"a":"x\\'), '{\n  "a": "x\\');
});
