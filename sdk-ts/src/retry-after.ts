import { withPristineBuiltIns } from './runtime/pristine.ts';

/**
 * Parses a Retry-After header, which contains seconds or a date. Returns the delay in milliseconds from now; undefined
 * if the header is invalid or the date is in the past.
 */
export function parseRetryAfterMs(header: string): number | undefined {
  return withPristineBuiltIns(() => {
    const text = header.trim();
    if (/^\d+$/.test(text)) return Number(text) * 1000;
    const remainingMs = Date.parse(text) - Date.now();
    return remainingMs > 0 ? remainingMs : undefined;
  });
}

/** Headers with the time when a rate limit ends, in the order of preference. */
const resetHeaders = ['x-rate-limit-reset', 'x-ratelimit-reset', 'ratelimit-reset'] as const;

/**
 * A number in a reset header that is at least minEpochSeconds is a time in seconds since 1970. A number that is at
 * least minEpochMs is a time in milliseconds since 1970.
 */
const [minEpochSeconds, minEpochMs] = [1e9, 1e12];

/**
 * Returns when the rate limit of a site ends, in milliseconds from now. Reads the first of the headers Retry-After,
 * x-rate-limit-reset, x-ratelimit-reset and RateLimit-Reset that is present. The value of a reset header is a time
 * since 1970 or seconds from now. Returns undefined if no header is present, or if the first header is invalid or in
 * the past.
 */
export function parseRateLimitHeader(headers: Headers): number | undefined {
  return withPristineBuiltIns(() => {
    const retryAfter = headers.get('retry-after');
    if (retryAfter !== null) return parseRetryAfterMs(retryAfter);
    for (const name of resetHeaders) {
      const text = headers.get(name)?.trim();
      if (text !== undefined) return /^\d+(\.\d+)?$/.test(text) ? msUntilReset(Number(text)) : undefined;
    }
    return undefined;
  });
}

function msUntilReset(value: number): number | undefined {
  if (value < minEpochSeconds) return value * 1000;
  const remainingMs = (value < minEpochMs ? value * 1000 : value) - Date.now();
  return remainingMs > 0 ? remainingMs : undefined;
}
