import type { z } from 'zod';
import { type FetchFromPageOptions, fetchJSON } from './fetch.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';

// Functions for requests that send a body, and for DELETE requests. Each function returns the JSON of the response,
// parsed by `schema` if given. The result for an empty body is undefined.

/** Sends a request. `contentType` applies unless the caller's headers contain a content type. */
async function sendRequest(
  url: string,
  method: string,
  body: BodyInit | undefined,
  contentType: string | undefined,
  options: FetchFromPageOptions = {},
  schema?: z.ZodType,
): Promise<unknown> {
  const headers = new Headers(options.headers);
  if (contentType !== undefined && !headers.has('content-type')) headers.set('content-type', contentType);
  const request = { ...options, method, headers, ...(body !== undefined && { body }) };
  return schema ? await fetchJSON(url, request, schema) : await fetchJSON(url, request);
}

const jsonContentType = 'application/json';

/** Posts `body` as JSON and returns the JSON of the response. */
export async function postJSON<S extends z.ZodType>(
  url: string,
  body: unknown,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function postJSON<T = unknown>(
  url: string,
  body: unknown,
  options?: FetchFromPageOptions,
): Promise<T | undefined>;
export async function postJSON(
  url: string,
  body: unknown,
  options?: FetchFromPageOptions,
  schema?: z.ZodType,
): Promise<unknown> {
  return await sendRequest(
    url,
    'POST',
    withPristineBuiltIns(() => JSON.stringify(body)),
    jsonContentType,
    options,
    schema,
  );
}

/** Puts `body` as JSON and returns the JSON of the response. */
export async function putJSON<S extends z.ZodType>(
  url: string,
  body: unknown,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function putJSON<T = unknown>(
  url: string,
  body: unknown,
  options?: FetchFromPageOptions,
): Promise<T | undefined>;
export async function putJSON(
  url: string,
  body: unknown,
  options?: FetchFromPageOptions,
  schema?: z.ZodType,
): Promise<unknown> {
  return await sendRequest(
    url,
    'PUT',
    withPristineBuiltIns(() => JSON.stringify(body)),
    jsonContentType,
    options,
    schema,
  );
}

/** Sends a PATCH request with `body` as JSON and returns the JSON of the response. */
export async function patchJSON<S extends z.ZodType>(
  url: string,
  body: unknown,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function patchJSON<T = unknown>(
  url: string,
  body: unknown,
  options?: FetchFromPageOptions,
): Promise<T | undefined>;
export async function patchJSON(
  url: string,
  body: unknown,
  options?: FetchFromPageOptions,
  schema?: z.ZodType,
): Promise<unknown> {
  return await sendRequest(
    url,
    'PATCH',
    withPristineBuiltIns(() => JSON.stringify(body)),
    jsonContentType,
    options,
    schema,
  );
}

/** Sends a DELETE request and returns the JSON of the response. */
export async function deleteJSON<S extends z.ZodType>(
  url: string,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function deleteJSON<T = unknown>(url: string, options?: FetchFromPageOptions): Promise<T | undefined>;
export async function deleteJSON(url: string, options?: FetchFromPageOptions, schema?: z.ZodType): Promise<unknown> {
  return await sendRequest(url, 'DELETE', undefined, undefined, options, schema);
}

/** Posts `body` as a URL-encoded form and returns the JSON of the response. */
export async function postForm<S extends z.ZodType>(
  url: string,
  body: Readonly<Record<string, string>>,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function postForm<T = unknown>(
  url: string,
  body: Readonly<Record<string, string>>,
  options?: FetchFromPageOptions,
): Promise<T | undefined>;
export async function postForm(
  url: string,
  body: Readonly<Record<string, string>>,
  options?: FetchFromPageOptions,
  schema?: z.ZodType,
): Promise<unknown> {
  return await sendRequest(
    url,
    'POST',
    withPristineBuiltIns(() => new URLSearchParams(body).toString()),
    'application/x-www-form-urlencoded',
    options,
    schema,
  );
}

/** Posts `body` as a multipart form, including files, and returns the JSON of the response. */
export async function postFormData<S extends z.ZodType>(
  url: string,
  body: FormData,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function postFormData<T = unknown>(
  url: string,
  body: FormData,
  options?: FetchFromPageOptions,
): Promise<T | undefined>;
export async function postFormData(
  url: string,
  body: FormData,
  options?: FetchFromPageOptions,
  schema?: z.ZodType,
): Promise<unknown> {
  return await sendRequest(url, 'POST', body, undefined, options, schema);
}
