import assert from 'node:assert/strict';
import test from 'node:test';
import { makeAdapterCode, makeRealm } from '../../test/realm.ts';

test('the host parses integers of 16 or more digits exactly, except in messages marked as free of them', async () => {
  const realm = makeRealm();
  realm.run(`
    exact = [];
    const parse = JSON.parse;
    JSON.parse = (text, reviver) => {
      if (text.includes('"call"')) exact.push(reviver !== undefined);
      return parse(text, reviver);
    };
  `);
  realm.start('demo', 'h1', makeAdapterCode('demo', "{ name: 'run', handle: (p) => p.n }"));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  port?.receivedTexts.splice(0);
  port?.sendText('["call",1,"run",1000000,{"n":1},false]');
  port?.sendText(' ["call",2,"run",1000000,{"n":2},false]');
  await realm.waitUntilIdle();
  assert.deepEqual(port?.receivedTexts, ['r 1 1', 'r 2 2']);
  assert.equal(realm.run('exact.join()'), 'true,false');
});
