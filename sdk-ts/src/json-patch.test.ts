import assert from 'node:assert/strict';
import test from 'node:test';
import type { PatchOperation } from './context.ts';
import { applyPatch } from './json-patch.ts';

type PatchCase = readonly [before: unknown, patch: readonly PatchOperation[], after: unknown];

test('applyPatch applies the operations of RFC 6902', () => {
  const patchCases: PatchCase[] = [
    [{ a: 1 }, [], { a: 1 }],
    [{ a: 1 }, [{ op: 'add', path: '/b', value: { c: [] } }], { a: 1, b: { c: [] } }],
    [{ a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    [{ a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    [[1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    [[1], [{ op: 'add', path: '/-', value: [2] }], [1, [2]]],
    [1, [{ op: 'add', path: '', value: null }], null],
    [{ a: 1 }, [{ op: 'replace', path: '', value: [] }], []],
    [{ a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    [[1, 2], [{ op: 'replace', path: '/1', value: 3 }], [1, 3]],
    [{ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    [[1, 2, 3], [{ op: 'remove', path: '/0' }], [2, 3]],
    [{ a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    [[1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    [
      { a: [1] },
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/b/-', value: 2 },
      ],
      { a: [1], b: [1, 2] },
    ],
    [{ a: { b: [1, null] } }, [{ op: 'test', path: '/a', value: { b: [1, null] } }], { a: { b: [1, null] } }],
    [
      { '': 1, 'a/b': 2, '~1': 3 },
      [
        { op: 'remove', path: '/' },
        { op: 'remove', path: '/a~1b' },
      ],
      { '~1': 3 },
    ],
    [{ '~1': 3 }, [{ op: 'replace', path: '/~01', value: 4 }], { '~1': 4 }],
  ];
  for (const [documentBefore, patch, after] of patchCases) {
    const original = structuredClone(documentBefore);
    assert.deepEqual(applyPatch(documentBefore, patch), after, JSON.stringify(patch));
    assert.deepEqual(documentBefore, original);
  }
});

test('applyPatch can add a member named __proto__', () => {
  const after = applyPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
  assert.equal(JSON.stringify(after), '{"__proto__":{"polluted":true}}');
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

test('applyPatch names the operation that failed, and does not change the document', () => {
  const patchCases: [unknown, PatchOperation, RegExp][] = [
    [{}, { op: 'remove', path: '/a' }, /operation 1 \(remove "\/a"\): no member "a"/],
    [{}, { op: 'replace', path: '/toString', value: 1 }, /no member "toString"/],
    [{}, { op: 'add', path: '/a/b', value: 1 }, /no member "a"/],
    [{ a: 1 }, { op: 'add', path: '/a/b', value: 1 }, /through a value that is not an object or array/],
    [{ a: 1 }, { op: 'add', path: 'a', value: 1 }, /a path must be empty or begin with \//],
    [[1], { op: 'remove', path: '/1' }, /no element 1 in an array of 1/],
    [[1], { op: 'add', path: '/3', value: 1 }, /no element 3/],
    [[1], { op: 'replace', path: '/-', value: 1 }, /no element -/],
    [[1], { op: 'replace', path: '/00', value: 1 }, /no element 00/],
    [{ a: {} }, { op: 'move', from: '/a', path: '/a/b' }, /into itself/],
    [{ a: 1 }, { op: 'test', path: '/a', value: '1' }, /the value differs/],
    [{ a: [] }, { op: 'test', path: '/a', value: {} }, /the value differs/],
    [{ a: { b: 1 } }, { op: 'test', path: '/a', value: { b: 1, c: 2 } }, /the value differs/],
    [{ a: 1 }, { op: 'remove', path: '' }, /the whole document cannot be removed/],
  ];
  for (const [documentBefore, operation, message] of patchCases) {
    const original = structuredClone(documentBefore);
    const passingOperation: PatchOperation = { op: 'test', path: '', value: original };
    assert.throws(() => applyPatch(documentBefore, [passingOperation, operation]), message);
    assert.deepEqual(documentBefore, original);
  }
});
