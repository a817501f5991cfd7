// events.ts reads the events of the debugger domain Network, as specified by the Chrome DevTools Protocol.

import { type Fields, isRecord } from '../../../record.ts';
import type { Headers, RecordedResponse, RequestTiming } from './recorded.ts';

export function readText(eventFields: Fields, key: string): string {
  const value = eventFields[key];
  return typeof value === 'string' ? value : '';
}

export function readNumber(eventFields: Fields, key: string): number {
  const value = eventFields[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export function toFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function readHeaders(value: unknown): Headers {
  return Object.fromEntries(Object.entries(toFields(value)).map(([name, text]) => [name, String(text)]));
}

/** readOrigin returns the origin of an http, https or blob URL, and an empty string for any other URL. */
export function readOrigin(url: string): string {
  if (!/^(blob:)?https?:/.test(url) || !URL.canParse(url)) return '';
  return new URL(url).origin;
}

export function readResponse(response: Fields): RecordedResponse {
  const remoteAddress = readText(response, 'remoteIPAddress');
  const port = readNumber(response, 'remotePort');
  let responseSource: RecordedResponse['source'] = '';
  if (response.fromServiceWorker === true) responseSource = 'service worker';
  else if (response.fromDiskCache === true || response.fromPrefetchCache === true) responseSource = 'cache';
  return {
    status: readNumber(response, 'status'),
    statusText: readText(response, 'statusText'),
    headers: readHeaders(response.headers),
    mimeType: readText(response, 'mimeType'),
    protocol: readText(response, 'protocol'),
    serverAddress: remoteAddress === '' ? '' : `${remoteAddress}:${port}`,
    source: responseSource,
    timing: isRecord(response.timing) ? readTiming(response.timing) : undefined,
  };
}

function readTiming(timingFields: Fields): RequestTiming {
  const readPhase = (key: string) => (typeof timingFields[key] === 'number' ? readNumber(timingFields, key) : -1);
  return {
    dnsStart: readPhase('dnsStart'),
    dnsEnd: readPhase('dnsEnd'),
    connectStart: readPhase('connectStart'),
    connectEnd: readPhase('connectEnd'),
    sslStart: readPhase('sslStart'),
    sslEnd: readPhase('sslEnd'),
    sendStart: readPhase('sendStart'),
    sendEnd: readPhase('sendEnd'),
    receiveHeadersEnd: readPhase('receiveHeadersEnd'),
  };
}

/** describeInitiator describes what started a request, such as "script https://example.com/app.js:12". */
export function describeInitiator(value: unknown): string {
  const initiator = toFields(value);
  const { callFrames } = toFields(initiator.stack);
  const frame = Array.isArray(callFrames) ? toFields(callFrames[0]) : {};
  const url = readText(frame, 'url') || readText(initiator, 'url');
  const line = readNumber(typeof frame.lineNumber === 'number' ? frame : initiator, 'lineNumber');
  return url === '' ? readText(initiator, 'type') : `${readText(initiator, 'type')} ${url}:${line + 1}`;
}

/**
 * findFrameSite returns the origin of a frame. A frame without a web URL, such as about:srcdoc, has the origin of its
 * parent frame.
 */
export function findFrameSite(frameTree: unknown, frameId: string, parentSite = ''): string {
  const { frame, childFrames } = toFields(frameTree);
  const site = readOrigin(readText(toFields(frame), 'url')) || parentSite;
  if (readText(toFields(frame), 'id') === frameId) return site;
  const children: unknown[] = Array.isArray(childFrames) ? childFrames : [];
  for (const child of children) {
    const foundSite = findFrameSite(child, frameId, site);
    if (foundSite !== '') return foundSite;
  }
  return '';
}
