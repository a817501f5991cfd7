import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';
import type { FromBridge } from '../port-message.ts';
import { makeDesk } from './calls.ts';
import type { Host } from './hosts.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));
afterEach(() => mock.timers.reset());

/** makeBench returns a desk with the adapter of one plugin, in which the call x runs. */
function makeBench() {
  const posted: FromBridge[] = [];
  const desk = makeDesk((message) => {
    posted.push(message);
    return true;
  });
  const told: string[] = [];
  const host: Host = {
    plugin: 'p',
    hash: 'h1',
    base: 'b',
    send: (text) => told.push(text),
  };
  desk.plugins.took(host);
  const say = (text: string) => desk.fromHost(host, text);
  const call = (id: string) => desk.fromWorker({ op: 'call', id, plugin: 'p', tool: 't', maxBytes: 9, args: '{}' });
  const renew = (hash = 'h2') => desk.fromWorker({ op: 'renew', plugin: 'p', hash, nonce: 'n', waitMs: 1000 });
  say('ready');
  call('x');
  posted.splice(0);
  told.splice(0);
  return { desk, posted, told, say, call, renew };
}

test('an adapter is replaced once its calls have ended; calls that come meanwhile wait for the new one', () => {
  const { posted, told, say, call, renew, desk } = makeBench();
  renew();
  call('y');
  call('z');
  desk.fromWorker({ op: 'cancel', id: 'z', reason: 'r' });
  assert.deepEqual(told, []);
  assert.deepEqual(posted.splice(0), [{ op: 'cancelled', id: 'z', outcome: 'aborted' }]);
  say('r 1 "old"');
  assert.deepEqual(told.splice(0), ['["renew","n","h2"]']);
  say('armed n');
  assert.deepEqual(posted.splice(1), [{ op: 'armed', plugin: 'p', nonce: 'n', based: false }]);
  posted.splice(0);
  say('renewed h2');
  assert.deepEqual(told.splice(0), ['["call",2,"t",9,{},false]']);
  assert.deepEqual(
    posted.splice(0).map(({ op }) => op),
    ['live', 'renewed'],
  );
  say('r 2 "new"');
  assert.deepEqual(posted.splice(0), [{ op: 'result', id: 'y', text: '"new"' }]);
});

test('calls that do not end in time end with an error that says why, and their handlers are told to stop', () => {
  const { posted, told, say, renew } = makeBench();
  renew('h2');
  mock.timers.tick(900);
  renew('h3'); // a newer one gives them no more time
  mock.timers.tick(99);
  assert.deepEqual([told, posted], [[], []]);
  mock.timers.tick(1);
  const why = 'a new version of the plugin p took its place while the call ran';
  assert.deepEqual(told, [`["cancel",1,"${why}"]`, '["renew","n","h3"]']);
  assert.deepEqual(posted.splice(0), [
    { op: 'error', id: 'x', error: JSON.stringify({ code: 'plugin_updated', message: why }) },
  ]);
  for (const text of ['a 1', 'r 1 "late"']) say(text);
  assert.deepEqual(posted, []);
});

test('calls go on with the adapter that stays, where the new one does not come or is not taken', () => {
  for (const end of ['kept a typo', 'nothing', 'another worker']) {
    const { desk, told, say, call, renew } = makeBench();
    say('r 1 "old"');
    renew();
    call('y');
    assert.deepEqual(told.splice(0), ['["renew","n","h2"]']);
    if (end === 'nothing') mock.timers.tick(10_000);
    else if (end === 'another worker') desk.connected();
    else say(end);
    assert.deepEqual(told, ['["call",2,"t",9,{},false]'], end);
  }
});

test('a call that waits for the new adapter has not begun, and ends if the plugin goes', () => {
  const { desk, posted, call, renew } = makeBench();
  renew();
  call('y');
  desk.leaving();
  assert.deepEqual(posted.splice(0), [{ op: 'leaving', begun: ['x'] }]);
  desk.fromWorker({ op: 'remove', plugin: 'p' });
  assert.match(JSON.stringify(posted), /"id":"y","error":"{.*navigated.*notStarted.*true}"/);
});

test('a plugin that was removed and whose new adapter does not start has failed in the page', () => {
  const { desk, posted, say, renew } = makeBench();
  say('r 1 1');
  desk.fromWorker({ op: 'remove', plugin: 'p' });
  renew();
  posted.splice(0);
  say('kept a typo');
  assert.deepEqual(posted, [
    { op: 'live', plugins: [{ name: 'p', hash: 'h2', base: 'b', problem: 'a typo' }], running: [] },
    { op: 'renewed', plugin: 'p', hash: 'h2', problem: 'a typo' },
  ]);
});

test('a plugin that was removed is vacant until another adapter takes its place', () => {
  const { desk, posted, told, say, renew } = makeBench();
  say('r 1 1');
  desk.fromWorker({ op: 'remove', plugin: 'p' });
  assert.deepEqual(posted.splice(0).at(-1), {
    op: 'live',
    plugins: [],
    vacant: [{ name: 'p', base: 'b' }],
    running: [],
  });
  desk.plugins.parsed();
  assert.deepEqual(told.splice(0), ['["remove"]']);
  renew();
  say('armed n');
  say('renewed h2');
  assert.deepEqual(posted.splice(1)[0], { op: 'live', plugins: [{ name: 'p', hash: 'h2', base: 'b' }], running: [] });
  assert.deepEqual(told, ['["renew","n","h2"]', '["probe"]']);
});
