/** Headers maps the names of HTTP headers to their values. */
export type Headers = Readonly<Record<string, string>>;

/** RecordedBody is the content of a request or of a response, as text or base64. */
export interface RecordedBody {
  readonly text: string;
  readonly isBase64: boolean;
}

/**
 * RequestTiming contains the times of a request in milliseconds after its start; -1 for a phase that did not
 * happen.
 */
export interface RequestTiming {
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

/** RecordedResponse is the response of a server to a request. */
export interface RecordedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly mimeType: string;
  readonly protocol: string;
  readonly serverAddress: string;
  /** source names the origin of a response that did not come from the network, such as a cache. */
  readonly source: '' | 'cache' | 'service worker';
  readonly timing: RequestTiming | undefined;
}

/** RecordedRequest is one recorded HTTP request. Each redirect is recorded as a separate request. */
export interface RecordedRequest {
  /** number is the position of the request in its recording, from 1. */
  readonly number: number;
  readonly id: string;
  readonly method: string;
  readonly url: string;
  /** type is Chrome's type of the resource in lower case, such as document, fetch, script or image. */
  readonly type: string;
  /** page is the site that the tab showed when the request began. */
  readonly page: string;
  /** frame is the site of the document that made the request, or empty if unknown. */
  frame: string;
  /** frameId is Chrome's ID of the frame that made the request, or empty for a worker. */
  readonly frameId: string;
  readonly initiator: string;
  /**
   * startedAt is the start time in milliseconds since 1970. clock is the start time on Chrome's monotonic clock, in
   * seconds.
   */
  readonly startedAt: number;
  readonly clock: number;
  headers: Headers;
  requestBody: RecordedBody | undefined;
  answer: RecordedResponse | undefined;
  body: RecordedBody | undefined;
  /** bodyNote is the reason why the response has no body, or empty if the body is present or has not arrived yet. */
  bodyNote: string;
  /** durationMs is undefined while the request runs. */
  durationMs: number | undefined;
  sizeBytes: number;
  /** error is Chrome's name of the network error, or empty if the request did not fail. */
  error: string;
}

/** RecordedSocket is a recorded WebSocket, or a recorded stream of server-sent events. */
export interface RecordedSocket {
  /** number is the position of the socket in its recording, from 1. */
  readonly number: number;
  readonly url: string;
  readonly page: string;
  /** frame is the site of the document that opened the socket, or empty if unknown. */
  frame: string;
  isOpen: boolean;
  messageCount: number;
}

/** SocketMessage is one message of a WebSocket or of a stream of server-sent events. */
export interface SocketMessage {
  /** number is the position of the message in its recording, from 1. */
  readonly number: number;
  readonly socket: RecordedSocket;
  readonly isSent: boolean;
  /** opcode is 1 for a text message and 2 for a binary message, whose data is base64. */
  readonly opcode: number;
  readonly data: string;
  readonly at: number;
}

/** staticTypes are the types of requests that a request list shows only as a count. */
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
