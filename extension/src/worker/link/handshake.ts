// While the server is down, any local program can listen on its port. This browser sends only a random nonce until the
// peer has proved on the same socket that it has the installation's key. After the server's proof, this browser also
// proves that this browser has the installation's key. Each proof is an HMAC over the nonces of browser and server and
// over the port (wire/proof.go). A program cannot reuse a proof for another connection or port.

import {
  type ChallengeParams,
  KeySubprotocolPrefix,
  NonceSubprotocolPrefix,
  Subprotocol,
} from '../../../../wire/wire.gen.ts';
import { isRecord } from '../../record.ts';
import { toHex } from '../hex.ts';

/** Connection contains the server's port and the key that this browser shares with the server. */
export interface Connection {
  readonly port: number;
  readonly key: string;
  /** keyId identifies the shared key to the server; absent for the key of the installation. */
  readonly keyId?: string;
}

/** Handshake is this browser's part of the handshake on one socket. */
export interface Handshake {
  /** protocols are the subprotocols to offer. */
  readonly protocols: readonly string[];
  /** proveTo returns this browser's proof, or undefined if the challenge does not come from the server. */
  proveTo(challenge: ChallengeParams): Promise<string | undefined>;
}

const hmacAlgorithm = { name: 'HMAC', hash: 'SHA-256' };

/** makeHandshake prepares the handshake of one socket, with a new nonce. */
export async function makeHandshake({ port, key, keyId }: Connection): Promise<Handshake> {
  const encoder = new TextEncoder();
  const hmacKey = await crypto.subtle.importKey('raw', encoder.encode(key), hmacAlgorithm, false, ['sign', 'verify']);
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(16)));
  const proofInput = (role: string, serverNonce: string) =>
    encoder.encode(`opentabs link ${role}\n${port}\n${nonce}\n${serverNonce}`);
  return {
    protocols: [
      Subprotocol,
      NonceSubprotocolPrefix + nonce,
      ...(keyId === undefined ? [] : [KeySubprotocolPrefix + keyId]),
    ],
    proveTo: async (challenge) => {
      const proof = parseHex(challenge.proof);
      // crypto.subtle.verify takes constant time.
      if (!proof || !(await crypto.subtle.verify('HMAC', hmacKey, proof, proofInput('server', challenge.nonce))))
        return undefined;
      return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', hmacKey, proofInput('browser', challenge.nonce))));
    },
  };
}

/** parseHex decodes lower-case hex, and returns undefined for other text. */
function parseHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/**
 * Listener is the kind of HTTP server on the port. Listener is only a hint for error texts, and does not prove the
 * server's identity.
 */
export type Listener = 'opentabs' | 'other' | 'nothing';

/**
 * AnswerMs is how long the listener may take to answer, in milliseconds. Chrome may use a cached connection that is
 * half-open, like the lost link. After a timeout, the next request uses a new connection.
 */
const AnswerMs = 2500;

/**
 * findListener sends an HTTP request without secrets to find out what listens on the port. Chrome does not report why a
 * WebSocket failed, and delays further WebSockets by seconds after failures. The worker opens no WebSocket until a
 * server listens on the port.
 */
export async function findListener({ port }: Connection, fetchUrl: typeof fetch): Promise<Listener> {
  try {
    const response = await fetchUrl(`http://127.0.0.1:${port}/healthz`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(AnswerMs),
    });
    return isHealthAnswer(await response.text()) ? 'opentabs' : 'other';
  } catch {
    return 'nothing';
  }
}

function isHealthAnswer(text: string): boolean {
  try {
    const health: unknown = JSON.parse(text);
    return isRecord(health) && health.ok === true && typeof health.version === 'string';
  } catch {
    return false;
  }
}
