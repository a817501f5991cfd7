// While the server is not running, any local program can listen on its port. The browser sends only a random nonce
// until the peer has proved on the same socket that it has the shared key. After the server's proof, the browser sends
// the server its own proof of the shared key. Each proof is an HMAC over the browser's nonce, the server's nonce and
// the port (wire/proof.go). A program cannot reuse a proof for another connection or another port.

import {
  type ChallengeParams,
  KeySubprotocolPrefix,
  NonceSubprotocolPrefix,
  Subprotocol,
} from '../../../../wire/wire.gen.ts';
import { isRecord } from '../../record.ts';
import { toHex } from '../hex.ts';

/** ServerConnection contains the server's port, and the key that the browser shares with the server. */
export interface ServerConnection {
  readonly port: number;
  readonly key: string;
  /**
   * keyId identifies the shared key after a pairing. If keyId is missing, the browser uses the key of the installation.
   */
  readonly keyId?: string;
  /** isCached is true if the port and the key may be outdated, so that the next connection can differ. */
  readonly isCached?: boolean;
}

export interface Handshake {
  /** The field `protocols` contains the WebSocket subprotocols to offer, which include the browser's nonce. */
  readonly protocols: readonly string[];
  /**
   * answerChallenge returns the browser's proof of the shared key, or undefined if the server's proof in the challenge
   * is invalid.
   */
  answerChallenge(challenge: ChallengeParams): Promise<string | undefined>;
}

const hmacAlgorithm = { name: 'HMAC', hash: 'SHA-256' };

export async function makeHandshake({ port, key, keyId }: ServerConnection): Promise<Handshake> {
  const textEncoder = new TextEncoder();
  const hmacKey = await crypto.subtle.importKey('raw', textEncoder.encode(key), hmacAlgorithm, false, [
    'sign',
    'verify',
  ]);
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(16)));
  const proofInput = (role: string, serverNonce: string) =>
    textEncoder.encode(`opentabs link ${role}\n${port}\n${nonce}\n${serverNonce}`);
  return {
    protocols: [
      Subprotocol,
      NonceSubprotocolPrefix + nonce,
      ...(keyId === undefined ? [] : [KeySubprotocolPrefix + keyId]),
    ],
    answerChallenge: async (challenge) => {
      const serverProof = parseHex(challenge.proof);
      // crypto.subtle.verify compares the server's proof in constant time.
      if (
        !serverProof ||
        !(await crypto.subtle.verify('HMAC', hmacKey, serverProof, proofInput('server', challenge.nonce)))
      )
        return undefined;
      return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', hmacKey, proofInput('browser', challenge.nonce))));
    },
  };
}

function parseHex(hexText: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(hexText)) return undefined;
  return Uint8Array.from({ length: hexText.length / 2 }, (_, i) =>
    Number.parseInt(hexText.slice(2 * i, 2 * i + 2), 16),
  );
}

/** Use a PortListener only as a hint in error texts, because the program on the port has not proved its identity. */
export type PortListener = 'opentabs' | 'other' | 'nothing';

/**
 * Chrome may send a request over a cached half-open connection, which never responds. If the server sends no response
 * within HealthAnswerTimeoutMs, the next request uses a new connection.
 */
const HealthAnswerTimeoutMs = 2500;

/**
 * findListener sends an HTTP request without secrets to detect which program listens on the server's port. Chrome does
 * not report why a WebSocket failed, and delays new WebSockets by seconds after failures. The worker opens a new
 * WebSocket only after findListener has found a server.
 */
export async function findListener({ port }: ServerConnection, fetchUrl: typeof fetch): Promise<PortListener> {
  try {
    const response = await fetchUrl(`http://127.0.0.1:${port}/healthz`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(HealthAnswerTimeoutMs),
    });
    return isHealthAnswer(await response.text()) ? 'opentabs' : 'other';
  } catch {
    return 'nothing';
  }
}

function isHealthAnswer(responseText: string): boolean {
  try {
    const health: unknown = JSON.parse(responseText);
    return isRecord(health) && health.ok === true && typeof health.version === 'string';
  } catch {
    return false;
  }
}
