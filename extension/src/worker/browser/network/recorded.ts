/** Headers are headers of HTTP by name. */
export type Headers = Readonly<Record<string, string>>;

/** Body is the content of a request or of an answer, text or base64. */
export interface Body {
  readonly text: string;
  readonly isBase64: boolean;
}

/** Timing has the times of a request in milliseconds after its start; -1 for a phase that did not happen. */
export interface Timing {
  readonly dnsStart: number;
  readonly dnsEnd: number;
  readonly connectStart: number;
  readonly connectEnd: number;
  readonly sslStart: number;
  readonly sslEnd: number;
  readonly sendStart: number;
  readonly sendEnd: number;
  readonly receiveHeadersEnd: number;
}

/** Answer is the answer of a server to a request. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly mimeType: string;
  readonly protocol: string;
  readonly serverAddress: string;
  /** source is where the answer is from, if it is not from the network. */
  readonly source: '' | 'cache' | 'service worker';
  readonly timing: Timing | undefined;
}

/** RecordedRequest is one request. Each redirect is a request. */
export interface RecordedRequest {
  /** number counts the requests of a recording, from 1. */
  readonly number: number;
  readonly id: string;
  readonly method: string;
  readonly url: string;
  /** type is Chrome's type of the resource in lower case, such as document, fetch, script or image. */
  readonly type: string;
  /** page is the site of the tab when the request began. */
  readonly page: string;
  /** frame is the site of the document that made the request; empty if unknown. */
  frame: string;
  /** frameId is Chrome's ID of the frame; empty for a worker. */
  readonly frameId: string;
  readonly initiator: string;
  /** startedAt is the time in milliseconds since 1970; clock is Chrome's monotonic time in seconds. */
  readonly startedAt: number;
  readonly clock: number;
  headers: Headers;
  requestBody: Body | undefined;
  answer: Answer | undefined;
  body: Body | undefined;
  /** bodyNote is why there is no body; empty if there is one, or if it has not arrived yet. */
  bodyNote: string;
  /** durationMs is undefined while the request runs. */
  durationMs: number | undefined;
  sizeBytes: number;
  /** error is Chrome's name of the error; empty without an error. */
  error: string;
}

/** Socket is a WebSocket, or a stream of server-sent events. */
export interface Socket {
  /** number counts the sockets of a recording, from 1. */
  readonly number: number;
  readonly url: string;
  readonly page: string;
  /** frame is the site of the document that opened the socket; empty if unknown. */
  frame: string;
  isOpen: boolean;
  messageCount: number;
}

/** SocketMessage is one message of a socket. */
export interface SocketMessage {
  /** number counts the messages of a recording, from 1. */
  readonly number: number;
  readonly socket: Socket;
  readonly isSent: boolean;
  /** opcode is 1 for text and 2 for binary data, which is base64 in data. */
  readonly opcode: number;
  readonly data: string;
  readonly at: number;
}

/** staticTypes are the types of requests that lists fold. */
export const staticTypes: ReadonlySet<string> = new Set([
  'stylesheet',
  'image',
  'media',
  'font',
  'script',
  'texttrack',
  'manifest',
  'ping',
  'prefetch',
  'signedexchange',
]);
