import type { Fields } from '../../../record.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { noRequestPattern } from '../debugger/features.ts';
import { findFrameSite, readHeaders, readOrigin, readText, toFields } from './events.ts';

export const MaxRoutes = 50;

/** Route is a request rule, which answers or aborts one site's requests that match a URL pattern. */
export interface Route {
  /** The field `number` identifies the request rule within its tab, starting at 1. */
  readonly number: number;
  /** The field `site` is the origin of the page in the tab when the agent added the request rule. */
  readonly site: string;
  /** The field `pattern` is a URL pattern in which each * matches any characters. */
  readonly pattern: string;
  /** The field `answer` is the response to matching requests, or undefined if the rule aborts the requests. */
  readonly answer: RouteAnswer | undefined;
  readonly session: string;
  matchCount: number;
}

export interface RouteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Chrome pauses the requests that match a rule, and Routes answers, aborts or continues the paused requests. */
export class Routes {
  readonly routes: Route[] = [];
  readonly #session: DebuggerSession;
  readonly #stopListening: () => void;
  #lastRouteNumber = 0;

  constructor(session: DebuggerSession) {
    this.#session = session;
    this.#stopListening = session.onEvent((method, params, childId) => {
      if (method === 'Fetch.requestPaused' && childId === '') void this.#answerRequest(params);
    });
  }

  /**
   * After a call of the method `stop`, Routes ignores paused requests. Otherwise Routes would continue the requests that
   * a later Routes of the same debugger session has to answer.
   */
  stop(): void {
    this.#stopListening();
  }

  async add(routeRule: Pick<Route, 'site' | 'pattern' | 'answer' | 'session'>): Promise<Route> {
    const route: Route = { ...routeRule, number: ++this.#lastRouteNumber, matchCount: 0 };
    this.routes.push(route);
    await this.#updatePatterns();
    return route;
  }

  async remove(site: string, pattern: string | undefined): Promise<number> {
    return await this.#retainRoutes(
      (route) => route.site !== site || (pattern !== undefined && route.pattern !== pattern),
    );
  }

  async removeSessionRules(session: string): Promise<void> {
    await this.#retainRoutes((route) => route.session !== session);
  }

  async #retainRoutes(isKept: (route: Route) => boolean): Promise<number> {
    const keptRoutes = this.routes.filter(isKept);
    const removedCount = this.routes.length - keptRoutes.length;
    this.routes.splice(0, this.routes.length, ...keptRoutes);
    await this.#updatePatterns();
    return removedCount;
  }

  /** #updatePatterns makes Chrome pause only requests that match the URL pattern of a request rule. */
  async #updatePatterns(): Promise<void> {
    const patterns = this.routes.map(({ pattern }) => ({ urlPattern: toChromePattern(pattern) }));
    await this.#session.send('Fetch.enable', { patterns: patterns.length > 0 ? patterns : [noRequestPattern] });
  }

  /** If no request rule matches a paused request, or an error occurs, the request continues unchanged. */
  async #answerRequest(params: Fields): Promise<void> {
    const requestId = readText(params, 'requestId');
    try {
      const route = await this.#findRoute(params);
      if (!route) await this.#session.send('Fetch.continueRequest', { requestId });
      else {
        route.matchCount++;
        await this.#session.send(...makeAnswerCommand(route, requestId, readOriginHeader(params)));
      }
    } catch {
      await this.#session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
    }
  }

  async #findRoute(params: Fields): Promise<Route | undefined> {
    const url = readText(toFields(params.request), 'url');
    const candidateRoutes = this.routes.filter(({ pattern }) => matchesPattern(url, pattern)).reverse();
    if (candidateRoutes.length === 0) return undefined;
    // A rule applies only to its own site. For a request that loads a document, the origin of that document must be the
    // site. For any other request, the origin of the document that sends the request must be the site.
    const isDocument = readText(params, 'resourceType') === 'Document';
    const site = isDocument ? readOrigin(url) : await this.#findSiteOfFrame(readText(params, 'frameId'));
    return candidateRoutes.find((route) => route.site === site);
  }

  async #findSiteOfFrame(frameId: string): Promise<string> {
    const { frameTree } = await this.#session.send('Page.getFrameTree');
    return findFrameSite(frameTree, frameId);
  }
}

function readOriginHeader(params: Fields): string {
  return readHeaders(toFields(params.request).headers).Origin ?? '';
}

function makeAnswerCommand({ answer }: Route, requestId: string, origin: string): [string, Fields] {
  if (!answer) return ['Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }];
  const defaultHeaders: Record<string, string> = {
    'content-type': /^\s*[[{]/.test(answer.body) ? 'application/json' : 'text/plain; charset=utf-8',
  };
  // Add CORS headers, so that the page can read the rule's response to a cross-origin request.
  if (origin !== '')
    Object.assign(defaultHeaders, {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
    });
  const names = Object.keys(answer.headers).map((name) => name.toLowerCase());
  const addedHeaders = Object.entries(defaultHeaders).filter(([name]) => !names.includes(name));
  const headers = [...Object.entries(answer.headers), ...addedHeaders];
  return [
    'Fetch.fulfillRequest',
    {
      requestId,
      responseCode: answer.status,
      responseHeaders: headers.map(([name, value]) => ({ name, value })),
      body: toBase64(answer.body),
    },
  ];
}

function toBase64(plainText: string): string {
  let binaryText = '';
  for (const byte of new TextEncoder().encode(plainText)) binaryText += String.fromCharCode(byte);
  return btoa(binaryText);
}

/**
 * toChromePattern escapes question marks in a pattern, because Chrome treats an unescaped question mark as a wildcard.
 */
function toChromePattern(pattern: string): string {
  return pattern.replace(/[\\?]/g, '\\$&');
}

export function matchesPattern(url: string, pattern: string): boolean {
  const [firstPart = '', ...otherParts] = pattern.split('*');
  const lastPart = otherParts.pop();
  if (lastPart === undefined) return url === pattern;
  if (!url.startsWith(firstPart)) return false;
  let matchEnd = firstPart.length;
  for (const patternPart of otherParts) {
    const partIndex = url.indexOf(patternPart, matchEnd);
    if (partIndex < 0) return false;
    matchEnd = partIndex + patternPart.length;
  }
  return url.length - lastPart.length >= matchEnd && url.endsWith(lastPart);
}
