/** ServerSocket is a WebSocket that is open or being opened. */
export interface ServerSocket {
  /** unsentBytes is the number of bytes that are queued in the socket but not sent yet. */
  readonly unsentBytes: number;
  send(text: string): void;
  close(): void;
}

/**
 * SocketEvents are the callbacks of one socket. The callback `onClose` is called exactly once, after all other
 * callbacks.
 */
export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  onClose(code: number, reason: string): void;
}

/** A SocketOpener function opens a WebSocket, reports failures to onClose, and never throws. */
export type SocketOpener = (url: string, webSocketProtocols: readonly string[], events: SocketEvents) => ServerSocket;

export const openSocket: SocketOpener = (url, webSocketProtocols, events) => {
  const socket = new WebSocket(url, [...webSocketProtocols]);
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
