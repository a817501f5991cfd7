// While the server does not run, any program of any user can listen on its port.
// So this browser sends nothing but a random nonce until the other end of this very
// socket has proved that it knows the key of this installation, and then proves the
// same. Each proof is an HMAC over both nonces and the port (wire/proof.go): it fits
// one connection, and a program on another port cannot pass it on.

import { type ChallengeParams, NonceSubprotocolPrefix, Subprotocol } from '../../../wire/wire.gen.ts';
import { isBag } from '../port-message.ts';
import { hex } from './hex.ts';

/** Connection is where the server listens, as `opentabs extension install` wrote it beside the manifest. */
export interface Connection {
  readonly port: number;
  readonly key: string;
}

/** Handshake is this browser's part of the handshake on one socket. */
export interface Handshake {
  /** protocols are the subprotocols to offer. */
  readonly protocols: readonly string[];
  /** answer returns this browser's proof, or undefined if the challenge is not that of the server. */
  answer(challenge: ChallengeParams): Promise<string | undefined>;
}

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** makeHandshake prepares the handshake of one socket; its nonce is new. */
export async function makeHandshake({ port, key }: Connection): Promise<Handshake> {
  const encoder = new TextEncoder();
  const mac = await crypto.subtle.importKey('raw', encoder.encode(key), algorithm, false, ['sign', 'verify']);
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const text = (role: string, serverNonce: string) =>
    encoder.encode(`opentabs link ${role}\n${port}\n${nonce}\n${serverNonce}`);
  return {
    protocols: [Subprotocol, NonceSubprotocolPrefix + nonce],
    answer: async (challenge) => {
      const proof = bytes(challenge.proof);
      // verify takes constant time.
      if (!proof || !(await crypto.subtle.verify('HMAC', mac, proof, text('server', challenge.nonce))))
        return undefined;
      return hex(new Uint8Array(await crypto.subtle.sign('HMAC', mac, text('browser', challenge.nonce))));
    },
  };
}

/** bytes reads lower-case hex; undefined for anything else. */
function bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/** Listener is what answers HTTP on the port: something like an opentabs server, another program, or nothing. Nothing is proved by it. */
export type Listener = 'opentabs' | 'other' | 'nothing';

/**
 * AnswerMs is how long whoever listens may take to answer, in milliseconds. Chrome asks on a connection that it has kept,
 * which may be half-open like the link that was lost; the next try gets a new one.
 */
const AnswerMs = 2500;

/**
 * findListener asks the port what listens there, without a secret. Chrome neither says why a WebSocket failed nor lets
 * one be tried often while they fail: it delays the next ones by seconds. So tries wait until something listens.
 */
export async function findListener({ port }: Connection, ask: typeof fetch): Promise<Listener> {
  try {
    const answer = await ask(`http://127.0.0.1:${port}/healthz`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(AnswerMs),
    });
    return isHealth(await answer.text()) ? 'opentabs' : 'other';
  } catch {
    return 'nothing';
  }
}

function isHealth(text: string): boolean {
  try {
    const health: unknown = JSON.parse(text);
    return isBag(health) && health.ok === true && typeof health.version === 'string';
  } catch {
    return false;
  }
}
