// A fake opentabs server for unit tests, which control the server's end of each WebSocket.

import { encodeNotification, encodeRequest } from '../../wire/frame.ts';
import type { NotificationMethod, Notifications, RequestMethod, Requests } from '../../wire/wire.gen.ts';
import { isRecord } from '../src/record.ts';
import type { Handshake } from '../src/worker/link/handshake.ts';
import type { OpenSocket, SocketEvents } from '../src/worker/link/socket.ts';

/** FakeSocket is the server's end of one fake WebSocket. */
export interface FakeSocket {
  readonly url: string;
  readonly protocols: readonly string[];
  /** sent contains the parsed frames from the extension that the test has not answered. */
  readonly sent: Readonly<Record<string, unknown>>[];
  /** isClosed is true once the extension has closed the socket. */
  isClosed: boolean;
  /** unsent is the number of unsent bytes that the fake socket reports to the extension. */
  unsent: number;
  /** open opens the socket without starting the handshake. */
  open(): void;
  /**
   * answer sends a result for the oldest request in `sent` with the given method, and removes the request from `sent`.
   */
  accept(): void;
  text(text: string): void;
  close(code?: number, reason?: string): void;
  /** answer sends a result for the oldest request with this method, and removes the request from sent. */
  answer(method: string, result: unknown): void;
  /**
   * refuse sends an error for the oldest request in `sent` with the given method, and removes the request from `sent`.
   */
  refuse(method: string, code: number, message: string): void;
  /** request sends a JSON-RPC request from the server to the extension. */
  request<M extends RequestMethod>(id: string, method: M, params: Requests[M]['params']): void;
  /** notify sends a JSON-RPC notification from the server to the extension. */
  notify<M extends NotificationMethod>(method: M, params: Notifications[M]): void;
}

const validChallenge = { nonce: 'of-the-server', proof: 'right' };

/** makeFakeHandshake returns a handshake that only accepts the challenge that FakeSocket.accept sends. */
export async function makeFakeHandshake(): Promise<Handshake> {
  return {
    protocols: ['opentabs', 'opentabs.nonce.of-the-browser'],
    proveTo: async ({ proof }) => (proof === validChallenge.proof ? 'proved' : undefined),
  };
}

/** makeServer returns a fake function that opens WebSockets, and the list of sockets that it has opened. */
export function makeServer(): { open: OpenSocket; sockets: FakeSocket[] } {
  const sockets: FakeSocket[] = [];
  const open: OpenSocket = (url, protocols, events) => {
    const socket = makeSocket(url, protocols, events);
    sockets.push(socket);
    return {
      get unsentBytes() {
        return socket.unsent;
      },
      send: (text) => {
        const frame: unknown = JSON.parse(text);
        if (isRecord(frame)) socket.sent.push(frame);
      },
      close: () => {
        socket.isClosed = true;
      },
    };
  };
  return { open, sockets };
}

function makeSocket(url: string, protocols: readonly string[], events: SocketEvents): FakeSocket {
  const sent: Readonly<Record<string, unknown>>[] = [];
  const removeRequest = (method: string): string => {
    const at = sent.findIndex((frame) => frame.method === method);
    const [frame] = at < 0 ? [] : sent.splice(at, 1);
    if (!frame) throw new Error(`the browser did not send ${method}, but ${JSON.stringify(sent)}`);
    return String(frame.id);
  };
  const reply = (body: object) => events.onText(JSON.stringify({ jsonrpc: '2.0', ...body }));
  return {
    url,
    protocols,
    sent,
    isClosed: false,
    unsent: 0,
    open: () => events.onOpen(),
    accept: () => {
      events.onOpen();
      events.onText(encodeNotification('challenge', validChallenge));
    },
    text: (text) => events.onText(text),
    close: (code = 1006, reason = '') => events.onClose(code, reason),
    answer: (method, result) => reply({ id: removeRequest(method), result }),
    refuse: (method, code, message) => reply({ id: removeRequest(method), error: { code, message } }),
    request: (id, method, params) => events.onText(encodeRequest(id, method, params)),
    notify: (method, params) => events.onText(encodeNotification(method, params)),
  };
}

/** settle waits until pending microtasks have run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
