import type { Fields } from '../../../record.ts';
import { readHeaders, readNumber, readOrigin, readText, toFields } from './events.ts';
import type { RecordedRequest, RecordedSocket, SocketMessage } from './recorded.ts';

/** If a tab exceeds MaxMessageBytes or MaxMessages, the recorder drops the tab's oldest socket messages. */
export const MaxMessageBytes = 5 << 20;
const MaxMessages = 10_000;
/** If more than MaxSockets sockets are recorded, the recorder drops the oldest closed socket. */
const MaxSockets = 500;

/** SocketRecorder records the WebSockets and the streams of server-sent events of a tab. */
export class SocketRecorder {
  /** The recorder never drops a socket that is still open. */
  readonly sockets = new Map<string, RecordedSocket>();
  readonly messages: SocketMessage[] = [];
  droppedMessages = 0;
  #bytes = 0;
  #socketCount = 0;
  #messageCount = 0;

  /**
   * The parameter `request` is the recorded request that opened the socket, or undefined if Chrome's event has no
   * request ID.
   */
  receive(method: string, params: Fields, page: string, request: RecordedRequest | undefined): void {
    const id = readText(params, 'requestId');
    const socket = this.sockets.get(id);
    const frame = toFields(params.response);
    switch (method) {
      case 'Network.webSocketCreated':
        this.#addSocket(id, readText(params, 'url'), page, '');
        break;
      case 'Network.webSocketWillSendHandshakeRequest':
        // Only the Origin header identifies the document that opened a WebSocket.
        if (socket) socket.frame = readOrigin(readHeaders(toFields(params.request).headers).Origin ?? '');
        break;
      case 'Network.webSocketFrameSent':
      case 'Network.webSocketFrameReceived': {
        const opcode = readNumber(frame, 'opcode');
        if (socket) this.#addMessage(socket, method.endsWith('Sent'), opcode, readText(frame, 'payloadData'));
        break;
      }
      case 'Network.eventSourceMessageReceived':
        if (request) {
          const stream = socket ?? this.#addSocket(id, request.url, request.page, request.frame);
          this.#addMessage(stream, false, 1, readText(params, 'data'));
        }
        break;
      case 'Network.webSocketClosed':
        if (socket) socket.isOpen = false;
        break;
    }
  }

  #addSocket(id: string, url: string, page: string, frame: string): RecordedSocket {
    const socket = { number: ++this.#socketCount, url, page, frame, isOpen: true, messageCount: 0 };
    this.sockets.set(id, socket);
    if (this.sockets.size > MaxSockets)
      for (const [oldSocketId, oldSocket] of this.sockets)
        if (!oldSocket.isOpen) {
          this.sockets.delete(oldSocketId);
          break;
        }
    return socket;
  }

  #addMessage(socket: RecordedSocket, isSent: boolean, opcode: number, messageData: string): void {
    socket.messageCount++;
    this.messages.push({ number: ++this.#messageCount, socket, isSent, opcode, data: messageData, at: Date.now() });
    this.#bytes += messageData.length;
    while (this.#bytes > MaxMessageBytes || this.messages.length > MaxMessages) {
      this.#bytes -= this.messages.shift()?.data.length ?? 0;
      this.droppedMessages++;
    }
  }
}
