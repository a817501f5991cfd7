import assert from 'node:assert/strict';
import test from 'node:test';
import {
  BRIDGE_TO_HOST_EVENT,
  HANDSHAKE_EVENT,
  HOST_OFFER_EVENT,
  HOST_TO_BRIDGE_EVENT,
  OFFER_ACCEPTED_EVENT,
} from '../handshake.ts';
import { BridgeCalls } from './calls.ts';
import { awaitLateHost, connectOfferingHosts, type Host } from './hosts.ts';

class EmptyPage extends EventTarget {
  readonly documentElement = { firstChild: null, lastChild: null };
  readonly readyState = 'loading';
}

function dispatchOffer(page: EventTarget, plugin: string, type = HOST_OFFER_EVENT) {
  const { port1: port } = new MessageChannel();
  const pageOffer = {
    taken: false,
    up: (messageText: string) => void port.dispatchEvent(new MessageEvent(HOST_TO_BRIDGE_EVENT, { data: messageText })),
  };
  port.addEventListener(OFFER_ACCEPTED_EVENT, () => {
    pageOffer.taken = true;
  });
  page.dispatchEvent(new MessageEvent(type, { data: JSON.stringify([plugin, 'h']), ports: [port] }));
  return pageOffer;
}

test('the bridge accepts hosts during the handshake, but not before or after it', () => {
  const page = new EmptyPage();
  const receivedTexts: string[] = [];
  const offerBeforeHandshake = dispatchOffer(page, 'early');
  let handshakeOffer = dispatchOffer(page, 'none');
  page.addEventListener(HANDSHAKE_EVENT, () => {
    handshakeOffer = dispatchOffer(page, 'demo');
  });
  const foundHosts: string[] = [];
  connectOfferingHosts(page, {
    onHostFound: (host) => foundHosts.push(host.plugin),
    onMessage: (host: Host, hostMessageText) => receivedTexts.push(`${host.plugin} ${hostMessageText}`),
  });
  assert.deepEqual(foundHosts, ['demo']);
  handshakeOffer.up('ready');
  // The document has no content yet, but its root element is a script, so page code can already have run.
  const offerAfterHandshake = dispatchOffer(page, 'late');
  offerAfterHandshake.up('ready');
  assert.deepEqual([offerBeforeHandshake.taken, handshakeOffer.taken, offerAfterHandshake.taken], [false, true, false]);
  assert.deepEqual(receivedTexts, ['demo ready']);
});

test('a message to a host begins with a space if it contains no large integers', () => {
  const page = new EmptyPage();
  const { port1: port } = new MessageChannel();
  const sentTexts: unknown[] = [];
  port.addEventListener(BRIDGE_TO_HOST_EVENT, (event) => sentTexts.push(event instanceof MessageEvent && event.data));
  page.addEventListener(HANDSHAKE_EVENT, () => {
    page.dispatchEvent(new MessageEvent(HOST_OFFER_EVENT, { data: JSON.stringify(['demo', 'h']), ports: [port] }));
  });
  let host: Host | undefined;
  connectOfferingHosts(page, {
    onHostFound: (foundHost) => {
      host = foundHost;
    },
    onMessage: () => undefined,
  });
  const textsWithoutLongIntegers = ['[999999999999999]', '[1e30]', '[1234567890.1234567]', '["123456789012345"]'];
  const textsWithLongIntegers = ['[9007199254740993]', '[-12345678901234567890]', '["a",{"b":[1234567890123456]}]'];
  for (const hostMessageText of [...textsWithoutLongIntegers, ...textsWithLongIntegers])
    host?.sendText(hostMessageText);
  assert.deepEqual(sentTexts, [
    ...textsWithoutLongIntegers.map((hostMessageText) => ` ${hostMessageText}`),
    ...textsWithLongIntegers,
  ]);
});

test('a document accepts one host for each plugin, and at most 200 hosts', () => {
  const page = new EmptyPage();
  let acceptedOfferCount = 0;
  page.addEventListener(HANDSHAKE_EVENT, () => {
    for (let i = 0; i < 1000; i++)
      for (let offerNumber = 0; offerNumber < 2; offerNumber++)
        acceptedOfferCount += dispatchOffer(page, `p${i}`).taken ? 1 : 0;
  });
  connectOfferingHosts(page, { onHostFound: () => undefined, onMessage: () => undefined });
  assert.equal(acceptedOfferCount, 200);
});

test('for each plugin, only the newest awaitLateHost message accepts a late host, and only once', () => {
  const page = new EmptyPage();
  const foundHosts: string[] = [];
  const calls = new BridgeCalls(
    () => true,
    () => true,
    (plugin, type) => {
      return awaitLateHost(page, type, plugin, {
        onHostFound: (host) => foundHosts.push(`${type} ${host.plugin}`),
        onMessage: () => undefined,
      });
    },
  );
  for (const nonce of ['old', 'new'])
    calls.receiveFromWorker({ op: 'awaitLateHost', plugin: 'demo', hash: nonce, nonce });
  calls.receiveFromWorker({ op: 'awaitLateHost', plugin: 'other', hash: 'h', nonce: 'third' });
  const acceptedOffers = [
    dispatchOffer(page, 'demo', 'old').taken,
    dispatchOffer(page, 'other', 'new').taken,
    dispatchOffer(page, 'other', 'third').taken,
    dispatchOffer(page, 'other', 'third').taken,
  ];
  assert.deepEqual([acceptedOffers, foundHosts], [[false, false, true, false], ['third other']]);
  calls.receiveFromWorker({ op: 'awaitLateHost', plugin: 'demo', hash: 'newest', nonce: 'newest' });
  assert.equal(dispatchOffer(page, 'demo', 'newest').taken, true);
});
