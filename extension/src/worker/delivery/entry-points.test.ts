import assert from 'node:assert/strict';
import test from 'node:test';
import { createContext, runInContext, runInNewContext } from 'node:vm';
import {
  makeAdapterScript,
  makeConstantScript,
  makeEntryPoints,
  makeStartAfterLoadScript,
  makeVariableScript,
} from './entry-points.ts';

test('the name of an entry point is stable, and differs for each plugin and browser', async () => {
  const entryPoints = makeEntryPoints(async () => 'secret');
  const name = await entryPoints.deriveName('demo');
  assert.match(name, /^_[0-9a-f]{32}$/);
  assert.equal(await entryPoints.deriveName('demo'), name);
  assert.equal(await makeEntryPoints(async () => 'secret').deriveName('demo'), name);
  assert.notEqual(await entryPoints.deriveName('other'), name);
  assert.notEqual(await makeEntryPoints(async () => 'another').deriveName('demo'), name);
});

test('an entry point is not a property of the window', () => {
  const realm = { got: [] };
  runInNewContext(makeConstantScript('_entry', '((...args) => { got.push(args.length); return true; })\n'), realm);
  assert.deepEqual(Object.keys(realm), ['got']);
});

test('an adapter may end with a comment, and a missing entry point causes no error', () => {
  const code = (name: string) =>
    `${makeConstantScript('_entry', '(nonce, hash, next) => next() === 7')};\n${makeAdapterScript(name, 'n', 'h', 'function () { return 7 } // end')}`;
  assert.equal(runInNewContext(code('_entry')), true);
  assert.equal(runInNewContext(code('_none')), false);
});

test('in an isolated world, a host can start late after the bridge rejected an earlier host', () => {
  const realm = createContext({});
  runInContext(makeVariableScript('_entry', '() => "first"'), realm);
  assert.equal(runInContext(makeStartAfterLoadScript('_entry', '(() => undefined)()'), realm), false);
  assert.equal(runInContext('_entry()', realm), 'first');
  assert.equal(runInContext(makeStartAfterLoadScript('_entry', '(() => typeof entryPoint)'), realm), true);
  assert.equal(runInContext('_entry()', realm), 'undefined');
});
