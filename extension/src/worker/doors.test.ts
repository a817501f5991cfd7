import assert from 'node:assert/strict';
import test from 'node:test';
import { createContext, runInContext, runInNewContext } from 'node:vm';
import { declare, declareApart, enter, makeDoors, startApart } from './doors.ts';

test('a door has a name of its own for each plugin and each browser, and keeps it', async () => {
  const doors = makeDoors(async () => 'secret');
  const name = await doors.nameOf('demo');
  assert.match(name, /^_[0-9a-f]{32}$/);
  assert.equal(await doors.nameOf('demo'), name);
  assert.equal(await makeDoors(async () => 'secret').nameOf('demo'), name);
  assert.notEqual(await doors.nameOf('other'), name);
  assert.notEqual(await makeDoors(async () => 'another').nameOf('demo'), name);
});

test('a door is no property of the window, and what is missing is no error', () => {
  const realm = { got: [] };
  runInNewContext(declare('_door', '((...args) => { got.push(args.length); return true; })\n'), realm);
  assert.deepEqual(Object.keys(realm), ['got']);
});

test('what comes to a door ends its own last line', () => {
  const code = (name: string) =>
    `${declare('_door', '(nonce, hash, next) => next() === 7')};\n${enter(name, 'n', 'h', 'function () { return 7 } // end')}`;
  assert.equal(runInNewContext(code('_door')), true);
  assert.equal(runInNewContext(code('_none')), false);
});

test('in a world of its own a host starts late where one that the bridge did not take has started before', () => {
  const realm = createContext({});
  runInContext(declareApart('_door', '() => "first"'), realm);
  assert.equal(runInContext(startApart('_door', '(() => undefined)()'), realm), false);
  assert.equal(runInContext('_door()', realm), 'first');
  assert.equal(runInContext(startApart('_door', '(() => typeof door)'), realm), true);
  assert.equal(runInContext('_door()', realm), 'undefined');
});
