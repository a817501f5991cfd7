// URL and URLSearchParams for http, https, ws and wss, with relative URLs. Host names that are not ASCII and other schemes
// stay unchanged.

type Pairs = [string, string][];

export class FakeURLSearchParams {
  #pairs: Pairs = [];
  readonly #onChange: (text: string) => void;

  constructor(init: unknown = '', onChange: (text: string) => void = () => undefined) {
    this.#pairs = parsePairs(init);
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: string, value: unknown): void {
    this.#pairs.push([String(name), String(value)]);
    this.#onChange(this.toString());
  }

  delete(name: string): void {
    this.#pairs = this.#pairs.filter(([key]) => key !== name);
    this.#onChange(this.toString());
  }

  get(name: string): string | null {
    return this.#pairs.find(([key]) => key === name)?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.#pairs.filter(([key]) => key === name).map(([, value]) => value);
  }

  has(name: string): boolean {
    return this.#pairs.some(([key]) => key === name);
  }

  set(name: string, value: unknown): void {
    const at = this.#pairs.findIndex(([key]) => key === name);
    this.#pairs = this.#pairs.filter(([key], index) => key !== name || index === at);
    if (at < 0) this.#pairs.push([name, String(value)]);
    else this.#pairs[at] = [name, String(value)];
    this.#onChange(this.toString());
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#onChange(this.toString());
  }

  forEach(visit: (value: string, key: string, params: FakeURLSearchParams) => void): void {
    for (const [key, value] of this.#pairs) visit(value, key, this);
  }

  entries(): IterableIterator<[string, string]> {
    return this.#pairs.map(([key, value]): [string, string] => [key, value]).values();
  }

  keys(): IterableIterator<string> {
    return this.#pairs.map(([key]) => key).values();
  }

  values(): IterableIterator<string> {
    return this.#pairs.map(([, value]) => value).values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  toString(): string {
    return this.#pairs.map(([key, value]) => `${encodePart(key)}=${encodePart(value)}`).join('&');
  }
}

function encodePart(text: string): string {
  return encodeURIComponent(text)
    .replace(/%20/g, '+')
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decodePart(text: string): string {
  const spaced = text.replace(/\+/g, ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function parsePairs(init: unknown): Pairs {
  if (init instanceof FakeURLSearchParams) return [...init];
  if (typeof init === 'object' && init !== null) {
    const entries: Iterable<unknown> = Symbol.iterator in init ? Array.from(Object(init)) : Object.entries(init);
    return Array.from(entries, (entry): [string, string] => {
      const [key, value]: unknown[] = Array.isArray(entry) ? entry : [];
      return [String(key), String(value)];
    });
  }
  const text = String(init ?? '').replace(/^\?/, '');
  if (text === '') return [];
  return text.split('&').map((part): [string, string] => {
    const at = part.indexOf('=');
    return at < 0 ? [decodePart(part), ''] : [decodePart(part.slice(0, at)), decodePart(part.slice(at + 1))];
  });
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443' };

interface Parts {
  protocol: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
}

function parseUrl(text: string, base: Parts | undefined): Parts {
  const trimmed = text.trim();
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(trimmed);
  if (scheme?.[1] && !(scheme[1].toLowerCase() in { http: 0, https: 0, ws: 0, wss: 0 })) {
    const rest = trimmed.slice(scheme[0].length);
    return { protocol: `${scheme[1].toLowerCase()}:`, hostname: '', port: '', pathname: rest, search: '', hash: '' };
  }
  const protocol = scheme?.[1] ? `${scheme[1].toLowerCase()}:` : base?.protocol;
  const afterScheme = scheme ? trimmed.slice(scheme[0].length) : trimmed;
  const authority = /^\/\/([^/?#]*)/.exec(afterScheme);
  if (!protocol || (scheme && !authority)) throw new TypeError(`Invalid URL: ${text}`);
  const rest = authority ? afterScheme.slice(authority[0].length) : afterScheme;
  const [, path = '', search = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest) ?? [];
  if (authority) {
    const [, hostname = '', port = ''] = /^(?:[^@]*@)?(.*?)(?::(\d*))?$/.exec(authority[1] ?? '') ?? [];
    if (hostname === '') throw new TypeError(`Invalid URL: ${text}`);
    return {
      protocol,
      hostname: hostname.toLowerCase(),
      port: port === defaultPorts[protocol] ? '' : port,
      pathname: normalizePath(path),
      search: normalizePart(search),
      hash: normalizePart(hash),
    };
  }
  if (!base) throw new TypeError(`Invalid URL: ${text}`);
  if (path === '') {
    return { ...base, search: search === '' ? base.search : normalizePart(search), hash: normalizePart(hash) };
  }
  const whole = path.startsWith('/') ? path : base.pathname.replace(/[^/]*$/, '') + path;
  return { ...base, pathname: normalizePath(whole), search: normalizePart(search), hash: normalizePart(hash) };
}

/** Encodes spaces in a query or fragment. A single ? or # becomes the empty string. */
function normalizePart(part: string): string {
  return part.length > 1 ? part.replace(/ /g, '%20') : '';
}

/** Resolves . and .. in a path and encodes spaces. */
function normalizePath(path: string): string {
  const out: string[] = [];
  const parts = path.replace(/ /g, '%20').split('/').slice(1);
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    if (part === '..') out.pop();
    if (part !== '.' && part !== '..') out.push(part);
    else if (last) out.push('');
  }
  return `/${out.join('/')}`;
}

export class FakeURL {
  #parts: Parts;
  readonly searchParams: FakeURLSearchParams;

  constructor(text: unknown, base?: unknown) {
    this.#parts = parseUrl(String(text), base === undefined ? undefined : parseUrl(String(base), undefined));
    this.searchParams = new FakeURLSearchParams(this.#parts.search, (query) => {
      this.#parts.search = query === '' ? '' : `?${query}`;
    });
  }

  static canParse(text: unknown, base?: unknown): boolean {
    try {
      return new FakeURL(text, base) !== undefined;
    } catch {
      return false;
    }
  }

  get protocol(): string {
    return this.#parts.protocol;
  }

  get hostname(): string {
    return this.#parts.hostname;
  }

  get port(): string {
    return this.#parts.port;
  }

  get host(): string {
    return this.#parts.port === '' ? this.#parts.hostname : `${this.#parts.hostname}:${this.#parts.port}`;
  }

  get origin(): string {
    return this.#parts.hostname === '' ? 'null' : `${this.protocol}//${this.host}`;
  }

  get pathname(): string {
    return this.#parts.pathname;
  }

  set pathname(path: string) {
    this.#parts.pathname = normalizePath(path.startsWith('/') ? path : `/${path}`);
  }

  get search(): string {
    return this.#parts.search;
  }

  set search(search: string) {
    this.#parts.search = normalizePart(search.startsWith('?') ? search : `?${search}`);
  }

  get hash(): string {
    return this.#parts.hash;
  }

  set hash(hash: string) {
    this.#parts.hash = normalizePart(hash.startsWith('#') ? hash : `#${hash}`);
  }

  get href(): string {
    const start = this.#parts.hostname === '' ? this.protocol : this.origin;
    return `${start}${this.pathname}${this.search}${this.hash}`;
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }
}
