import { isRecord } from '../../../record.ts';
import { readChoice, readFlag, readNumber, readText } from '../arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from '../browser-tool.ts';
import { makeCallFailure } from '../tool-failure.ts';
import { formatConditions, networkPresets, type ThrottlingConditions } from './conditions.ts';
import { captureEndText, type NetworkCaptures } from './network-captures.ts';
import { MaxRoutes, type Route, type RouteAnswer } from './routes.ts';

export function makeSettingTools(networkCaptures: NetworkCaptures): [string, BrowserTool][] {
  return [
    ['browser_route', (call) => changeRoutes(networkCaptures, call)],
    ['browser_network_conditions', (call) => setNetworkConditions(networkCaptures, call)],
  ];
}

async function changeRoutes(networkCaptures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const { args, tabId, session } = call;
  const site = await networkCaptures.readCallOrigin(call);
  const pattern = readText(args, 'pattern');
  let resultText: string;
  switch (readChoice(args, 'action', ['add', 'remove', 'list'])) {
    case 'add': {
      if (pattern === undefined || pattern === '')
        throw makeInvalidArgumentsFailure('browser_route needs a pattern to add a rule');
      const routeAnswer = readRouteAnswer(call);
      const { capture } = await networkCaptures.routes.use(tabId, session);
      if (capture.routes.length >= MaxRoutes)
        throw makeInvalidArgumentsFailure(`the tab has ${MaxRoutes} rules already: remove some first`);
      const route = await capture.add({ site, pattern, answer: routeAnswer, session });
      resultText = `Added rule ${route.number}. It applies to requests of documents of ${site}, not to those of workers, ${captureEndText}.`;
      break;
    }
    case 'remove': {
      const routes = await networkCaptures.routes.find(tabId);
      const removedCount = (await routes?.remove(site, pattern)) ?? 0;
      if (routes?.routes.length === 0) await networkCaptures.routes.end(tabId);
      resultText = `Removed ${removedCount} rules.`;
      break;
    }
    default:
      resultText = 'Rules of this site, the newest first. The first that matches a request applies.';
  }
  const allRoutes = (await networkCaptures.routes.find(tabId))?.routes ?? [];
  const lines = allRoutes.filter((route) => route.site === site).map(formatRoute);
  return { text: resultText, content: lines.length > 0 ? lines.reverse().join('\n') : 'no rules' };
}

function formatRoute({ number, pattern, answer: routeAnswer, matchCount }: Route): string {
  const action = routeAnswer ? `answer ${routeAnswer.status}, ${routeAnswer.body.length} characters` : 'abort';
  return `rule ${number} ${pattern}: ${action}; ${matchCount} requests matched`;
}

function readRouteAnswer({ args }: BrowserCall): RouteAnswer | undefined {
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
  const headerEntries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const invalidHeaderName = headerEntries.find(
    ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[\r\n\0]/.test(value),
  );
  if (invalidHeaderName)
    throw makeInvalidArgumentsFailure(`${JSON.stringify(invalidHeaderName[0])} is not a header of HTTP`);
  return { status: status ?? 200, headers: Object.fromEntries(headerEntries), body: body ?? '' };
}

async function setNetworkConditions(networkCaptures: NetworkCaptures, call: BrowserCall): Promise<BrowserResult> {
  const { args, tabId, session } = call;
  const presetName = readChoice(args, 'preset', ['offline', 'slow-3g', 'fast-3g', 'fast-4g', 'none']);
  const networkLimits = {
    latencyMs: readNumber(args, 'latency'),
    downloadKbps: readNumber(args, 'download'),
    uploadKbps: readNumber(args, 'upload'),
  };
  const hasLimit = Object.values(networkLimits).some((limit) => limit !== undefined);
  if ((presetName === undefined) === !hasLimit)
    throw makeInvalidArgumentsFailure(
      'browser_network_conditions needs either a preset, or latency, download or upload',
    );
  if (presetName === 'none') {
    await networkCaptures.conditions.end(tabId);
    return { text: 'The network of the tab has no limits.' };
  }
  const { latencyMs = 0, downloadKbps = 0, uploadKbps = 0 } = networkLimits;
  const requestedConditions: ThrottlingConditions =
    presetName === undefined ? { isOffline: false, latencyMs, downloadKbps, uploadKbps } : networkPresets[presetName];
  const { capture } = await networkCaptures.conditions.use(tabId, session);
  await capture.set(requestedConditions);
  return { text: `The network of the tab: ${formatConditions(requestedConditions)}, ${captureEndText}.` };
}

function makeInvalidArgumentsFailure(failureMessage: string): Error {
  return makeCallFailure('invalid_arguments', failureMessage);
}
