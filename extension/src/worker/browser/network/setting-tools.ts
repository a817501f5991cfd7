import { isRecord } from '../../../record.ts';
import { readChoice, readFlag, readNumber, readText } from '../arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from '../browser-tool.ts';
import { callFailure } from '../tool-failure.ts';
import { type Conditions, formatConditions, presets } from './conditions.ts';
import { captureEndText, type NetworkCaptures } from './network-captures.ts';
import { MaxRoutes, type Route, type RouteAnswer } from './routes.ts';

export function makeSettingTools(captures: NetworkCaptures): [string, BrowserTool][] {
  return [
    ['browser_route', (call) => changeRoutes(captures, call)],
    ['browser_network_conditions', (call) => setConditions(captures, call)],
  ];
}

async function changeRoutes(captures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const { args, tabId, session } = call;
  const site = await captures.readSite(call);
  const pattern = readText(args, 'pattern');
  let text: string;
  switch (readChoice(args, 'action', ['add', 'remove', 'list'])) {
    case 'add': {
      if (pattern === undefined || pattern === '')
        throw makeInvalidArgumentsFailure('browser_route needs a pattern to add a rule');
      const answer = readAnswer(call);
      const { capture } = await captures.routes.use(tabId, session);
      if (capture.routes.length >= MaxRoutes)
        throw makeInvalidArgumentsFailure(`the tab has ${MaxRoutes} rules already: remove some first`);
      const route = await capture.add({ site, pattern, answer, session });
      text = `Added rule ${route.number}. It applies to requests of documents of ${site}, not to those of workers, ${captureEndText}.`;
      break;
    }
    case 'remove': {
      const routes = await captures.routes.find(tabId);
      const removedCount = (await routes?.remove(site, pattern)) ?? 0;
      if (routes?.routes.length === 0) await captures.routes.end(tabId);
      text = `Removed ${removedCount} rules.`;
      break;
    }
    default:
      text = 'Rules of this site, the newest first. The first that matches a request applies.';
  }
  const all = (await captures.routes.find(tabId))?.routes ?? [];
  const lines = all.filter((route) => route.site === site).map(formatRoute);
  return { text, content: lines.length > 0 ? lines.reverse().join('\n') : 'no rules' };
}

function formatRoute({ number, pattern, answer, matchCount }: Route): string {
  const action = answer ? `answer ${answer.status}, ${answer.body.length} characters` : 'abort';
  return `rule ${number} ${pattern}: ${action}; ${matchCount} requests matched`;
}

function readAnswer({ args }: BrowserCall): RouteAnswer | undefined {
  const status = readNumber(args, 'status');
  const body = readText(args, 'body');
  const isAborted = readFlag(args, 'abort');
  if (isAborted === (status !== undefined || body !== undefined || args.headers !== undefined))
    throw makeInvalidArgumentsFailure(
      'a rule of browser_route needs either abort: true, or a status, a body or headers',
    );
  if (isAborted) return undefined;
  if (status !== undefined && (!Number.isInteger(status) || status < 200 || status > 599))
    throw makeInvalidArgumentsFailure('the argument status must be from 200 to 599');
  const headers = isRecord(args.headers) ? args.headers : {};
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const invalidName = entries.find(([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[\r\n\0]/.test(value));
  if (invalidName) throw makeInvalidArgumentsFailure(`${JSON.stringify(invalidName[0])} is not a header of HTTP`);
  return { status: status ?? 200, headers: Object.fromEntries(entries), body: body ?? '' };
}

async function setConditions(captures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const { args, tabId, session } = call;
  const preset = readChoice(args, 'preset', ['offline', 'slow-3g', 'fast-3g', 'fast-4g', 'none']);
  const limits = {
    latencyMs: readNumber(args, 'latency'),
    downloadKbps: readNumber(args, 'download'),
    uploadKbps: readNumber(args, 'upload'),
  };
  const hasLimit = Object.values(limits).some((limit) => limit !== undefined);
  if ((preset === undefined) === !hasLimit)
    throw makeInvalidArgumentsFailure(
      'browser_network_conditions needs either a preset, or latency, download or upload',
    );
  if (preset === 'none') {
    await captures.conditions.end(tabId);
    return { text: 'The network of the tab has no limits.' };
  }
  const { latencyMs = 0, downloadKbps = 0, uploadKbps = 0 } = limits;
  const wanted: Conditions =
    preset === undefined ? { isOffline: false, latencyMs, downloadKbps, uploadKbps } : presets[preset];
  const { capture } = await captures.conditions.use(tabId, session);
  await capture.set(wanted);
  return { text: `The network of the tab: ${formatConditions(wanted)}, ${captureEndText}.` };
}

function makeInvalidArgumentsFailure(message: string): Error {
  return callFailure('invalid_arguments', message);
}
