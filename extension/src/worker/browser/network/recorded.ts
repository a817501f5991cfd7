export type Headers = Readonly<Record<string, string>>;

/** RecordedBody is the body of a request or response, as text or base64. */
export interface RecordedBody {
  readonly text: string;
  readonly isBase64: boolean;
}

/**
 * RequestTiming contains the start and end of each phase of a request, in milliseconds since the request started. A
 * phase of a request that did not happen has the value -1.
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

export interface RecordedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly mimeType: string;
  readonly protocol: string;
  readonly serverAddress: string;
  /** The field `source` is where the response came from, or empty for a response from the network. */
  readonly source: '' | 'cache' | 'service worker';
  readonly timing: RequestTiming | undefined;
}

/** Each redirect is recorded as a separate request. */
export interface RecordedRequest {
  /** The field `number` is the position of the request in its recording, starting at 1. */
  readonly number: number;
  readonly id: string;
  readonly method: string;
  readonly url: string;
  /** The field `type` is Chrome's resource type in lower case, such as document, fetch, script or image. */
  readonly type: string;
  /** The field `page` is the origin of the page that the tab showed when the request started. */
  readonly page: string;
  /**
   * The field `frame` is the origin of the document that sent the request, or an empty string if the origin is unknown.
   */
  frame: string;
  /** frameId is Chrome's ID of the frame that sent the request, or an empty string for a worker. */
  readonly frameId: string;
  readonly initiator: string;
  /**
   * startedAt is when the request started, in milliseconds since 1970. The field `clock` is the start time on Chrome's
   * monotonic clock, in seconds.
   */
  readonly startedAt: number;
  readonly clock: number;
  headers: Headers;
  requestBody: RecordedBody | undefined;
  answer: RecordedResponse | undefined;
  body: RecordedBody | undefined;
  /**
   * bodyNote explains why the response has no body. If the body was recorded or has not arrived yet, bodyNote is an
   * empty string.
   */
  bodyNote: string;
  /** durationMs is undefined until the request has ended. */
  durationMs: number | undefined;
  sizeBytes: number;
  /** The field `error` is Chrome's name of a network error, such as net::ERR_FAILED, or an empty string. */
  error: string;
}

/** RecordedSocket is a recorded WebSocket or a recorded stream of server-sent events. */
export interface RecordedSocket {
  readonly number: number;
  readonly url: string;
  readonly page: string;
  /**
   * The field `frame` is the origin of the document that opened the socket, or an empty string if the origin is
   * unknown.
   */
  frame: string;
  isOpen: boolean;
  messageCount: number;
}

/** SocketMessage is one message on a WebSocket or in a stream of server-sent events. */
export interface SocketMessage {
  readonly number: number;
  readonly socket: RecordedSocket;
  readonly isSent: boolean;
  /** The field `opcode` is 1 for a text message, and 2 for a binary message with base64 data. */
  readonly opcode: number;
  readonly data: string;
  readonly at: number;
}

/** staticTypes contains the resource types that the list of requests shows only as a count. */
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
