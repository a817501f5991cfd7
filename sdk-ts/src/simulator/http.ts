import { hasProperties, isMethod, type Properties } from '../runtime/value.ts';
import type { Clock } from './clock.ts';
import { FakeTextDecoder, FakeTextEncoder } from './encoding.ts';
import type { FakeAbortSignal } from './events.ts';
import { FakeURL } from './url.ts';

/**
 * A response that a route of the simulated site returns to an HTTP request. Without `json`, `text` or `error`, the
 * response body is empty.
 */
export interface RouteAnswer {
  /** The HTTP status; 200 by default. */
  status?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  json?: unknown;
  text?: string | undefined;
  /** How long the site takes to respond, in milliseconds of virtual time; 0 by default. */
  delayMs?: number | undefined;
  /** If `error` is set, `fetch` fails with a network error that has this message. */
  error?: string | undefined;
}

export interface RouteRequest {
  readonly method: string;
  readonly url: string;
  /** The HTTP headers of the request, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request body as text; empty if the request has no body. */
  readonly body: string;
}

/**
 * HTTP responses by method and URL pattern, such as `GET /api/items` or `POST https://api.example.com/*`. A URL pattern
 * without a host matches only URLs of the page's origin; `*` matches any text. If a URL pattern has no query string, it
 * matches requests with any query string.
 */
export type Routes = Readonly<
  Record<string, RouteAnswer | ((request: RouteRequest) => RouteAnswer | Promise<RouteAnswer>)>
>;

export class FakeHeaders {
  readonly #values = new Map<string, string>();

  constructor(requestInit: unknown = {}) {
    const entries: Iterable<unknown> =
      hasProperties(requestInit) && Symbol.iterator in requestInit
        ? Array.from(Object(requestInit))
        : Object.entries(Object(requestInit));
    for (const entry of entries) if (Array.isArray(entry)) this.append(String(entry[0]), entry[1]);
  }

  append(name: string, value: unknown): void {
    const previousValue = this.get(name);
    this.set(name, previousValue === null ? value : `${previousValue}, ${String(value)}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: unknown): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  forEach(visit: (value: string, key: string) => void): void {
    for (const [key, value] of this) visit(value, key);
  }

  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)).values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

export class FakeBlob {
  readonly type: string;
  readonly #bytes: Uint8Array;

  constructor(parts: readonly unknown[] = [], options: { type?: string } = {}) {
    const bytes = parts.map((part) => (part instanceof FakeBlob ? part.#bytes : encodeBlobPart(part)));
    this.#bytes = Uint8Array.from(bytes.flatMap((partBytes) => [...partBytes]));
    this.type = options.type ?? '';
  }

  get size(): number {
    return this.#bytes.length;
  }

  async text(): Promise<string> {
    return new FakeTextDecoder().decode(this.#bytes);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  async bytes(): Promise<Uint8Array> {
    return this.#bytes.slice();
  }
}

function encodeBlobPart(part: unknown): Uint8Array {
  if (part instanceof Uint8Array) return part;
  return part instanceof ArrayBuffer ? new Uint8Array(part) : new FakeTextEncoder().encode(String(part));
}

export class FakeFormData {
  readonly #formEntries: [string, unknown][] = [];

  append(name: string, value: unknown): void {
    this.#formEntries.push([name, value instanceof FakeBlob ? value : String(value)]);
  }

  get(name: string): unknown {
    return this.#formEntries.find(([key]) => key === name)?.[1] ?? null;
  }

  [Symbol.iterator](): IterableIterator<[string, unknown]> {
    return this.#formEntries.values();
  }

  toString(): string {
    return this.#formEntries
      .map(([key, value]) => `${key}=${value instanceof FakeBlob ? '(a file)' : String(value)}`)
      .join('&');
  }
}

export class FakeResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: FakeHeaders;
  readonly url: string;
  bodyUsed = false;
  readonly #body: string;

  constructor(
    responseBody: unknown = '',
    requestInit: { status?: number; statusText?: string; headers?: unknown; url?: string } = {},
  ) {
    this.#body = responseBody === null || responseBody === undefined ? '' : String(responseBody);
    this.status = requestInit.status ?? 200;
    this.statusText = requestInit.statusText ?? '';
    this.headers = new FakeHeaders(requestInit.headers ?? {});
    this.url = requestInit.url ?? '';
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  clone(): FakeResponse {
    return new FakeResponse(this.#body, { status: this.status, headers: this.headers, url: this.url });
  }

  async text(): Promise<string> {
    if (this.bodyUsed) throw new TypeError('body stream already read');
    this.bodyUsed = true;
    return this.#body;
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new FakeTextEncoder().encode(await this.text()).slice().buffer;
  }

  async blob(): Promise<FakeBlob> {
    return new FakeBlob([await this.text()], { type: this.headers.get('content-type') ?? '' });
  }
}

export class FakeSite {
  readonly requests: RouteRequest[] = [];
  readonly #clock: Clock;
  readonly #routes: Routes;
  readonly #pageUrl: () => string;

  constructor(clock: Clock, routes: Routes, pageUrl: () => string) {
    this.#clock = clock;
    this.#routes = routes;
    this.#pageUrl = pageUrl;
  }

  async fetch(input: unknown, requestInit: Properties = {}): Promise<FakeResponse> {
    const url = new FakeURL(
      hasProperties(input) && typeof input.url === 'string' ? input.url : String(input),
      this.#pageUrl(),
    );
    const signal = readSignal(requestInit.signal);
    signal?.throwIfAborted();
    const request: RouteRequest = {
      method: String(requestInit.method ?? 'GET').toUpperCase(),
      url: url.href,
      headers: Object.fromEntries(new FakeHeaders(requestInit.headers ?? {})),
      body: requestInit.body === undefined || requestInit.body === null ? '' : String(requestInit.body),
    };
    this.requests.push(request);
    const routeAnswer = await this.answer(request);
    if (!routeAnswer) throw new TypeError(describeMissingRoute(request));
    await this.#waitForResponseDelay(typeof routeAnswer.delayMs === 'number' ? routeAnswer.delayMs : 0, signal);
    if (typeof routeAnswer.error === 'string') throw new TypeError(routeAnswer.error);
    return makeResponse(routeAnswer, url.href);
  }

  async answer(request: RouteRequest): Promise<Properties | undefined> {
    const matchingRoute = this.#findRoute(request.method, new FakeURL(request.url));
    if (matchingRoute === undefined) return undefined;
    const routeAnswer: unknown = isMethod(matchingRoute) ? await matchingRoute(request) : matchingRoute;
    if (!hasProperties(routeAnswer))
      throw new TypeError(`the route of ${request.method} ${request.url} returned no object: ${String(routeAnswer)}`);
    return routeAnswer;
  }

  #waitForResponseDelay(ms: number, signal: FakeAbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(resolve, ms);
      const onAbort = () => {
        this.#clock.clearTimer(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #findRoute(method: string, url: FakeURL): unknown {
    const page = new FakeURL(this.#pageUrl());
    for (const [key, routeAnswer] of Object.entries(this.#routes)) {
      const [, routeMethod = 'GET', urlPattern = ''] = /^([A-Z]+)\s+(\S+)$/.exec(key.trim()) ?? [];
      if (routeMethod !== method || urlPattern === '') continue;
      if (urlPattern.startsWith('/') && url.origin !== page.origin) continue;
      const pattern = urlPattern.startsWith('/') ? `${page.origin}${urlPattern}` : urlPattern;
      const requestedUrl = `${url.origin}${url.pathname}${pattern.includes('?') ? url.search : ''}`;
      const escapedParts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
      const routePattern = new RegExp(`^${escapedParts.join('.*')}$`, 's');
      if (routePattern.test(requestedUrl) || routePattern.test(decodeUrl(requestedUrl))) return routeAnswer;
    }
    return undefined;
  }
}

/** Decodes the percent-encoding of a URL, because authors may write the URL patterns of routes without it. */
function decodeUrl(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

export function describeMissingRoute(request: RouteRequest): string {
  const { pathname, search } = new FakeURL(request.url);
  return `the test has no route "${request.method} ${pathname}${search}"; add it to routes of simulate()`;
}

function readSignal(value: unknown): FakeAbortSignal | undefined {
  return isSignal(value) ? value : undefined;
}

function isSignal(value: unknown): value is FakeAbortSignal {
  return hasProperties(value) && typeof value.aborted === 'boolean' && isMethod(value.throwIfAborted);
}

export function toResponseParts(routeAnswer: Properties): { headers: FakeHeaders; body: string; status: number } {
  const headers = new FakeHeaders(routeAnswer.headers ?? {});
  let responseBody = typeof routeAnswer.text === 'string' ? routeAnswer.text : '';
  if (routeAnswer.json !== undefined) {
    responseBody = JSON.stringify(routeAnswer.json);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  }
  return { headers, body: responseBody, status: typeof routeAnswer.status === 'number' ? routeAnswer.status : 200 };
}

function makeResponse(routeAnswer: Properties, url: string): FakeResponse {
  const { headers, body: responseBody, status } = toResponseParts(routeAnswer);
  return new FakeResponse(responseBody, { status, headers, url });
}
