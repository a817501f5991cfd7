// A server without a network: sockets that a test plays the other end of.

import { notification, request } from '../../wire/frame.ts';
import type { NotificationMethod, Notifications, RequestMethod, Requests } from '../../wire/wire.gen.ts';
import { isBag } from '../src/port-message.ts';
import type { Handshake } from '../src/worker/handshake.ts';
import type { OpenSocket, SocketEvents } from '../src/worker/socket.ts';

/** FakeSocket is the server's end of one socket. */
export interface FakeSocket {
  readonly url: string;
  readonly protocols: readonly string[];
  /** sent is what the browser sent and the test has not taken yet, parsed. */
  readonly sent: Readonly<Record<string, unknown>>[];
  /** hungUp is set once the browser has closed the socket. */
  hungUp: boolean;
  /** unsent is what the browser is told that waits in the socket, in bytes. */
  unsent: number;
  /** open opens the socket without a word; accept sends the challenge too, of a server that knows the key. */
  open(): void;
  accept(): void;
  text(text: string): void;
  close(code?: number, reason?: string): void;
  /** answer answers the oldest request of that method and takes it. */
  answer(method: string, result: unknown): void;
  refuse(method: string, code: number, message: string): void;
  ask<M extends RequestMethod>(id: string, method: M, params: Requests[M]['params']): void;
  tell<M extends NotificationMethod>(method: M, params: Notifications[M]): void;
}

const rightChallenge = { nonce: 'of-the-server', proof: 'right' };

/** makeFakeHandshake returns a handshake that takes the challenge of accept and no other. */
export async function makeFakeHandshake(): Promise<Handshake> {
  return {
    protocols: ['opentabs', 'opentabs.nonce.of-the-browser'],
    answer: async ({ proof }) => (proof === rightChallenge.proof ? 'proved' : undefined),
  };
}

/** makeServer returns a way to open sockets, and those that were opened. */
export function makeServer(): { open: OpenSocket; sockets: FakeSocket[] } {
  const sockets: FakeSocket[] = [];
  const open: OpenSocket = (url, protocols, events) => {
    const socket = makeSocket(url, protocols, events);
    sockets.push(socket);
    return {
      get unsent() {
        return socket.unsent;
      },
      send: (text) => {
        const frame: unknown = JSON.parse(text);
        if (isBag(frame)) socket.sent.push(frame);
      },
      close: () => {
        socket.hungUp = true;
      },
    };
  };
  return { open, sockets };
}

function makeSocket(url: string, protocols: readonly string[], events: SocketEvents): FakeSocket {
  const sent: Readonly<Record<string, unknown>>[] = [];
  const take = (method: string): string => {
    const at = sent.findIndex((frame) => frame.method === method);
    const [frame] = at < 0 ? [] : sent.splice(at, 1);
    if (!frame) throw new Error(`the browser did not send ${method}, but ${JSON.stringify(sent)}`);
    return String(frame.id);
  };
  const reply = (body: object) => events.text(JSON.stringify({ jsonrpc: '2.0', ...body }));
  return {
    url,
    protocols,
    sent,
    hungUp: false,
    unsent: 0,
    open: () => events.opened(),
    accept: () => {
      events.opened();
      events.text(notification('challenge', rightChallenge));
    },
    text: (text) => events.text(text),
    close: (code = 1006, reason = '') => events.closed(code, reason),
    answer: (method, result) => reply({ id: take(method), result }),
    refuse: (method, code, message) => reply({ id: take(method), error: { code, message } }),
    ask: (id, method, params) => events.text(request(id, method, params)),
    tell: (method, params) => events.text(notification(method, params)),
  };
}

/** settle lets promises run on that wait for nothing but each other. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
