// match.ts matches URLs against Chrome's match patterns of plugins: <scheme>://<host>[:port]/<path>. Chrome decides in
// which pages adapters run, by the registered match patterns. The worker itself matches URLs only to decide which tabs
// to report to the server and which tabs to reload.

export type UrlMatcher = (url: URL) => boolean;

const patternSyntax = /^(\*|https?):\/\/(\*|(?:\*\.)?[^/*:]+|\[[0-9a-fA-F:.]+\])(?::(\*|\d+))?(\/.*)$/;

/** parsePattern parses a match pattern such as "https://*.example.com/*". */
export function parsePattern(pattern: string): UrlMatcher | undefined {
  const patternParts = patternSyntax.exec(pattern);
  if (!patternParts) return undefined;
  const [, patternScheme = '', host = '', port = '*', path = ''] = patternParts;
  const pathMatches = makeGlobMatcher(path);
  // In Chrome, the path pattern /app/* also matches the path /app.
  const pathWithoutSlash = path.endsWith('/*') ? path.slice(0, -2) : undefined;
  return (url) =>
    matchesScheme(patternScheme, url.protocol) &&
    matchesHost(host.toLowerCase(), url.hostname.replace(/\.$/, '')) &&
    (port === '*' || port === readPort(url)) &&
    (pathMatches(url.pathname + url.search) || url.pathname + url.search === pathWithoutSlash);
}

/**
 * toChromePatterns splits *://host:8080/* into an http and an https pattern, because Chrome rejects a port with the
 * scheme `*`.
 */
export function toChromePatterns(pattern: string): string[] {
  const patternParts = patternSyntax.exec(pattern);
  if (!patternParts) return [];
  const [, patternScheme = '', host = '', port = '*', path = ''] = patternParts;
  if (patternScheme !== '*' || port === '*') return [pattern];
  return ['http', 'https'].map((webScheme) => `${webScheme}://${host}:${port}${path}`);
}

export function matchesAnyPattern(
  url: string,
  patterns: readonly string[],
  excludePatterns: readonly string[],
): boolean {
  const parsedUrl = parseUrl(url);
  if (!parsedUrl) return false;
  const isMatch = (pattern: string) => parsePattern(pattern)?.(parsedUrl) ?? false;
  return patterns.some(isMatch) && !excludePatterns.some(isMatch);
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function matchesScheme(patternScheme: string, protocol: string): boolean {
  return patternScheme === '*' ? protocol === 'http:' || protocol === 'https:' : protocol === `${patternScheme}:`;
}

function matchesHost(host: string, urlHostname: string): boolean {
  if (host === '*') return true;
  if (!host.startsWith('*.')) return host === urlHostname;
  const domain = host.slice(2);
  return urlHostname === domain || urlHostname.endsWith(`.${domain}`);
}

function readPort(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}

/** makeGlobMatcher returns a function that matches a text against a pattern in which each `*` matches any text. */
function makeGlobMatcher(pattern: string): (matchedText: string) => boolean {
  const patternPieces = pattern.split('*');
  const [prefix = ''] = patternPieces;
  const patternSuffix = patternPieces.at(-1) ?? '';
  if (patternPieces.length === 1) return (matchedText) => matchedText === pattern;
  const middlePieces = patternPieces.slice(1, -1);
  return (matchedText) => {
    if (
      !matchedText.startsWith(prefix) ||
      matchedText.length < prefix.length + patternSuffix.length ||
      !matchedText.endsWith(patternSuffix)
    )
      return false;
    let matchPosition = prefix.length;
    const suffixStart = matchedText.length - patternSuffix.length;
    for (const piece of middlePieces) {
      const pieceStart = matchedText.indexOf(piece, matchPosition);
      if (pieceStart < 0 || pieceStart + piece.length > suffixStart) return false;
      matchPosition = pieceStart + piece.length;
    }
    return true;
  };
}
