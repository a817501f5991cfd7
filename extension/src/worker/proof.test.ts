import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { proof, whoListens } from './proof.ts';

const connection = { port: 9527, token: 'the-token' };

/** listener answers as a program on the port would, and notes what it was told. */
function listener(answer: (challenge: string) => string) {
  const told: string[] = [];
  const ask: typeof fetch = async (input, init) => {
    told.push(`${String(input)} ${JSON.stringify(init)}`);
    return new Response(answer(new URL(String(input)).searchParams.get('challenge') ?? ''));
  };
  return { told, ask };
}

/** hmac is what internal/httpapi/proof.go computes. */
function hmac(challenge: string, token = connection.token, port = connection.port): string {
  return createHmac('sha256', token).update(`opentabs server\n${port}\n${challenge}`).digest('hex');
}

test('a proof is what the server computes', async () => {
  assert.equal(await proof(connection, '0123456789abcdef'), hmac('0123456789abcdef'));
});

test('only who knows the token and has this port is the server', async () => {
  const health = (proved: unknown) => JSON.stringify({ ok: true, version: '1', pid: 1, proof: proved });
  const answers: [string, (challenge: string) => string, string][] = [
    ['the server', (c) => health(hmac(c)), 'server'],
    ['no proof', () => '{"ok":true,"version":"1","pid":1}', 'stranger'],
    ['the challenge', (c) => health(c), 'stranger'],
    ['another token', (c) => health(hmac(c, 'other')), 'stranger'],
    ['a proof of the server on another port', (c) => health(hmac(c, connection.token, 9528)), 'stranger'],
    ['a proof seen before', () => health(hmac('0123456789abcdef')), 'stranger'],
    ['an object', () => health({ toString: 1 }), 'stranger'],
    ['no JSON', () => 'hello', 'stranger'],
  ];
  for (const [name, answer, want] of answers) {
    const { told, ask } = listener(answer);
    assert.equal(await whoListens(connection, ask), want, name);
    assert.equal(told.length, 1);
    assert.doesNotMatch(told.join(), /the-token/, name);
  }
});

test('each challenge is new', async () => {
  const { told, ask } = listener(() => '{}');
  await whoListens(connection, ask);
  await whoListens(connection, ask);
  assert.notEqual(told[0], told[1]);
});

test('nobody listens', async () => {
  const who = await whoListens(connection, async () => {
    throw new TypeError('Failed to fetch');
  });
  assert.equal(who, 'nobody');
});
