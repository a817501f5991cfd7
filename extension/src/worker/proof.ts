// Any program of any user can listen on the server's port while the server does
// not run. So the token is shown to nobody who has not proved to know it: the
// answer to a challenge is an HMAC that only its owner can make
// (internal/httpapi/proof.go). The port is part of it, so that a program on
// another port can't pass the challenge on.

import { isBag } from '../port-message.ts';
import { hex } from './hex.ts';

/** Connection is where the server listens, as `opentabs extension install` wrote it beside the manifest. */
export interface Connection {
  readonly port: number;
  readonly token: string;
}

/** Who is whoever listens on the port: the server that has our token, somebody else, or nobody. */
export type Who = 'server' | 'stranger' | 'nobody';

/**
 * AnswerMs is how long whoever listens may take to answer, in milliseconds. Chrome asks on a connection that it has kept,
 * which may be half-open like the link that was lost; the next try gets a new one.
 */
const AnswerMs = 2500;

/** whoListens asks whoever listens on the port for a proof. It never rejects. */
export async function whoListens(connection: Connection, ask: typeof fetch): Promise<Who> {
  const challenge = hex(crypto.getRandomValues(new Uint8Array(16)));
  let text: string;
  try {
    const answer = await ask(`http://127.0.0.1:${connection.port}/healthz?challenge=${challenge}`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(AnswerMs),
    });
    text = await answer.text();
  } catch {
    return 'nobody';
  }
  return proofIn(text) === (await proof(connection, challenge)) ? 'server' : 'stranger';
}

/** proof returns what the server that has the token answers to a challenge. */
export async function proof({ port, token }: Connection, challenge: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(token), algorithm, false, ['sign']);
  const text = encoder.encode(`opentabs server\n${port}\n${challenge}`);
  return hex(new Uint8Array(await crypto.subtle.sign('HMAC', key, text)));
}

function proofIn(text: string): unknown {
  try {
    const health: unknown = JSON.parse(text);
    return isBag(health) ? health.proof : undefined;
  } catch {
    return undefined;
  }
}
