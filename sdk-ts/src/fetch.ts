import type { z } from 'zod';
import { parseRetryAfterMs } from './retry-after.ts';
import { resolveSignal } from './running.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';
import { startTimer } from './timer.ts';
import { ToolError } from './tool-error.ts';

/** The options of `fetch`, and a timeout. */
export interface FetchFromPageOptions extends Omit<RequestInit, 'signal'> {
  /** The maximum time until the response headers arrive, in milliseconds; 30,000 if absent. */
  timeout?: number | undefined;
  /**
   * The signal that stops the request and the reading of its body. The default is the signal of the running tool call;
   * null means no signal.
   */
  signal?: AbortSignal | null | undefined;
}

const defaultTimeoutMs = 30_000;
/** The maximum length of the response body in an error, in characters. */
const maxBodyInError = 512;

/**
 * Sends a request with the page's cookies and returns the response if its status is 2xx. Every failure is a ToolError:
 * `aborted`, `TIMEOUT`, `network_error`, or the error that {@link httpStatusToToolError} returns for the status.
 */
export async function fetchFromPage(url: string, options: FetchFromPageOptions = {}): Promise<Response> {
  const { timeout = defaultTimeoutMs, signal: givenSignal, ...init } = options;
  const signal = resolveSignal(givenSignal);
  const timeoutController = new AbortController();
  const cancelTimer = startTimer(timeout, () => timeoutController.abort());
  let response: Response;
  try {
    const stopSignal = signal ? AbortSignal.any([signal, timeoutController.signal]) : timeoutController.signal;
    response = await fetch(url, { credentials: 'include', ...init, signal: stopSignal });
  } catch (error) {
    if (timeoutController.signal.aborted && !signal?.aborted)
      throw ToolError.timeout(`no answer after ${timeout} ms: ${url}`);
    throw toRequestError(error, signal, url);
  } finally {
    cancelTimer();
  }
  if (response.ok) return response;
  const body = await response.text().catch(() => '');
  const detail = body ? `: ${body.slice(0, maxBodyInError)}` : '';
  throw httpStatusToToolError(response, `HTTP ${response.status} from ${url}${detail}`);
}

/** Returns the error for a request or a body that failed. */
function toRequestError(error: unknown, signal: AbortSignal | undefined, url: string): ToolError {
  if (signal?.aborted) return ToolError.aborted(signal.reason);
  const message = error instanceof Error ? error.message : String(error);
  const cause = isOtherOrigin(url) ? `${message} (another origin, whose server must allow this page: CORS)` : message;
  return new ToolError(`no connection to ${url}: ${cause}`, 'network_error', {
    category: 'internal',
    retryable: true,
    cause: error,
  });
}

/**
 * Reports whether `url` is cross-origin, so that the server at `url` decides whether the page may read the
 * response.
 */
function isOtherOrigin(url: string): boolean {
  try {
    return withPristineBuiltIns(() => new URL(url, location.href).origin !== location.origin);
  } catch {
    return false; // the URL is malformed, or there is no page
  }
}

/** The status codes of server errors that a retry may resolve. */
const retryableStatuses: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Returns the ToolError for a response whose status is not 2xx. */
export function httpStatusToToolError(response: Response, message: string): ToolError {
  const { status } = response;
  switch (status) {
    case 401:
    case 403:
      return ToolError.auth(message);
    case 404:
      return ToolError.notFound(message);
    case 408:
      return ToolError.timeout(message);
    case 400:
    case 422:
      return ToolError.validation(message);
    case 429:
      return ToolError.rateLimited(message, readRetryAfterMs(response));
    default:
      return new ToolError(message, 'http_error', {
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

/** Sends a request and returns the response body as text. */
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
 * Sends a request and returns the JSON of the response, parsed by `schema` if given. The result for an empty body is
 * undefined. Throws a ToolError `VALIDATION_ERROR` for a body that is not JSON or does not match the schema.
 */
export async function fetchJSON<S extends z.ZodType>(
  url: string,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function fetchJSON<T = unknown>(url: string, options?: FetchFromPageOptions): Promise<T | undefined>;
export async function fetchJSON(url: string, options: FetchFromPageOptions = {}, schema?: z.ZodType): Promise<unknown> {
  const text = await fetchText(url, options);
  const value = text === '' ? undefined : parseJSON(text, url);
  if (!schema) return value;
  const parsed = await withPristineBuiltIns(() => schema.safeParseAsync(value));
  if (parsed.success) return parsed.data;
  const issues = withPristineBuiltIns(() =>
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`).join('; '),
  );
  throw ToolError.validation(`unexpected answer from ${url}: ${issues}`);
}

function parseJSON(text: string, url: string): unknown {
  try {
    return withPristineBuiltIns((): unknown => JSON.parse(text));
  } catch {
    const kind = withPristineBuiltIns(() => text.trimStart().startsWith('<'))
      ? 'a web page (HTML), not JSON; the user may be logged out, or the address is wrong'
      : 'not JSON';
    throw ToolError.validation(`the answer from ${url} is ${kind}: ${text.slice(0, maxBodyInError)}`);
  }
}
