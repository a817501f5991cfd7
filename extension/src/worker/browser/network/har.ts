// har.ts writes recorded requests as an HTTP Archive (HAR 1.2) with masked secrets.

import { maskBody, maskHeader, maskUrl } from './masking.ts';
import type { Headers, RecordedRequest, SocketMessage } from './recorded.ts';
import { decodeBody, readMediaType } from './request-text.ts';

export interface HarOptions {
  readonly requests: readonly RecordedRequest[];
  readonly messages: readonly SocketMessage[];
  readonly page: { readonly url: string; readonly title: string };
  readonly hasBodies: boolean;
}

export function makeHar({ requests, messages, page, hasBodies }: HarOptions): string {
  const startedAt = new Date(requests[0]?.startedAt ?? Date.now()).toISOString();
  const sockets = new Set(messages.map(({ socket }) => socket));
  return JSON.stringify({
    log: {
      version: '1.2',
      creator: { name: 'opentabs', version: '1' },
      pages: [
        {
          startedDateTime: startedAt,
          id: 'page_1',
          title: page.title,
          pageTimings: { onContentLoad: -1, onLoad: -1 },
          _url: maskUrl(page.url),
        },
      ],
      entries: requests.map((request) => makeHarEntry(request, hasBodies)),
      _webSockets: [...sockets].map((socket) => ({
        url: maskUrl(socket.url),
        messages: messages.filter((message) => message.socket === socket).map(makeHarMessage),
      })),
    },
  });
}

function makeHarMessage({ isSent, at, opcode, data }: SocketMessage) {
  return { type: isSent ? 'send' : 'receive', time: at / 1000, opcode, data: opcode === 1 ? maskBody(data, '') : data };
}

function makeHarEntry(request: RecordedRequest, hasBodies: boolean) {
  const { url, method, headers, answer, durationMs, requestBody, error } = request;
  const harTimings = makeTimings(request);
  const requestType = readMediaType(headers);
  return {
    pageref: 'page_1',
    startedDateTime: new Date(request.startedAt).toISOString(),
    time: durationMs ?? 0,
    request: {
      method,
      url: maskUrl(url),
      httpVersion: answer?.protocol ?? '',
      cookies: [],
      headers: listHeaders(headers),
      queryString: listQueryParameters(url),
      headersSize: -1,
      bodySize: requestBody?.text.length ?? 0,
      ...(hasBodies && requestBody
        ? { postData: { mimeType: requestType, text: decodeBody(requestBody, requestType) ?? '' } }
        : {}),
    },
    response: {
      status: answer?.status ?? 0,
      statusText: answer?.statusText ?? '',
      httpVersion: answer?.protocol ?? '',
      cookies: [],
      headers: listHeaders(answer?.headers ?? {}),
      content: makeHarContent(request, hasBodies),
      redirectURL: maskUrl(answer?.headers.location ?? answer?.headers.Location ?? ''),
      headersSize: -1,
      bodySize: request.sizeBytes,
      _transferSize: request.sizeBytes,
      ...(error === '' ? {} : { _error: error }),
    },
    cache: {},
    timings: harTimings,
    ...(answer && answer.serverAddress !== '' ? { serverIPAddress: answer.serverAddress.replace(/:\d+$/, '') } : {}),
    _resourceType: request.type,
    _initiator: { type: request.initiator.split(' ', 1)[0], url: maskUrl(request.initiator.replace(/^\S+ ?/, '')) },
  };
}

function makeHarContent({ answer, body, bodyNote, sizeBytes }: RecordedRequest, hasBodies: boolean) {
  const mimeType = answer?.mimeType ?? '';
  const content = { size: sizeBytes, mimeType };
  if (!hasBodies) return content;
  if (!body) return { ...content, comment: bodyNote };
  const decodedText = decodeBody(body, mimeType);
  return decodedText === undefined
    ? { ...content, text: body.text, encoding: 'base64' }
    : { ...content, text: decodedText };
}

function listQueryParameters(url: string): { name: string; value: string }[] {
  const maskedUrl = maskUrl(url);
  if (!URL.canParse(maskedUrl)) return [];
  return [...new URL(maskedUrl).searchParams].map(([name, value]) => ({ name, value }));
}

function listHeaders(headers: Headers): { name: string; value: string }[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    maskHeader(name, value)
      .split('\n')
      .map((decodedText) => ({ name, value: decodedText })),
  );
}

/** A phase of a request that did not happen has the duration -1. */
function makeTimings({ answer, durationMs = 0 }: RecordedRequest) {
  const answerTiming = answer?.timing;
  if (!answerTiming) return { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: durationMs, receive: 0 };
  const measurePhaseMs = (start: number, end: number) => (start >= 0 && end >= start ? roundMs(end - start) : -1);
  const firstPhaseStart =
    [answerTiming.dnsStart, answerTiming.connectStart, answerTiming.sendStart].find((start) => start >= 0) ?? -1;
  return {
    blocked: firstPhaseStart >= 0 ? roundMs(firstPhaseStart) : -1,
    dns: measurePhaseMs(answerTiming.dnsStart, answerTiming.dnsEnd),
    connect: measurePhaseMs(answerTiming.connectStart, answerTiming.connectEnd),
    ssl: measurePhaseMs(answerTiming.sslStart, answerTiming.sslEnd),
    send: Math.max(0, measurePhaseMs(answerTiming.sendStart, answerTiming.sendEnd)),
    wait: Math.max(0, measurePhaseMs(answerTiming.sendEnd, answerTiming.receiveHeadersEnd)),
    receive: Math.max(0, roundMs(durationMs - answerTiming.receiveHeadersEnd)),
  };
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
