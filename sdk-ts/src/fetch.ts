import type { z } from 'zod';
import { parseRetryAfterMs } from './retry-after.ts';
import { resolveSignal } from './running.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';
import { startTimer } from './timer.ts';
import { ToolError } from './tool-error.ts';

/** The options of the browser's `fetch`, plus a timeout. */
export interface FetchFromPageOptions extends Omit<RequestInit, 'signal'> {
  /** How long to wait for the response headers, in milliseconds; 30,000 by default. */
  timeout?: number | undefined;
  /**
   * If this signal aborts, the HTTP request is cancelled, even while the response body is being read. By default, the
   * request uses the signal of the running tool call; null means no signal.
   */
  signal?: AbortSignal | null | undefined;
}

const defaultTimeoutMs = 30_000;
const maxErrorBodyChars = 512;

/**
 * Sends an HTTP request with the page's cookies and returns the response if its status is 2xx. Every failure of the
 * request is a ToolError: `aborted`, `TIMEOUT`, `network_error`, or the error that {@link httpStatusToToolError}
 * returns for the status.
 */
export async function fetchFromPage(url: string, options: FetchFromPageOptions = {}): Promise<Response> {
  const { timeout = defaultTimeoutMs, signal: givenSignal, ...requestInit } = options;
  const signal = resolveSignal(givenSignal);
  const timeoutController = new AbortController();
  const cancelTimer = startTimer(timeout, () => timeoutController.abort());
  let response: Response;
  try {
    const stopSignal = signal ? AbortSignal.any([signal, timeoutController.signal]) : timeoutController.signal;
    response = await fetch(url, { credentials: 'include', ...requestInit, signal: stopSignal });
  } catch (error) {
    if (timeoutController.signal.aborted && !signal?.aborted)
      throw ToolError.timeout(`no answer after ${timeout} ms: ${url}`);
    throw toRequestError(error, signal, url);
  } finally {
    cancelTimer();
  }
  if (response.ok) return response;
  const body = await response.text().catch(() => '');
  const detail = body ? `: ${body.slice(0, maxErrorBodyChars)}` : '';
  throw httpStatusToToolError(response, `HTTP ${response.status} from ${url}${detail}`);
}

function toRequestError(error: unknown, signal: AbortSignal | undefined, url: string): ToolError {
  if (signal?.aborted) return ToolError.aborted(signal.reason);
  const errorMessage = error instanceof Error ? error.message : String(error);
  const cause = isCrossOrigin(url)
    ? `${errorMessage} (another origin, whose server must allow this page: CORS)`
    : errorMessage;
  return new ToolError(`no connection to ${url}: ${cause}`, 'network_error', {
    category: 'internal',
    retryable: true,
    cause: error,
  });
}

function isCrossOrigin(url: string): boolean {
  try {
    return withPristineBuiltIns(() => new URL(url, location.href).origin !== location.origin);
  } catch {
    return false; // The URL is malformed, or there is no page.
  }
}

const retryableStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Returns the ToolError for an HTTP response whose status is not 2xx. */
export function httpStatusToToolError(response: Response, errorMessage: string): ToolError {
  const { status } = response;
  switch (status) {
    case 401:
    case 403:
      return ToolError.auth(errorMessage);
    case 404:
      return ToolError.notFound(errorMessage);
    case 408:
      return ToolError.timeout(errorMessage);
    case 400:
    case 422:
      return ToolError.validation(errorMessage);
    case 429:
      return ToolError.rateLimited(errorMessage, readRetryAfterMs(response));
    default:
      return new ToolError(errorMessage, 'http_error', {
        category: status >= 400 && status < 500 ? undefined : 'internal',
        retryable: retryableStatuses.has(status),
        retryAfterMs: status === 503 ? readRetryAfterMs(response) : undefined,
      });
  }
}

function readRetryAfterMs(response: Response): number | undefined {
  const header = response.headers.get('retry-after');
  return header === null ? undefined : parseRetryAfterMs(header);
}

/** Sends an HTTP request with the page's cookies and returns the response body as text. */
export async function fetchText(url: string, options: FetchFromPageOptions = {}): Promise<string> {
  const signal = resolveSignal(options.signal);
  const response = await fetchFromPage(url, { ...options, signal: signal ?? null });
  return await readBody(response, signal, url);
}

async function readBody(response: Response, signal: AbortSignal | undefined, url: string): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw toRequestError(error, signal, url);
  }
}

/**
 * Sends an HTTP request with the page's cookies and returns the response body as JSON, validated by `schema` if given.
 * If the response body is empty, fetchJSON returns undefined. Throws a ToolError `VALIDATION_ERROR` if the body is not
 * JSON or does not match the schema.
 */
export async function fetchJSON<S extends z.ZodType>(
  url: string,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function fetchJSON<T = unknown>(url: string, options?: FetchFromPageOptions): Promise<T | undefined>;
export async function fetchJSON(url: string, options: FetchFromPageOptions = {}, schema?: z.ZodType): Promise<unknown> {
  const responseText = await fetchText(url, options);
  const parsedBody = responseText === '' ? undefined : parseJSON(responseText, url);
  if (!schema) return parsedBody;
  const parseResult = await withPristineBuiltIns(() => schema.safeParseAsync(parsedBody));
  if (parseResult.success) return parseResult.data;
  const issues = withPristineBuiltIns(() =>
    parseResult.error.issues.map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`).join('; '),
  );
  throw ToolError.validation(`unexpected answer from ${url}: ${issues}`);
}

function parseJSON(responseText: string, url: string): unknown {
  try {
    return withPristineBuiltIns((): unknown => JSON.parse(responseText));
  } catch {
    const kind = withPristineBuiltIns(() => responseText.trimStart().startsWith('<'))
      ? 'a web page (HTML), not JSON; the user may be logged out, or the address is wrong'
      : 'not JSON';
    throw ToolError.validation(`the answer from ${url} is ${kind}: ${responseText.slice(0, maxErrorBodyChars)}`);
  }
}
