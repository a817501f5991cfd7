import { pristinely } from './runtime/pristine.ts';

/**
 * Reads a Retry-After header, seconds or a date, as milliseconds from now; undefined if it is neither or the date is
 * over.
 */
export function parseRetryAfterMs(header: string): number | undefined {
  return pristinely(() => {
    const text = header.trim();
    if (/^\d+$/.test(text)) return Number(text) * 1000;
    const until = Date.parse(text) - Date.now();
    return until > 0 ? until : undefined;
  });
}

/** Headers that say when a limit is lifted, in the order they are asked. */
const resetHeaders = ['x-rate-limit-reset', 'x-ratelimit-reset', 'ratelimit-reset'] as const;

/** From here on a number of a reset header is a time since 1970: in seconds, in milliseconds. */
const [epochSeconds, epochMs] = [1e9, 1e12];

/**
 * Returns when a site lifts its limit, in milliseconds from now: by Retry-After, x-rate-limit-reset, x-ratelimit-reset or
 * RateLimit-Reset, the first that is there. A reset is a time since 1970, or seconds from now. Undefined if there is none,
 * if it can't be read, or if that time is over.
 */
export function parseRateLimitHeader(headers: Headers): number | undefined {
  return pristinely(() => {
    const retryAfter = headers.get('retry-after');
    if (retryAfter !== null) return parseRetryAfterMs(retryAfter);
    for (const name of resetHeaders) {
      const text = headers.get(name)?.trim();
      if (text !== undefined) return /^\d+(\.\d+)?$/.test(text) ? untilReset(Number(text)) : undefined;
    }
    return undefined;
  });
}

function untilReset(value: number): number | undefined {
  if (value < epochSeconds) return value * 1000;
  const until = (value < epochMs ? value * 1000 : value) - Date.now();
  return until > 0 ? until : undefined;
}
