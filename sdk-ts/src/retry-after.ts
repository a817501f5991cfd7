import { withPristineBuiltIns } from './runtime/pristine.ts';

/**
 * Parses the value of a `Retry-After` HTTP header, which is a number of seconds or a date. Returns the delay in
 * milliseconds from now, or undefined if the header is invalid or the date is in the past.
 */
export function parseRetryAfterMs(headerValue: string): number | undefined {
  return withPristineBuiltIns(() => {
    const text = headerValue.trim();
    if (/^\d+$/.test(text)) return Number(text) * 1000;
    const remainingMs = Date.parse(text) - Date.now();
    return remainingMs > 0 ? remainingMs : undefined;
  });
}

const resetHeaders = ['x-rate-limit-reset', 'x-ratelimit-reset', 'ratelimit-reset'] as const;

/** A rate-limit value from 1e9 is read as seconds since 1970, and a value from 1e12 as milliseconds since 1970. */
const [minEpochSeconds, minEpochMs] = [1e9, 1e12];

/**
 * Returns when a site's rate limit ends, in milliseconds from now. Reads the first of the HTTP headers Retry-After,
 * x-rate-limit-reset, x-ratelimit-reset and RateLimit-Reset that is present. The value of a header whose name ends in
 * "reset" is the number of seconds from now, or a time in seconds or milliseconds since 1970. If no rate-limit header
 * is present, or if the first one is invalid or in the past, the result is undefined.
 */
export function parseRateLimitHeader(headers: Headers): number | undefined {
  return withPristineBuiltIns(() => {
    const retryAfter = headers.get('retry-after');
    if (retryAfter !== null) return parseRetryAfterMs(retryAfter);
    for (const name of resetHeaders) {
      const text = headers.get(name)?.trim();
      if (text !== undefined) return /^\d+(\.\d+)?$/.test(text) ? computeMsUntilReset(Number(text)) : undefined;
    }
    return undefined;
  });
}

function computeMsUntilReset(value: number): number | undefined {
  if (value < minEpochSeconds) return value * 1000;
  const remainingMs = (value < minEpochMs ? value * 1000 : value) - Date.now();
  return remainingMs > 0 ? remainingMs : undefined;
}
