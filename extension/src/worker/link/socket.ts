/** Socket is an open or opening WebSocket. */
export interface Socket {
  /** unsent is the number of bytes that are queued and not sent yet. */
  readonly unsent: number;
  send(text: string): void;
  close(): void;
}

/** SocketEvents are the functions that a socket calls, in this order. closed comes last and exactly once. */
export interface SocketEvents {
  opened(): void;
  text(text: string): void;
  closed(code: number, reason: string): void;
}

/** OpenSocket opens a socket. OpenSocket never throws. */
export type OpenSocket = (url: string, protocols: readonly string[], events: SocketEvents) => Socket;

/** openSocket opens a real WebSocket. */
export const openSocket: OpenSocket = (url, protocols, events) => {
  const socket = new WebSocket(url, [...protocols]);
  socket.addEventListener('open', () => events.opened());
  socket.addEventListener('message', (event) => {
    const data: unknown = event.data;
    if (typeof data === 'string') events.text(data);
  });
  socket.addEventListener('close', (event) => events.closed(event.code, event.reason));
  return {
    get unsent() {
      return socket.bufferedAmount;
    },
    send: (text) => socket.send(text),
    close: () => socket.close(),
  };
};
