import { type Fields, isRecord } from '../../../record.ts';
import { awaitWithin } from '../../../within.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { networkEnableParams } from '../debugger/features.ts';
import {
  describeInitiator,
  findFrameSite,
  readHeaders,
  readNumber,
  readOrigin,
  readResponse,
  readText,
  toFields,
} from './events.ts';
import { type Headers, type RecordedBody, type RecordedRequest, staticTypes } from './recorded.ts';
import { SocketRecorder } from './socket-recorder.ts';

/**
 * MaxBodyBytes limits the total size of the recorded request and response bodies of a tab. The recorded bodies and
 * socket messages of a tab together use at most 20 MiB.
 */
export const MaxBodyBytes = 15 << 20;
/** If more than MaxRequests requests are recorded, the recorder drops the oldest requests. */
export const MaxRequests = 5000;
/** PendingReadTimeoutMs limits how long a tool waits for bodies that Chrome is still returning, in milliseconds. */
const PendingReadTimeoutMs = 2000;

/** RedirectChain is a request with all its redirects, for which Chrome uses the same request ID. */
interface RedirectChain {
  readonly requests: RecordedRequest[];
  /**
   * The fields `sent` and `receivedResponses` contain the headers that were actually transferred, in the order of the
   * redirects.
   */
  readonly sent: Headers[];
  readonly receivedResponses: { readonly headers: Headers; readonly status: number }[];
}

/** NetworkRecorder records the HTTP requests and sockets of one tab. */
export class NetworkRecorder {
  readonly requests: RecordedRequest[] = [];
  readonly sockets = new SocketRecorder();
  droppedRequests = 0;
  droppedBodies = 0;
  readonly #session: DebuggerSession;
  readonly #stopFunctions: (() => void)[] = [];
  readonly #redirectChains = new Map<string, RedirectChain>();
  readonly #pendingBodyReads = new Set<Promise<void>>();
  /** #childByRequest maps each request of a frame without a web URL to the child target that reported the request. */
  readonly #childByRequest = new Map<RecordedRequest, string>();
  #topFrame = '';
  /** #pageOrigin is the origin of the page that the tab currently shows. */
  #pageOrigin: string;
  #storedBodyBytes = 0;
  #requestCount = 0;

  constructor(session: DebuggerSession, url: string) {
    this.#session = session;
    this.#pageOrigin = readOrigin(url);
  }

  /** The method `start` starts a recording, which ends when the method `stop` is called or the debugger is detached. */
  async start(): Promise<void> {
    this.#stopFunctions.push(this.#session.onEvent((method, params, childId) => this.receive(method, params, childId)));
    this.#stopFunctions.push(
      await this.#session.watchChildren(async ({ id, targetId }) => {
        await this.#session.send('Network.enable', networkEnableParams, 1000, id);
        this.#finishDocumentRequest(targetId, id);
      }),
    );
    const { frameTree } = await this.#session.send('Page.getFrameTree');
    this.#topFrame = readText(toFields(toFields(frameTree).frame), 'id');
  }

  stop(): void {
    for (const stopListening of this.#stopFunctions) stopListening();
  }

  /** Chrome reports the end of a frame's document request too early, before the debugger is attached to the frame. */
  #finishDocumentRequest(frameId: string, childId: string): void {
    const request = this.requests.findLast(
      (requestEntry) => requestEntry.frameId === frameId && requestEntry.type === 'document',
    );
    if (!request?.answer || request.durationMs !== undefined) return;
    request.durationMs = Math.max(0, Date.now() - request.startedAt);
    this.#trackBodyRead(this.#readBody(request, childId));
  }

  setPage(url: string): void {
    this.#pageOrigin = readOrigin(url);
  }

  /**
   * The method `waitForPendingBodies` waits for bodies that Chrome is still returning, and determines the origins of
   * frames without a web URL.
   */
  async waitForPendingBodies(): Promise<void> {
    const finding = [...this.#childByRequest].map(([requestEntry, childId]) =>
      this.#findFrame(requestEntry, childId).catch(() => undefined),
    );
    this.#childByRequest.clear();
    await awaitWithin(Promise.all([...this.#pendingBodyReads, ...finding]), PendingReadTimeoutMs);
  }

  receive(method: string, params: Fields, childId: string): void {
    const id = readText(params, 'requestId');
    switch (method) {
      case 'Network.requestWillBeSent':
        this.#beginRequest(id, params, childId);
        break;
      case 'Network.requestWillBeSentExtraInfo':
        this.#findRedirectChain(id).sent.push(readHeaders(params.headers));
        break;
      case 'Network.responseReceivedExtraInfo':
        this.#findRedirectChain(id).receivedResponses.push({
          headers: readHeaders(params.headers),
          status: readNumber(params, 'statusCode'),
        });
        break;
      case 'Network.responseReceived': {
        const request = this.#findLastRequest(id);
        if (request) request.answer = readResponse(toFields(params.response));
        break;
      }
      case 'Network.loadingFinished':
        this.#finish(id, params, childId);
        break;
      case 'Network.loadingFailed':
        this.#failRequest(id, params);
        break;
      default:
        this.sockets.receive(method, params, this.#pageOrigin, this.#findLastRequest(id));
        return;
    }
    this.#applyHeaders(id);
  }

  #beginRequest(id: string, params: Fields, childId: string): void {
    const redirectChain = this.#findRedirectChain(id);
    const previousRequest = redirectChain.requests.at(-1);
    if (previousRequest && isRecord(params.redirectResponse)) {
      previousRequest.answer = readResponse(params.redirectResponse);
      previousRequest.bodyNote = 'a redirect has no body';
      endRequest(previousRequest, params, readNumber(params.redirectResponse, 'encodedDataLength'));
    } else if (previousRequest) return; // a cross-site frame and its parent may both report the same request
    const request = toFields(params.request);
    const requestEntry = this.#makeEntry(id, params, request, childId);
    this.requests.push(requestEntry);
    redirectChain.requests.push(requestEntry);
    if (typeof request.postData === 'string')
      this.#storeBody(requestEntry, 'requestBody', { text: request.postData, isBase64: false });
    else if (request.hasPostData === true) this.#trackBodyRead(this.#readRequestBody(requestEntry, childId));
    if (this.requests.length > MaxRequests) this.#dropOldestRequest();
  }

  #makeEntry(id: string, params: Fields, request: Fields, childId: string): RecordedRequest {
    const url = readText(request, 'url');
    const type = (readText(params, 'type') || 'other').toLowerCase();
    const isTopFrame = childId === '' && readText(params, 'frameId') === this.#topFrame;
    const isDocument = type === 'document' && readText(params, 'loaderId') === id;
    const frame = readOrigin(isDocument ? url : readText(params, 'documentURL'));
    // The origin of a script's request in the top frame is the origin of the document that the tab shows.
    if (isTopFrame && !isDocument && frame !== '') this.#pageOrigin = frame;
    const requestEntry: RecordedRequest = {
      number: ++this.#requestCount,
      id,
      method: readText(request, 'method'),
      url,
      type,
      page: isTopFrame && isDocument ? frame : this.#pageOrigin,
      frame,
      frameId: readText(params, 'frameId'),
      initiator: describeInitiator(params.initiator),
      startedAt: Math.round(readNumber(params, 'wallTime') * 1000),
      clock: readNumber(params, 'timestamp'),
      headers: readHeaders(request.headers),
      requestBody: undefined,
      answer: undefined,
      body: undefined,
      bodyNote: '',
      durationMs: undefined,
      sizeBytes: 0,
      error: '',
    };
    if (frame === '') this.#childByRequest.set(requestEntry, childId);
    return requestEntry;
  }

  /** A frame without a web URL, such as about:srcdoc, has the origin of its parent frame. */
  async #findFrame(requestEntry: RecordedRequest, childId: string): Promise<void> {
    const { frameTree } = await this.#session.send('Page.getFrameTree', {}, PendingReadTimeoutMs, childId);
    requestEntry.frame = findFrameSite(frameTree, requestEntry.frameId);
  }

  #finish(id: string, params: Fields, childId: string): void {
    const request = this.#findLastRequest(id);
    if (!request) return;
    endRequest(request, params, readNumber(params, 'encodedDataLength'));
    if (request.method === 'HEAD') request.bodyNote = 'the answer to HEAD has no body';
    else if (request.type === 'media' || request.type === 'eventsource')
      request.bodyNote = `bodies of the type ${request.type} are not kept`;
    else if (request.sizeBytes > MaxBodyBytes) request.bodyNote = 'the body is larger than 15 MB';
    else this.#trackBodyRead(this.#readBody(request, childId));
  }

  async #readBody(request: RecordedRequest, childId: string): Promise<void> {
    try {
      const params = { requestId: request.id };
      const { body, base64Encoded } = await this.#session.send('Network.getResponseBody', params, 5000, childId);
      this.#storeBody(request, 'body', { text: String(body), isBase64: base64Encoded === true });
    } catch {
      request.bodyNote = 'Chrome has not kept the body';
    }
  }

  async #readRequestBody(request: RecordedRequest, childId: string): Promise<void> {
    const { postData } = await this.#session.send(
      'Network.getRequestPostData',
      { requestId: request.id },
      5000,
      childId,
    );
    this.#storeBody(request, 'requestBody', { text: String(postData), isBase64: false });
  }

  #failRequest(id: string, params: Fields): void {
    const request = this.#findLastRequest(id);
    if (!request) return;
    const blockedReason = readText(params, 'blockedReason') || readText(toFields(params.corsErrorStatus), 'corsError');
    request.error = [readText(params, 'errorText'), blockedReason].filter((text) => text !== '').join(', ') || 'failed';
    request.bodyNote = 'the request failed';
    endRequest(request, params, request.sizeBytes);
  }

  /**
   * #applyHeaders adds the transferred headers to a request, because only these contain cookies and changes by proxies.
   */
  #applyHeaders(id: string): void {
    const redirectChain = this.#redirectChains.get(id);
    redirectChain?.requests.forEach((request, index) => {
      request.headers = redirectChain.sent[index] ?? request.headers;
      const receivedResponse = redirectChain.receivedResponses[index];
      if (request.answer && receivedResponse?.status === request.answer.status)
        request.answer = { ...request.answer, headers: receivedResponse.headers };
    });
  }

  #trackBodyRead(bodyReadPromise: Promise<void>): void {
    const trackedRead = bodyReadPromise
      .catch(() => undefined)
      .finally(() => this.#pendingBodyReads.delete(trackedRead));
    this.#pendingBodyReads.add(trackedRead);
  }

  #storeBody(request: RecordedRequest, bodyName: 'body' | 'requestBody', body: RecordedBody): void {
    request[bodyName] = body;
    this.#storedBodyBytes += body.text.length;
    while (this.#storedBodyBytes > MaxBodyBytes) {
      const hasBody = (requestEntry: RecordedRequest) =>
        requestEntry.body !== undefined || requestEntry.requestBody !== undefined;
      const oldest =
        this.requests.find((requestEntry) => staticTypes.has(requestEntry.type) && hasBody(requestEntry)) ??
        this.requests.find(hasBody);
      if (!oldest) return;
      this.#dropBodies(oldest);
      oldest.bodyNote = 'the body was dropped, because the newer bodies of the tab have 15 MB';
      this.droppedBodies++;
    }
  }

  #dropBodies(request: RecordedRequest): void {
    this.#storedBodyBytes -= (request.body?.text.length ?? 0) + (request.requestBody?.text.length ?? 0);
    request.body = undefined;
    request.requestBody = undefined;
  }

  #dropOldestRequest(): void {
    const oldest = this.requests.shift();
    if (!oldest) return;
    this.droppedRequests++;
    this.#childByRequest.delete(oldest);
    this.#dropBodies(oldest);
    if (this.#findLastRequest(oldest.id) === oldest) this.#redirectChains.delete(oldest.id);
  }

  #findLastRequest(id: string): RecordedRequest | undefined {
    return this.#redirectChains.get(id)?.requests.at(-1);
  }

  #findRedirectChain(id: string): RedirectChain {
    const existingChain = this.#redirectChains.get(id);
    if (existingChain) return existingChain;
    // Chrome also reports headers of requests that started before the recording. Drop the headers of the oldest
    // request, because headers of requests outside of the recording would otherwise accumulate.
    const [oldestId] = this.#redirectChains.keys();
    if (this.#redirectChains.size > 2 * MaxRequests && oldestId !== undefined) this.#redirectChains.delete(oldestId);
    const redirectChain: RedirectChain = { requests: [], sent: [], receivedResponses: [] };
    this.#redirectChains.set(id, redirectChain);
    return redirectChain;
  }
}

function endRequest(request: RecordedRequest, params: Fields, sizeBytes: number): void {
  request.durationMs = Math.max(0, Math.round((readNumber(params, 'timestamp') - request.clock) * 1000));
  request.sizeBytes = sizeBytes;
}
