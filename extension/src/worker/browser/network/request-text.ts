// request-text.ts formats recorded requests and socket messages for agents. The formatted text of a request or message
// comes from the page, so the server marks the text as untrusted.

import { maskBody, maskHeader, maskUrl } from './masking.ts';
import type { Headers, RecordedBody, RecordedRequest, RecordedSocket, SocketMessage } from './recorded.ts';

/** MaxUrlChars limits the length of a URL in one line, in UTF-16 code units. */
const MaxUrlChars = 150;
/** MaxMessageChars limits the length of a socket message in one line, in UTF-16 code units. */
const MaxMessageChars = 1000;

/** formatBytes formats a number of bytes as text, such as "1.2 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A URL on the page's own site is shortened to its path. */
export function shortenUrl(url: string, site: string): string {
  const maskedUrl = maskUrl(url);
  const path = site !== '' && maskedUrl.startsWith(`${site}/`) ? maskedUrl.slice(site.length) : maskedUrl;
  if (path.length <= MaxUrlChars) return path;
  return `${path.slice(0, MaxUrlChars)}... (${path.length} characters)`;
}

function formatStatus({ answer, error, durationMs }: RecordedRequest): string {
  if (error !== '') return `failed (${error})`;
  if (!answer) return durationMs === undefined ? 'pending' : 'no answer';
  return `${answer.status}`;
}

export function formatRequestLine(request: RecordedRequest, site: string): string {
  const { number, method, type, answer, durationMs } = request;
  const size = durationMs === undefined ? '-' : formatBytes(request.sizeBytes);
  const time = durationMs === undefined ? 'running' : `${durationMs} ms`;
  const sourceNote = answer && answer.source !== '' ? ` from ${answer.source}` : '';
  return `${number} ${method} ${formatStatus(request)} ${type} ${size} ${time}${sourceNote} ${shortenUrl(request.url, site)}`;
}

/** formatHeaders formats each HTTP header as one line, with masked secrets. */
export function formatHeaders(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    maskHeader(name, value)
      .split('\n')
      .map((headerText) => `  ${name}: ${headerText}`),
  );
}

/** decodeBody returns a body as text with masked secrets, or undefined for binary data. */
export function decodeBody(body: RecordedBody, mediaType: string): string | undefined {
  if (!body.isBase64) return maskBody(body.text, mediaType);
  if (!/^text\/|[/+](json|xml)|javascript|x-www-form-urlencoded/.test(mediaType)) return undefined;
  const bytes = Uint8Array.from(atob(body.text), (char) => char.charCodeAt(0));
  return maskBody(new TextDecoder().decode(bytes), mediaType);
}

export function readMediaType(headers: Headers): string {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'content-type');
  return (name === undefined ? '' : (headers[name] ?? '')).toLowerCase();
}

export function describeRequest(request: RecordedRequest): string[] {
  const { method, url, answer, headers, initiator } = request;
  const requestLines = [`${method} ${maskUrl(url)}`, `initiator: ${maskUrl(initiator)}`, ...formatTiming(request)];
  requestLines.push('request headers:', ...formatHeaders(headers));
  if (!answer) return requestLines;
  const facts = [answer.protocol, answer.serverAddress].filter((fact) => fact !== '');
  requestLines.push(
    `answer: ${answer.status} ${answer.statusText}`.trimEnd() + (facts.length ? ` (${facts.join(', ')})` : ''),
  );
  requestLines.push('answer headers:', ...formatHeaders(answer.headers));
  return requestLines;
}

function formatTiming({ startedAt, durationMs, sizeBytes, answer, error }: RecordedRequest): string[] {
  const startedText = `started ${new Date(startedAt).toISOString()}`;
  if (durationMs === undefined) return [`${startedText}, still running`];
  const requestLines = [`${startedText}, ${durationMs} ms, ${formatBytes(sizeBytes)} received`];
  if (error !== '') requestLines.push(`error: ${error}`);
  const answerTiming = answer?.timing;
  if (!answerTiming) return requestLines;
  const requestPhases: [string, number, number][] = [
    ['dns', answerTiming.dnsStart, answerTiming.dnsEnd],
    ['connect', answerTiming.connectStart, answerTiming.connectEnd],
    ['tls', answerTiming.sslStart, answerTiming.sslEnd],
    ['send', answerTiming.sendStart, answerTiming.sendEnd],
    ['wait', answerTiming.sendEnd, answerTiming.receiveHeadersEnd],
  ];
  const phaseTexts = requestPhases.flatMap(([name, start, end]) =>
    start >= 0 && end >= start ? [`${name} ${Math.round(end - start)} ms`] : [],
  );
  return phaseTexts.length > 0 ? [...requestLines, `phases: ${phaseTexts.join(', ')}`] : requestLines;
}

export function formatSocket({ number, url, isOpen, messageCount }: RecordedSocket, site: string): string {
  return `socket ${number} ${isOpen ? 'open' : 'closed'} ${messageCount} messages ${shortenUrl(url, site)}`;
}

export function formatMessage({ number, socket, isSent, opcode, data, at }: SocketMessage): string {
  const isText = opcode === 1;
  const maskedBody = isText ? maskBody(data, '') : data;
  const omittedChars = maskedBody.length - MaxMessageChars;
  const headerText =
    omittedChars > 0 ? `${maskedBody.slice(0, MaxMessageChars)}... (${omittedChars} more characters)` : maskedBody;
  const time = new Date(at).toISOString().slice(11, 23);
  return `${number} ${time} socket ${socket.number} ${isSent ? 'sent' : 'received'}${isText ? '' : ' binary'} ${headerText}`;
}
