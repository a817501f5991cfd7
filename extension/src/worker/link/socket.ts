/** Socket is a WebSocket that is open or being opened. */
export interface Socket {
  /** unsentBytes is the number of bytes that are queued but not sent yet. */
  readonly unsentBytes: number;
  send(text: string): void;
  close(): void;
}

/** SocketEvents contains the event handlers of a socket. onClose is called exactly once, after all other handlers. */
export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  onClose(code: number, reason: string): void;
}

/** OpenSocket opens a WebSocket. OpenSocket reports failures to onClose and never throws. */
export type OpenSocket = (url: string, protocols: readonly string[], events: SocketEvents) => Socket;

/** openSocket opens a WebSocket of the browser. */
export const openSocket: OpenSocket = (url, protocols, events) => {
  const socket = new WebSocket(url, [...protocols]);
  socket.addEventListener('open', () => events.onOpen());
  socket.addEventListener('message', (event) => {
    const data: unknown = event.data;
    if (typeof data === 'string') events.onText(data);
  });
  socket.addEventListener('close', (event) => events.onClose(event.code, event.reason));
  return {
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    send: (text) => socket.send(text),
    close: () => socket.close(),
  };
};
