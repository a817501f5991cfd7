// A fake opentabs server for unit tests, which control the server's end of each WebSocket.

import { encodeNotification, encodeRequest } from '../../wire/frame.ts';
import type { NotificationMethod, Notifications, RequestMethod, Requests } from '../../wire/wire.gen.ts';
import { isRecord } from '../src/record.ts';
import type { Handshake } from '../src/worker/link/handshake.ts';
import type { SocketEvents, SocketOpener } from '../src/worker/link/socket.ts';

export interface FakeSocket {
  readonly url: string;
  readonly webSocketProtocols: readonly string[];
  readonly sentMessages: Readonly<Record<string, unknown>>[];
  isClosed: boolean;
  bufferedBytes: number;
  open(): void;
  /** The method `accept` opens the socket and sends a challenge that passes the fake handshake. */
  accept(): void;
  text(text: string): void;
  close(code?: number, reason?: string): void;
  answer(method: string, result: unknown): void;
  refuseRequest(method: string, code: number, message: string): void;
  request<M extends RequestMethod>(id: string, method: M, params: Requests[M]['params']): void;
  notify<M extends NotificationMethod>(method: M, params: Notifications[M]): void;
}

const validChallenge = { nonce: 'of-the-server', proof: 'right' };

/** makeFakeHandshake returns a handshake that accepts only the challenge of the method FakeSocket.accept. */
export async function makeFakeHandshake(): Promise<Handshake> {
  return {
    protocols: ['opentabs', 'opentabs.nonce.of-the-browser'],
    answerChallenge: async ({ proof }) => (proof === validChallenge.proof ? 'proved' : undefined),
  };
}

export function makeServer(): { open: SocketOpener; sockets: FakeSocket[] } {
  const sockets: FakeSocket[] = [];
  const openSocket: SocketOpener = (url, webSocketProtocols, events) => {
    const socket = makeSocket(url, webSocketProtocols, events);
    sockets.push(socket);
    return {
      get unsentBytes() {
        return socket.bufferedBytes;
      },
      send: (text) => {
        const frame: unknown = JSON.parse(text);
        if (isRecord(frame)) socket.sentMessages.push(frame);
      },
      close: () => {
        socket.isClosed = true;
      },
    };
  };
  return { open: openSocket, sockets };
}

function makeSocket(url: string, webSocketProtocols: readonly string[], events: SocketEvents): FakeSocket {
  const sentMessages: Readonly<Record<string, unknown>>[] = [];
  const removeRequest = (method: string): string => {
    const at = sentMessages.findIndex((frame) => frame.method === method);
    const [frame] = at < 0 ? [] : sentMessages.splice(at, 1);
    if (!frame) throw new Error(`the browser did not send ${method}, but ${JSON.stringify(sentMessages)}`);
    return String(frame.id);
  };
  const sendReply = (body: object) => events.onText(JSON.stringify({ jsonrpc: '2.0', ...body }));
  return {
    url,
    webSocketProtocols,
    sentMessages,
    isClosed: false,
    bufferedBytes: 0,
    open: () => events.onOpen(),
    accept: () => {
      events.onOpen();
      events.onText(encodeNotification('challenge', validChallenge));
    },
    text: (text) => events.onText(text),
    close: (code = 1006, reason = '') => events.onClose(code, reason),
    answer: (method, result) => sendReply({ id: removeRequest(method), result }),
    refuseRequest: (method, code, message) => sendReply({ id: removeRequest(method), error: { code, message } }),
    request: (id, method, params) => events.onText(encodeRequest(id, method, params)),
    notify: (method, params) => events.onText(encodeNotification(method, params)),
  };
}

export async function runPendingPromises(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
