import assert from 'node:assert/strict';
import test from 'node:test';
import { hasSameProps } from './memo.ts';
import { reuseIfEqual, reuseItems } from './reuse.ts';

test('reuseIfEqual returns the previous object only if all members are equal', () => {
  const previousItems = { a: 1, b: [{ c: 'x' }], d: undefined };
  assert.equal(reuseIfEqual(previousItems, structuredClone(previousItems)), previousItems);
  const objectWithoutMember = { a: 1, b: [{ c: 'x' }] };
  assert.equal(reuseIfEqual<object>(previousItems, objectWithoutMember), previousItems);
  for (const nextItems of [
    { a: 1, b: [{ c: 'y' }] },
    { a: 1, b: [{ c: 'x' }, { c: 'x' }] },
    { a: 1, b: [{ c: 'x' }], d: 1 },
    { a: '1', b: [{ c: 'x' }] },
  ])
    assert.equal(reuseIfEqual<object>(previousItems, nextItems), nextItems);
  assert.equal(reuseIfEqual(undefined, previousItems), previousItems);
});

test('reuseItems keeps the items that have not changed, and the list if no item has changed', () => {
  const previousItems = [
    { id: 1, n: 1 },
    { id: 2, n: 1 },
  ];
  const getItemKey = (item: { id: number }) => item.id;
  assert.equal(reuseItems(previousItems, structuredClone(previousItems), getItemKey), previousItems);
  const changedItems = reuseItems(
    previousItems,
    [
      { id: 2, n: 1 },
      { id: 1, n: 5 },
      { id: 3, n: 1 },
    ],
    getItemKey,
  );
  assert.equal(changedItems[0], previousItems[1]);
  assert.deepEqual(changedItems[1], { id: 1, n: 5 });
  assert.equal(changedItems.length, 3);
  assert.notEqual(reuseItems(previousItems, previousItems.slice(0, 1), getItemKey), previousItems);
});

test('hasSameProps compares members with ===', () => {
  const frozenList: string[] = [];
  assert.ok(hasSameProps({ list: frozenList, n: 1 }, { n: 1, list: frozenList }));
  assert.ok(!hasSameProps({ list: frozenList }, { list: [] }));
  assert.ok(!hasSameProps({ n: 1 }, { n: 1, m: undefined }));
  assert.ok(!hasSameProps({ n: undefined }, { m: undefined }));
});
