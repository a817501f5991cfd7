import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { findListener, makeHandshake } from './handshake.ts';

const connection = { port: 9527, key: 'key-of-browsers' };

/** computeHmac computes the same proof as wire/proof.go. */
function computeHmac(role: string, nonces: readonly string[], key = connection.key, port = connection.port): string {
  return createHmac('sha256', key)
    .update([`opentabs link ${role}`, port, ...nonces].join('\n'))
    .digest('hex');
}

async function beginHandshake() {
  const handshake = await makeHandshake(connection);
  const nonce = handshake.protocols[1]?.slice('opentabs.nonce.'.length) ?? '';
  return { handshake, nonce };
}

test('each handshake offers a new random nonce, and no secret', async () => {
  const [one, two] = [await beginHandshake(), await beginHandshake()];
  assert.match(one.handshake.protocols.join(' '), /^opentabs opentabs\.nonce\.[0-9a-f]{32}$/);
  assert.notEqual(one.nonce, two.nonce);
});

test('answerChallenge returns a proof of the shared key over the nonces of browser and server', async () => {
  const { handshake, nonce } = await beginHandshake();
  const answer = await handshake.answerChallenge({ nonce: 'server', proof: computeHmac('server', [nonce, 'server']) });
  assert.equal(answer, computeHmac('browser', [nonce, 'server']));
});

test('the handshake examples in wire/testdata contain the same proofs as the server computes', () => {
  const frame = (name: string): unknown =>
    JSON.parse(readFileSync(new URL(`../../../../wire/testdata/frames/${name}.params.json`, import.meta.url), 'utf8'));
  const nonces = ['0123456789abcdef0123456789abcdef', '3kq7zmtv5xwpjhr2ycdlagnbfe'];
  assert.deepEqual(frame('challenge'), { nonce: nonces[1], proof: computeHmac('server', nonces) });
  assert.equal(Object(frame('hello')).proof, computeHmac('browser', nonces));
});

test('answerChallenge returns no proof for an invalid challenge', async () => {
  const oldHandshake = await beginHandshake();
  const expectedMac = computeHmac('server', [oldHandshake.nonce, 'server']);
  const challengeCases: [string, (nonce: string) => { nonce: string; proof: string }][] = [
    ['no proof', () => ({ nonce: 'server', proof: '' })],
    ['the nonce', (nonce) => ({ nonce: 'server', proof: nonce })],
    ['another key', (nonce) => ({ nonce: 'server', proof: computeHmac('server', [nonce, 'server'], 'other') })],
    ['an empty key', (nonce) => ({ nonce: 'server', proof: computeHmac('server', [nonce, 'server'], '') })],
    [
      'another port',
      (nonce) => ({ nonce: 'server', proof: computeHmac('server', [nonce, 'server'], connection.key, 9528) }),
    ],
    ['the role of a browser', (nonce) => ({ nonce: 'server', proof: computeHmac('browser', [nonce, 'server']) })],
    ['another nonce of the server', (nonce) => ({ nonce: 'server', proof: computeHmac('server', [nonce, 'other']) })],
    ['a proof seen before', () => ({ nonce: 'server', proof: expectedMac })],
    [
      'a part of the proof',
      (nonce) => ({ nonce: 'server', proof: computeHmac('server', [nonce, 'server']).slice(0, 62) }),
    ],
    ['capitals', (nonce) => ({ nonce: 'server', proof: computeHmac('server', [nonce, 'server']).toUpperCase() })],
    ['no hex', () => ({ nonce: 'server', proof: 'zz'.repeat(32) })],
  ];
  for (const [name, makeChallenge] of challengeCases) {
    const { handshake, nonce } = await beginHandshake();
    assert.equal(await handshake.answerChallenge(makeChallenge(nonce)), undefined, name);
  }
});

test('findListener sends no secret', async () => {
  const fetchedUrls: string[] = [];
  const healthResponseCases: [string, string][] = [
    ['{"ok":true,"version":"0.1.0","pid":1}', 'opentabs'],
    ['{"ok":false,"version":"0.1.0"}', 'other'],
    ['{"ok":true}', 'other'],
    ['[]', 'other'],
    ['hello', 'other'],
  ];
  for (const [healthResponse, isHealthy] of healthResponseCases) {
    const fakeFetch: typeof fetch = async (input, init) => {
      fetchedUrls.push(`${String(input)} ${JSON.stringify(init)}`);
      return new Response(healthResponse);
    };
    assert.equal(await findListener(connection, fakeFetch), isHealthy, healthResponse);
  }
  assert.doesNotMatch(fetchedUrls.join(), /key|challenge|nonce/);
  const failFetch: typeof fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  assert.equal(await findListener(connection, failFetch), 'nothing');
});
