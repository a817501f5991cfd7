// Chrome's match patterns, as far as plugins use them: <scheme>://<host>[:port]/<path>. Chrome itself decides where an
// adapter runs. This file only decides which tabs are reported to the server and which tabs need a reload.

/** Pattern reports whether a URL matches. */
export type Pattern = (url: URL) => boolean;

const parsed = /^(\*|https?):\/\/(\*|(?:\*\.)?[^/*:]+|\[[0-9a-fA-F:.]+\])(?::(\*|\d+))?(\/.*)$/;

/** parsePattern parses one match pattern. parsePattern returns undefined for an invalid pattern. */
export function parsePattern(pattern: string): Pattern | undefined {
  const parts = parsed.exec(pattern);
  if (!parts) return undefined;
  const [, scheme = '', host = '', port = '*', path = ''] = parts;
  const pathMatches = globMatcher(path);
  // In Chrome, /app/* also matches /app.
  const whole = path.endsWith('/*') ? path.slice(0, -2) : undefined;
  return (url) =>
    schemeMatches(scheme, url.protocol) &&
    hostMatches(host.toLowerCase(), url.hostname.replace(/\.$/, '')) &&
    (port === '*' || port === portOf(url)) &&
    (pathMatches(url.pathname + url.search) || url.pathname + url.search === whole);
}

/**
 * asChrome returns equivalent patterns that Chrome accepts, because Chrome rejects ports with the scheme `*`. For an
 * invalid pattern, the result is empty.
 */
export function asChrome(pattern: string): string[] {
  const parts = parsed.exec(pattern);
  if (!parts) return [];
  const [, scheme = '', host = '', port = '*', path = ''] = parts;
  if (scheme !== '*' || port === '*') return [pattern];
  return ['http', 'https'].map((each) => `${each}://${host}:${port}${path}`);
}

/** matchesAny reports whether url matches one of the patterns and none of the excluded patterns. */
export function matchesAny(url: string, patterns: readonly string[], excludes: readonly string[]): boolean {
  const at = readUrl(url);
  if (!at) return false;
  const hit = (pattern: string) => parsePattern(pattern)?.(at) ?? false;
  return patterns.some(hit) && !excludes.some(hit);
}

function readUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function schemeMatches(scheme: string, protocol: string): boolean {
  return scheme === '*' ? protocol === 'http:' || protocol === 'https:' : protocol === `${scheme}:`;
}

function hostMatches(host: string, hostname: string): boolean {
  if (host === '*') return true;
  if (!host.startsWith('*.')) return host === hostname;
  const base = host.slice(2);
  return hostname === base || hostname.endsWith(`.${base}`);
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

/** globMatcher returns a matcher for text in which each `*` matches any text. */
function globMatcher(pattern: string): (text: string) => boolean {
  const pieces = pattern.split('*');
  const [first = ''] = pieces;
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return (text) => text === pattern;
  const middle = pieces.slice(1, -1);
  return (text) => {
    if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
    let at = first.length;
    const end = text.length - last.length;
    for (const piece of middle) {
      const found = text.indexOf(piece, at);
      if (found < 0 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}
