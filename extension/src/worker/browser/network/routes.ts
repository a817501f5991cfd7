import type { Fields } from '../../../record.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { noRequest } from '../debugger/features.ts';
import { fieldsOf, findFrameSite, headersOf, siteOf, textOf } from './events.ts';

/** MaxRoutes limits the rules of a tab. */
export const MaxRoutes = 50;

/** Route is a rule for requests of the documents of one site. */
export interface Route {
  /** number identifies the rule in its tab, from 1. */
  readonly number: number;
  /** site is the site that the tab showed when the rule was made. */
  readonly site: string;
  /** pattern matches addresses: * matches any characters. */
  readonly pattern: string;
  /** answer is what matching requests get; undefined if they fail. */
  readonly answer: RouteAnswer | undefined;
  /** session is the session that made the rule. */
  readonly session: string;
  matchCount: number;
}

export interface RouteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Routes are the rules of one tab. Chrome pauses the requests that match, and Routes answers them. */
export class Routes {
  readonly routes: Route[] = [];
  readonly #session: DebuggerSession;
  #count = 0;

  constructor(session: DebuggerSession) {
    this.#session = session;
    session.onEvent((method, params, childId) => {
      if (method === 'Fetch.requestPaused' && childId === '') void this.#decide(params);
    });
  }

  async add(rule: Pick<Route, 'site' | 'pattern' | 'answer' | 'session'>): Promise<Route> {
    const route: Route = { ...rule, number: ++this.#count, matchCount: 0 };
    this.routes.push(route);
    await this.#update();
    return route;
  }

  /** remove removes the rules of a site with a pattern, or all rules of the site, and returns how many. */
  async remove(site: string, pattern: string | undefined): Promise<number> {
    return await this.#keep((route) => route.site !== site || (pattern !== undefined && route.pattern !== pattern));
  }

  /** removeOf removes the rules of a session. */
  async removeOf(session: string): Promise<void> {
    await this.#keep((route) => route.session !== session);
  }

  async #keep(isKept: (route: Route) => boolean): Promise<number> {
    const kept = this.routes.filter(isKept);
    const removedCount = this.routes.length - kept.length;
    this.routes.splice(0, this.routes.length, ...kept);
    await this.#update();
    return removedCount;
  }

  /** #update makes Chrome pause only requests that match a pattern. */
  async #update(): Promise<void> {
    const patterns = this.routes.map(({ pattern }) => ({ urlPattern: chromePattern(pattern) }));
    await this.#session.send('Fetch.enable', { patterns: patterns.length > 0 ? patterns : [noRequest] });
  }

  /** #decide answers a paused request. A request that no rule matches continues, also after an error. */
  async #decide(params: Fields): Promise<void> {
    const requestId = textOf(params, 'requestId');
    try {
      const route = await this.#findRoute(params);
      if (!route) await this.#session.send('Fetch.continueRequest', { requestId });
      else {
        route.matchCount++;
        await this.#session.send(...commandOf(route, requestId, originOf(params)));
      }
    } catch {
      await this.#session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
    }
  }

  async #findRoute(params: Fields): Promise<Route | undefined> {
    const url = textOf(fieldsOf(params.request), 'url');
    const candidates = this.routes.filter(({ pattern }) => matchesPattern(url, pattern)).reverse();
    if (candidates.length === 0) return undefined;
    // A document that is loaded belongs to its site. Other requests belong to the site of their document.
    const isDocument = textOf(params, 'resourceType') === 'Document';
    const site = isDocument ? siteOf(url) : await this.#siteOfFrame(textOf(params, 'frameId'));
    return candidates.find((route) => route.site === site);
  }

  async #siteOfFrame(frameId: string): Promise<string> {
    const { frameTree } = await this.#session.send('Page.getFrameTree');
    return findFrameSite(frameTree, frameId);
  }
}

/** originOf returns the header Origin of a paused request; empty without one. */
function originOf(params: Fields): string {
  return headersOf(fieldsOf(params.request).headers).Origin ?? '';
}

/** commandOf returns the command that answers a paused request. */
function commandOf({ answer }: Route, requestId: string, origin: string): [string, Fields] {
  if (!answer) return ['Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }];
  const defaults: Record<string, string> = {
    'content-type': /^\s*[[{]/.test(answer.body) ? 'application/json' : 'text/plain; charset=utf-8',
  };
  // The page must be able to read the answer, also if the request is for another site.
  if (origin !== '')
    Object.assign(defaults, {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
    });
  const names = Object.keys(answer.headers).map((name) => name.toLowerCase());
  const added = Object.entries(defaults).filter(([name]) => !names.includes(name));
  const headers = [...Object.entries(answer.headers), ...added];
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

function toBase64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** chromePattern returns a pattern for Chrome, in which ? also is a wildcard unless escaped. */
function chromePattern(pattern: string): string {
  return pattern.replace(/[\\?]/g, '\\$&');
}

/** matchesPattern reports whether an address matches a pattern, in which * matches any characters. */
export function matchesPattern(url: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return url === pattern;
  if (!url.startsWith(first)) return false;
  let end = first.length;
  for (const part of parts) {
    const found = url.indexOf(part, end);
    if (found < 0) return false;
    end = found + part.length;
  }
  return url.length - last.length >= end && url.endsWith(last);
}
