import assert from 'node:assert/strict';
import test from 'node:test';
import { OFFER, ROLL_CALL, TAKEN, UP } from '../handshake.ts';
import { makeDesk } from './calls.ts';
import { gatherHosts, type Host, meetHost } from './hosts.ts';

class EmptyPage extends EventTarget {
  readonly documentElement = { firstChild: null, lastChild: null };
  readonly readyState = 'loading';
}

/** offer does what a host does, and reports whether the bridge took it and how to speak to it. */
function offer(page: EventTarget, plugin: string, type = OFFER) {
  const { port1: port } = new MessageChannel();
  const made = { taken: false, up: (data: string) => void port.dispatchEvent(new MessageEvent(UP, { data })) };
  port.addEventListener(TAKEN, () => {
    made.taken = true;
  });
  page.dispatchEvent(new MessageEvent(type, { data: JSON.stringify([plugin, 'h']), ports: [port] }));
  return made;
}

test('hosts are taken while the roll is called, and never before or after', () => {
  const page = new EmptyPage();
  const said: string[] = [];
  const early = offer(page, 'early');
  let asked = offer(page, 'none');
  page.addEventListener(ROLL_CALL, () => {
    asked = offer(page, 'demo');
  });
  const took: string[] = [];
  gatherHosts(page, {
    took: (host) => took.push(host.plugin),
    said: (host: Host, text) => said.push(`${host.plugin} ${text}`),
  });
  assert.deepEqual(took, ['demo']);
  asked.up('ready');
  // The document is as empty as before: its root may be a script, which runs now.
  const late = offer(page, 'late');
  late.up('ready');
  assert.deepEqual([early.taken, asked.taken, late.taken], [false, true, false]);
  assert.deepEqual(said, ['demo ready']);
});

test('a document has a limited number of hosts, one for each plugin', () => {
  const page = new EmptyPage();
  let taken = 0;
  page.addEventListener(ROLL_CALL, () => {
    for (let i = 0; i < 1000; i++) for (let n = 0; n < 2; n++) taken += offer(page, `p${i}`).taken ? 1 : 0;
  });
  gatherHosts(page, { took: () => undefined, said: () => undefined });
  assert.equal(taken, 200);
});

test('of the hosts that start late for one plugin only that of the newest wait is taken, and once', () => {
  const page = new EmptyPage();
  const took: string[] = [];
  const desk = makeDesk(
    () => true,
    () => true,
    (plugin, type) => {
      return meetHost(page, type, plugin, {
        took: (host) => took.push(`${type} ${host.plugin}`),
        said: () => undefined,
      });
    },
  );
  for (const nonce of ['old', 'new']) desk.fromWorker({ op: 'meet', plugin: 'demo', hash: nonce, nonce });
  desk.fromWorker({ op: 'meet', plugin: 'other', hash: 'h', nonce: 'third' });
  const taken = [
    offer(page, 'demo', 'old').taken,
    offer(page, 'other', 'new').taken,
    offer(page, 'other', 'third').taken,
    offer(page, 'other', 'third').taken,
  ];
  assert.deepEqual([taken, took], [[false, false, true, false], ['third other']]);
  desk.fromWorker({ op: 'meet', plugin: 'demo', hash: 'newest', nonce: 'newest' });
  assert.equal(offer(page, 'demo', 'newest').taken, true);
});
