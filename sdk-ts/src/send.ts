import type { z } from 'zod';
import { type FetchFromPageOptions, fetchJSON } from './fetch.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';

// Functions for requests that send a body, and for DELETE requests. Each function returns the response as fetchJSON
// does: JSON, parsed by `schema` if given; undefined for an empty body.

/** Sends a request with a body. `type` is the content type, unless the caller's headers contain a content type. */
async function send(
  url: string,
  method: string,
  body: BodyInit | undefined,
  type: string | undefined,
  options: FetchFromPageOptions = {},
  schema?: z.ZodType,
): Promise<unknown> {
  const headers = new Headers(options.headers);
  if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
  const request = { ...options, method, headers, ...(body !== undefined && { body }) };
  return schema ? await fetchJSON(url, request, schema) : await fetchJSON(url, request);
}

const json = 'application/json';

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
  return await send(
    url,
    'POST',
    withPristineBuiltIns(() => JSON.stringify(body)),
    json,
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
  return await send(
    url,
    'PUT',
    withPristineBuiltIns(() => JSON.stringify(body)),
    json,
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
  return await send(
    url,
    'PATCH',
    withPristineBuiltIns(() => JSON.stringify(body)),
    json,
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
  return await send(url, 'DELETE', undefined, undefined, options, schema);
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
  return await send(
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
  return await send(url, 'POST', body, undefined, options, schema);
}
