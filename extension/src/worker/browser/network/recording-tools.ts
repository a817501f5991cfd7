import { readChoice, readFlag, readNumber, readText, readTexts } from '../arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from '../browser-tool.ts';
import { DebuggerUnavailable } from '../debugger/debuggers.ts';
import { isForbiddenAddress } from '../frame-rules.ts';
import { toolFailure } from '../tool-failure.ts';
import { makeHar } from './har.ts';
import { maskUrl } from './masking.ts';
import { captureEndText, type NetworkBrowser, type NetworkCaptures } from './network-captures.ts';
import { type RecordedBody, type RecordedRequest, staticTypes } from './recorded.ts';
import {
  decodeBody,
  describeRequest,
  formatBytes,
  formatMessage,
  formatRequestLine,
  formatSocket,
  readMediaType,
  shortenUrl,
} from './request-text.ts';

const MaxLines = 100;
/** MaxMessageLines is lower than MaxLines, because messages are longer than request lines. */
const MaxMessageLines = 50;
/**
 * MaxBodyChars limits the length of an HTTP body in one tool result, in UTF-16 code units. If a tool result also
 * contains other parts of the request, a body is limited to MaxShortBodyChars UTF-16 code units.
 */
const MaxBodyChars = 20_000;
const MaxShortBodyChars = 2000;

const recordingHint = `The recording lasts ${captureEndText}. Reload the page to record it from its start.`;

export function makeRecordingTools(browser: NetworkBrowser, captures: NetworkCaptures): [string, BrowserTool][] {
  return [
    ['browser_network_requests', (call) => listRequests(browser, captures, call)],
    ['browser_network_request', (call) => showRequest(captures, call)],
    ['browser_websocket_messages', (call) => listMessages(captures, call)],
    ['browser_har_export', (call) => exportHar(browser, captures, call)],
  ];
}

/** A call is allowed to read a request that an accessible document sent while the tab showed the call's site. */
function isVisible({ page, frame }: { page: string; frame: string }, site: string, call: BrowserCall): boolean {
  if (page !== site || frame === '') return false;
  return frame === site || !isForbiddenAddress(frame, call.args);
}

async function listRequests(
  browser: NetworkBrowser,
  captures: NetworkCaptures,
  call: BrowserCall,
): Promise<BrowserResult> {
  const site = await captures.readSite(call);
  const started = await captures.record(call).catch((error: unknown) => {
    if (error instanceof DebuggerUnavailable) return error;
    throw error;
  });
  if (started instanceof DebuggerUnavailable)
    return await listResources(browser, call, site, `Requests are not recorded: ${started.message}.`);
  const { recorder, isNew } = started;
  if (isNew) return await listResources(browser, call, site, `Recording of requests begins now. ${recordingHint}`);
  const filter = readText(call.args, 'filter') ?? '';
  const types = readTexts(call.args, 'types')?.map((type) => type.toLowerCase());
  const since = readNumber(call.args, 'since') ?? 0;
  const matching = recorder.requests.filter(
    (request) =>
      request.number > since &&
      isVisible(request, site, call) &&
      maskUrl(request.url).includes(filter) &&
      (types === undefined || types.includes(request.type)),
  );
  const hidesStatic = types === undefined && !readFlag(call.args, 'static');
  const shown = hidesStatic ? matching.filter(({ type }) => !staticTypes.has(type)) : matching;
  const page = shown.slice(0, MaxLines);
  const last = page.at(-1);
  const notes = [`${shown.length} requests.`];
  if (matching.length > shown.length)
    notes.push(
      `Not listed: ${countTypes(matching.filter(({ type }) => staticTypes.has(type)))} (static: true lists them).`,
    );
  if (page.length < shown.length && last)
    notes.push(`${shown.length - page.length} more: call again with since ${last.number}.`);
  if (recorder.droppedRequests > 0)
    notes.push(`The oldest ${recorder.droppedRequests} requests of the recording were dropped.`);
  if (recorder.droppedBodies > 0) notes.push(`The bodies of ${recorder.droppedBodies} requests were dropped.`);
  return { text: notes.join(' '), content: page.map((request) => formatRequestLine(request, site)).join('\n') };
}

function countTypes(requests: readonly RecordedRequest[]): string {
  const counts = new Map<string, number>();
  for (const { type } of requests) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
}

/** listResources lists requests from the performance entries of the page, which contain neither headers nor bodies. */
async function listResources(
  browser: NetworkBrowser,
  call: BrowserCall,
  site: string,
  note: string,
): Promise<BrowserResult> {
  const filter = readText(call.args, 'filter') ?? '';
  const resources = (await browser.readResources(call.tabId, call.documentId)).filter(({ url }) =>
    maskUrl(url).includes(filter),
  );
  const hidesStatic = !readFlag(call.args, 'static');
  const shown = hidesStatic ? resources.filter(({ type }) => !staticInitiators.has(type)) : resources;
  const page = shown.slice(-MaxLines);
  const notes = [note, `${shown.length} earlier requests of the page, without headers and bodies.`];
  if (resources.length > shown.length)
    notes.push(`Not listed: ${resources.length - shown.length} static requests (static: true lists them).`);
  if (shown.length > page.length) notes.push(`The newest ${page.length} are listed.`);
  const lines = page.map(
    ({ url, type, status, sizeBytes, durationMs }) =>
      `- ${status || '?'} ${type} ${sizeBytes > 0 ? formatBytes(sizeBytes) : '-'} ${durationMs} ms ${shortenUrl(url, site)}`,
  );
  return { text: notes.join(' '), content: lines.join('\n') };
}

/** staticInitiators contains the initiator types that the list of requests shows only as a count. */
const staticInitiators: ReadonlySet<string> = new Set([
  'img',
  'image',
  'css',
  'link',
  'script',
  'video',
  'audio',
  'icon',
]);

async function showRequest(captures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const site = await captures.readSite(call);
  const { recorder, isNew } = await captures.record(call);
  const index = readNumber(call.args, 'index') ?? 0;
  const request = recorder.requests.find(({ number }) => number === index);
  if (!request || !isVisible(request, site, call)) {
    const reason = isNew
      ? `recording of requests begins now. ${recordingHint}`
      : 'call browser_network_requests for the numbers';
    throw toolFailure('not_found', `there is no request ${index} of this page: ${reason}`);
  }
  const part = readChoice(call.args, 'part', ['headers', 'requestBody', 'responseBody']);
  const cursor = readNumber(call.args, 'cursor') ?? 0;
  const requestBody = {
    body: request.requestBody,
    mediaType: readMediaType(request.headers),
    note: 'the request has no body',
  };
  const responseBody = {
    body: request.body,
    mediaType: request.answer?.mimeType ?? '',
    note:
      request.bodyNote || (request.durationMs === undefined ? 'the answer has not arrived yet' : 'the body is empty'),
  };
  if (part === 'requestBody' || part === 'responseBody') {
    const { text, rest } = takeBodyPart(part === 'requestBody' ? requestBody : responseBody, cursor, MaxBodyChars);
    const end = rest > 0 ? ` ${rest} more characters: call again with cursor ${cursor + MaxBodyChars}.` : '';
    return { text: `Request ${index}, ${part} from character ${cursor}.${end}`, content: text };
  }
  const lines = describeRequest(request);
  const notes = [`Request ${index}.`];
  if (part === undefined) {
    for (const [name, each] of [
      ['requestBody', requestBody],
      ['responseBody', responseBody],
    ] as const) {
      if (name === 'requestBody' && !each.body) continue;
      const { text, rest } = takeBodyPart(each, 0, MaxShortBodyChars);
      lines.push(`${name}:`, text);
      if (rest > 0) notes.push(`${rest} more characters of the ${name}: call again with part ${name}.`);
    }
  }
  return { text: notes.join(' '), content: lines.join('\n') };
}

function takeBodyPart(
  { body, mediaType, note }: { body: RecordedBody | undefined; mediaType: string; note: string },
  start: number,
  length: number,
): { text: string; rest: number } {
  if (!body || body.text === '') return { text: `(${note})`, rest: 0 };
  const text = decodeBody(body, mediaType);
  if (text === undefined)
    return { text: `(binary, ${mediaType}, ${formatBytes(Math.floor((body.text.length * 3) / 4))})`, rest: 0 };
  return { text: text.slice(start, start + length), rest: Math.max(0, text.length - start - length) };
}

async function listMessages(captures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const site = await captures.readSite(call);
  const { recorder, isNew } = await captures.record(call);
  if (isNew)
    return {
      text: `Recording of messages begins now; open sockets are recorded after a reload only. ${recordingHint}`,
    };
  const filter = readText(call.args, 'filter') ?? '';
  const since = readNumber(call.args, 'since') ?? 0;
  const { sockets, messages, droppedMessages } = recorder.sockets;
  const visible = [...sockets.values()].filter(
    (socket) => isVisible(socket, site, call) && maskUrl(socket.url).includes(filter),
  );
  const shown = messages.filter(({ number, socket }) => number > since && visible.includes(socket));
  const page = shown.slice(0, MaxMessageLines);
  const last = page.at(-1);
  const notes = [`${visible.length} sockets, ${shown.length} messages.`];
  if (page.length < shown.length && last)
    notes.push(`${shown.length - page.length} more: call again with since ${last.number}.`);
  if (droppedMessages > 0) notes.push(`The oldest ${droppedMessages} messages of the recording were dropped.`);
  const lines = [...visible.map((socket) => formatSocket(socket, site)), ...page.map(formatMessage)];
  return { text: notes.join(' '), content: lines.join('\n') };
}

async function exportHar(
  browser: NetworkBrowser,
  captures: NetworkCaptures,
  call: BrowserCall,
): Promise<BrowserResult> {
  const site = await captures.readSite(call);
  const { recorder, isNew } = await captures.record(call);
  const requests = recorder.requests.filter((request) => isVisible(request, site, call));
  if (requests.length === 0)
    throw toolFailure(
      'not_found',
      isNew
        ? `recording of requests begins now, so there is nothing to export. ${recordingHint}`
        : 'no request of this page was recorded. Reload the page first',
    );
  const messages = recorder.sockets.messages.filter(({ socket }) => isVisible(socket, site, call));
  const tab = await browser.describeTab(call.tabId);
  const page = { url: maskUrl(tab?.url ?? ''), title: tab?.title ?? '' };
  const text = makeHar({ requests, messages, page, hasBodies: readFlag(call.args, 'bodies') });
  return {
    text: `HAR of ${requests.length} requests and ${messages.length} messages. Passwords, tokens and cookies are masked.`,
    file: { extension: 'har', mimeType: 'application/json', text },
  };
}
