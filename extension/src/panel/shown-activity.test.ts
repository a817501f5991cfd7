import assert from 'node:assert/strict';
import test from 'node:test';
import { MaxColumns, MaxTableRows, readTable, toShownActivity } from './shown-activity.ts';

const convertToActivity = (type: string, value: unknown) => {
  const content = JSON.stringify(value);
  return toShownActivity({ type, content, bytes: content.length });
};

test('an activity of type text or code shows its text', () => {
  assert.deepEqual(convertToActivity('text', 'one\r\ntwo'), { kind: 'text', text: 'one\ntwo' });
  assert.deepEqual(convertToActivity('text', { text: 'one' }), { kind: 'text', text: 'one' });
  assert.deepEqual(convertToActivity('code', 'if x:\n\ty()'), { kind: 'code', text: 'if x:\n    y()', language: '' });
  assert.deepEqual(convertToActivity('code', { code: 'x', language: 'python' }), {
    kind: 'code',
    text: 'x',
    language: 'python',
  });
});

test('hidden characters in activities are escaped', () => {
  assert.deepEqual(convertToActivity('text', 'a\u202eb\u0000'), { kind: 'text', text: 'a\\u202eb\\u0000' });
  assert.deepEqual(convertToActivity('code', { code: '\u2066', language: '\u200b' }), {
    kind: 'code',
    text: '\\u2066',
    language: '\\u200b',
  });
  const { columns, rows: tableRows } = readTable({ columns: ['\u202e'], rows: [['\u200b']] }) ?? {};
  assert.deepEqual([columns, tableRows], [['\\u202e'], [['\\u200b']]]);
});

test('unknown types and mismatched content are shown as JSON', () => {
  assert.deepEqual(convertToActivity('text', 7), { kind: 'json', text: '7' });
  assert.deepEqual(convertToActivity('code', { code: 7 }), { kind: 'json', text: '{\n  "code": 7\n}' });
  assert.deepEqual(convertToActivity('table', 'x'), { kind: 'json', text: '"x"' });
  assert.deepEqual(convertToActivity('table', [1, 2]), { kind: 'json', text: '[\n  1,\n  2\n]' });
  assert.deepEqual(convertToActivity('html', '<b>'), { kind: 'json', text: '"<b>"' });
  assert.deepEqual(toShownActivity({ type: 'x', content: '12345678901234567890', bytes: 20 }), {
    kind: 'json',
    text: '12345678901234567890',
  });
  assert.deepEqual(toShownActivity({ type: 'text', bytes: 70_000 }), { kind: 'large', bytes: 70_000 });
});

test('a table of objects has a column for each key that occurs in any row', () => {
  assert.deepEqual(
    convertToActivity('table', [
      { a: 1, b: 'x' },
      { b: { c: [1] }, d: null },
    ]),
    {
      kind: 'table',
      columns: ['a', 'b', 'd'],
      rows: [
        ['1', 'x', ''],
        ['', '{"c":[1]}', ''],
      ],
      omittedRowCount: 0,
      omittedColumnCount: 0,
    },
  );
});

test('an activity with columns and rows is shown as a table', () => {
  const { columns, rows: tableRows } =
    readTable({ columns: ['a', 'toString'], rows: [[1], [2, true, 'surplus'], { a: 'x' }] }) ?? {};
  assert.deepEqual(columns, ['a', 'toString']);
  assert.deepEqual(tableRows, [
    ['1', ''],
    ['2', 'true'],
    ['x', ''],
  ]);
  for (const malformedContent of [
    { columns: 'a', rows: [] },
    { columns: [1], rows: [] },
    { columns: ['a'] },
    { rows: [[1]] },
    [],
    null,
  ]) {
    assert.equal(readTable(malformedContent), undefined, JSON.stringify(malformedContent));
  }
});

test('readTable truncates a large table and counts the omitted rows and columns', () => {
  const wideRow = Object.fromEntries(Array.from({ length: MaxColumns + 3 }, (_, i) => [`c${i}`, 'x'.repeat(1000)]));
  const table = readTable(Array.from({ length: MaxTableRows + 7 }, () => wideRow));
  assert.deepEqual(
    [table?.rows.length, table?.columns.length, table?.omittedRowCount, table?.omittedColumnCount],
    [MaxTableRows, MaxColumns, 7, 3],
  );
  assert.equal(table?.rows[0]?.[0]?.length, 301);
});
