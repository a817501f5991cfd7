// Checks a plugin's URL patterns by the same rules as plugin.ParsePattern in Go, which the server applies when a plugin
// is added. A change of the rules for URL patterns in TypeScript requires the same change in Go.

const maxPathWildcards = 5;
const hostLabelPattern = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/;

/**
 * Returns why a Chrome match pattern such as `*://*.example.com/*` is invalid for a plugin, or null if the pattern is
 * valid. Patterns that match all sites or a whole top-level domain are invalid.
 */
export function validateUrlPattern(pattern: string): string | null {
  const problem = findProblem(pattern);
  return problem === null ? null : `pattern "${pattern}" ${problem}`;
}

function findProblem(pattern: string): string | null {
  if (pattern === '<all_urls>') return "matches every site; name the site's host, as in *://*.example.com/*";
  const schemeEnd = pattern.indexOf('://');
  if (schemeEnd < 0) return 'has no scheme; write it as in *://*.example.com/*';
  const schemeName = pattern.slice(0, schemeEnd);
  if (!['*', 'http', 'https'].includes(schemeName)) return `has the scheme "${schemeName}"; use *, http or https`;
  const hostAndPath = pattern.slice(schemeEnd + 3);
  const pathStart = hostAndPath.indexOf('/');
  if (pathStart < 0) return 'has no path; end it with /*';
  const path = hostAndPath.slice(pathStart);
  const wildcardCount = path.split('*').length - 1;
  if (wildcardCount > maxPathWildcards) {
    return `has ${wildcardCount} wildcards in its path; use at most ${maxPathWildcards}`;
  }
  if (/[# \t\r\n]/.test(path)) {
    return 'has a # or a space in its path; leave it out, fragments are never compared';
  }
  return findHostProblem(hostAndPath.slice(0, pathStart));
}

function findHostProblem(hostAndPort: string): string | null {
  const colonIndex = hostAndPort.indexOf(':');
  if (colonIndex >= 0) {
    const port = hostAndPort.slice(colonIndex + 1);
    if (port !== '*' && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
      return `has the port "${port}"; use a number from 1 to 65535 or leave it out for any port`;
    }
  }
  const host = (colonIndex >= 0 ? hostAndPort.slice(0, colonIndex) : hostAndPort).toLowerCase();
  const matchesSubdomains = host.startsWith('*.');
  const name = matchesSubdomains ? host.slice(2) : host;
  if (host === '' || host === '*') return "matches every host; name the site's host, as in *://*.example.com/*";
  if (name.includes('*')) return 'has a wildcard inside its host; only a leading *. is allowed';
  if (host === 'localhost') return null;
  return findLabelProblem(host, name.split('.'), matchesSubdomains);
}

function findLabelProblem(host: string, labels: readonly string[], matchesSubdomains: boolean): string | null {
  if (!labels.every((label) => hostLabelPattern.test(label))) {
    return `has the host "${host}"; use ASCII letters, digits and hyphens (punycode for others) with single dots between`;
  }
  if (/^\d+$/.test(labels.at(-1) ?? '')) {
    const isIPv4Address =
      labels.length === 4 && labels.every((label) => /^(0|[1-9]\d{0,2})$/.test(label) && Number(label) <= 255);
    return isIPv4Address && !matchesSubdomains
      ? null
      : `has the host "${host}"; write an IPv4 address with four numbers up to 255 and no wildcard`;
  }
  if (labels.length >= 2) return null;
  return matchesSubdomains
    ? "takes in a whole top-level domain; name the site's host, as in *://*.example.com/*"
    : `has the host "${host}"; use localhost, an IPv4 address or a full domain such as example.com`;
}
