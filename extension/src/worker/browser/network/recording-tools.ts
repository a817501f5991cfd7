import { readChoice, readFlag, readNumber, readText, readTexts } from '../arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from '../browser-tool.ts';
import { DebuggerUnavailableError } from '../debugger/debuggers.ts';
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
/** MaxMessageLines is lower than MaxLines, because lines with socket messages are longer than lines with requests. */
const MaxMessageLines = 50;
/**
 * MaxBodyChars limits the length of an HTTP body in one tool result, in UTF-16 code units. If a tool result also
 * contains other parts of the request, a body is limited to MaxShortBodyChars UTF-16 code units.
 */
const MaxBodyChars = 20_000;
const MaxShortBodyChars = 2000;

const recordingHint = `The recording lasts ${captureEndText}. Reload the page to record it from its start.`;

export function makeRecordingTools(browser: NetworkBrowser, networkCaptures: NetworkCaptures): [string, BrowserTool][] {
  return [
    ['browser_network_requests', (call) => listRequests(browser, networkCaptures, call)],
    ['browser_network_request', (call) => showRequest(networkCaptures, call)],
    ['browser_websocket_messages', (call) => listMessages(networkCaptures, call)],
    ['browser_har_export', (call) => exportHar(browser, networkCaptures, call)],
  ];
}

/** A call is allowed to read a request that an accessible document sent while the tab showed the call's site. */
function isVisible({ page, frame }: { page: string; frame: string }, site: string, call: BrowserCall): boolean {
  if (page !== site || frame === '') return false;
  return frame === site || !isForbiddenAddress(frame, call.args);
}

async function listRequests(
  browser: NetworkBrowser,
  networkCaptures: NetworkCaptures,
  call: BrowserCall,
): Promise<BrowserResult> {
  const site = await networkCaptures.readCallOrigin(call);
  const recorderOrError = await networkCaptures.record(call).catch((error: unknown) => {
    if (error instanceof DebuggerUnavailableError) return error;
    throw error;
  });
  if (recorderOrError instanceof DebuggerUnavailableError)
    return await listResources(browser, call, site, `Requests are not recorded: ${recorderOrError.message}.`);
  const { recorder, isNew } = recorderOrError;
  if (isNew) return await listResources(browser, call, site, `Recording of requests begins now. ${recordingHint}`);
  const filter = readText(call.args, 'filter') ?? '';
  const requestTypes = readTexts(call.args, 'types')?.map((type) => type.toLowerCase());
  const sinceRequestNumber = readNumber(call.args, 'since') ?? 0;
  const matchingRequests = recorder.requests.filter(
    (request) =>
      request.number > sinceRequestNumber &&
      isVisible(request, site, call) &&
      maskUrl(request.url).includes(filter) &&
      (requestTypes === undefined || requestTypes.includes(request.type)),
  );
  const hidesStaticFiles = requestTypes === undefined && !readFlag(call.args, 'static');
  const shownRequests = hidesStaticFiles
    ? matchingRequests.filter(({ type }) => !staticTypes.has(type))
    : matchingRequests;
  const page = shownRequests.slice(0, MaxLines);
  const lastShownRequest = page.at(-1);
  const resultNotes = [`${shownRequests.length} requests.`];
  if (matchingRequests.length > shownRequests.length)
    resultNotes.push(
      `Not listed: ${describeTypeCounts(matchingRequests.filter(({ type }) => staticTypes.has(type)))} (static: true lists them).`,
    );
  if (page.length < shownRequests.length && lastShownRequest)
    resultNotes.push(`${shownRequests.length - page.length} more: call again with since ${lastShownRequest.number}.`);
  if (recorder.droppedRequests > 0)
    resultNotes.push(`The oldest ${recorder.droppedRequests} requests of the recording were dropped.`);
  if (recorder.droppedBodies > 0) resultNotes.push(`The bodies of ${recorder.droppedBodies} requests were dropped.`);
  return { text: resultNotes.join(' '), content: page.map((request) => formatRequestLine(request, site)).join('\n') };
}

function describeTypeCounts(requests: readonly RecordedRequest[]): string {
  const typeCounts = new Map<string, number>();
  for (const { type } of requests) typeCounts.set(type, (typeCounts.get(type) ?? 0) + 1);
  return [...typeCounts].map(([type, count]) => `${count} ${type}`).join(', ');
}

/** listResources lists requests from the performance entries of the page, which contain neither headers nor bodies. */
async function listResources(
  browser: NetworkBrowser,
  call: BrowserCall,
  site: string,
  noteText: string,
): Promise<BrowserResult> {
  const filter = readText(call.args, 'filter') ?? '';
  const pageResources = (await browser.readResources(call.tabId, call.documentId)).filter(({ url }) =>
    maskUrl(url).includes(filter),
  );
  const hidesStaticFiles = !readFlag(call.args, 'static');
  const shownRequests = hidesStaticFiles
    ? pageResources.filter(({ type }) => !staticInitiators.has(type))
    : pageResources;
  const page = shownRequests.slice(-MaxLines);
  const resultNotes = [noteText, `${shownRequests.length} earlier requests of the page, without headers and bodies.`];
  if (pageResources.length > shownRequests.length)
    resultNotes.push(
      `Not listed: ${pageResources.length - shownRequests.length} static requests (static: true lists them).`,
    );
  if (shownRequests.length > page.length) resultNotes.push(`The newest ${page.length} are listed.`);
  const requestLines = page.map(
    ({ url, type, status, sizeBytes, durationMs }) =>
      `- ${status || '?'} ${type} ${sizeBytes > 0 ? formatBytes(sizeBytes) : '-'} ${durationMs} ms ${shortenUrl(url, site)}`,
  );
  return { text: resultNotes.join(' '), content: requestLines.join('\n') };
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

async function showRequest(networkCaptures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const site = await networkCaptures.readCallOrigin(call);
  const { recorder, isNew } = await networkCaptures.record(call);
  const index = readNumber(call.args, 'index') ?? 0;
  const request = recorder.requests.find(({ number }) => number === index);
  if (!request || !isVisible(request, site, call)) {
    const reason = isNew
      ? `recording of requests begins now. ${recordingHint}`
      : 'call browser_network_requests for the numbers';
    throw toolFailure('not_found', `there is no request ${index} of this page: ${reason}`);
  }
  const requestPart = readChoice(call.args, 'part', ['headers', 'requestBody', 'responseBody']);
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
  if (requestPart === 'requestBody' || requestPart === 'responseBody') {
    const { text: bodyPartText, rest: remainingChars } = takeBodyPart(
      requestPart === 'requestBody' ? requestBody : responseBody,
      cursor,
      MaxBodyChars,
    );
    const endNote =
      remainingChars > 0 ? ` ${remainingChars} more characters: call again with cursor ${cursor + MaxBodyChars}.` : '';
    return { text: `Request ${index}, ${requestPart} from character ${cursor}.${endNote}`, content: bodyPartText };
  }
  const requestLines = describeRequest(request);
  const resultNotes = [`Request ${index}.`];
  if (requestPart === undefined) {
    for (const [name, makeTool] of [
      ['requestBody', requestBody],
      ['responseBody', responseBody],
    ] as const) {
      if (name === 'requestBody' && !makeTool.body) continue;
      const { text: bodyPartText, rest: remainingChars } = takeBodyPart(makeTool, 0, MaxShortBodyChars);
      requestLines.push(`${name}:`, bodyPartText);
      if (remainingChars > 0)
        resultNotes.push(`${remainingChars} more characters of the ${name}: call again with part ${name}.`);
    }
  }
  return { text: resultNotes.join(' '), content: requestLines.join('\n') };
}

function takeBodyPart(
  { body, mediaType, note: noteText }: { body: RecordedBody | undefined; mediaType: string; note: string },
  partStart: number,
  maxChars: number,
): { text: string; rest: number } {
  if (!body || body.text === '') return { text: `(${noteText})`, rest: 0 };
  const bodyText = decodeBody(body, mediaType);
  if (bodyText === undefined)
    return { text: `(binary, ${mediaType}, ${formatBytes(Math.floor((body.text.length * 3) / 4))})`, rest: 0 };
  return {
    text: bodyText.slice(partStart, partStart + maxChars),
    rest: Math.max(0, bodyText.length - partStart - maxChars),
  };
}

async function listMessages(networkCaptures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const site = await networkCaptures.readCallOrigin(call);
  const { recorder, isNew } = await networkCaptures.record(call);
  if (isNew)
    return {
      text: `Recording of messages begins now; open sockets are recorded after a reload only. ${recordingHint}`,
    };
  const filter = readText(call.args, 'filter') ?? '';
  const sinceMessageNumber = readNumber(call.args, 'since') ?? 0;
  const { sockets, messages, droppedMessages } = recorder.sockets;
  const visibleSockets = [...sockets.values()].filter(
    (socket) => isVisible(socket, site, call) && maskUrl(socket.url).includes(filter),
  );
  const shownRequests = messages.filter(
    ({ number, socket }) => number > sinceMessageNumber && visibleSockets.includes(socket),
  );
  const page = shownRequests.slice(0, MaxMessageLines);
  const lastShownMessage = page.at(-1);
  const resultNotes = [`${visibleSockets.length} sockets, ${shownRequests.length} messages.`];
  if (page.length < shownRequests.length && lastShownMessage)
    resultNotes.push(`${shownRequests.length - page.length} more: call again with since ${lastShownMessage.number}.`);
  if (droppedMessages > 0) resultNotes.push(`The oldest ${droppedMessages} messages of the recording were dropped.`);
  const requestLines = [...visibleSockets.map((socket) => formatSocket(socket, site)), ...page.map(formatMessage)];
  return { text: resultNotes.join(' '), content: requestLines.join('\n') };
}

async function exportHar(
  browser: NetworkBrowser,
  networkCaptures: NetworkCaptures,
  call: BrowserCall,
): Promise<BrowserResult> {
  const site = await networkCaptures.readCallOrigin(call);
  const { recorder, isNew } = await networkCaptures.record(call);
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
  const harText = makeHar({ requests, messages, page, hasBodies: readFlag(call.args, 'bodies') });
  return {
    text: `HAR of ${requests.length} requests and ${messages.length} messages. Passwords, tokens and cookies are masked.`,
    file: { extension: 'har', mimeType: 'application/json', text: harText },
  };
}
