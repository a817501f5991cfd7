import type { z } from 'zod';
import { type FetchFromPageOptions, fetchJSON } from './fetch.ts';
import { pristinely } from './runtime/pristine.ts';

// Requests that send something. Each returns the answer as fetchJSON does: parsed by `schema` if there is one, undefined
// for an empty body.

/** Makes a request with a body and what its type needs; the caller's headers come first. */
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

/** Posts `body` as JSON and returns the answer. */
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
    pristinely(() => JSON.stringify(body)),
    json,
    options,
    schema,
  );
}

/** Puts `body` as JSON and returns the answer. */
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
    pristinely(() => JSON.stringify(body)),
    json,
    options,
    schema,
  );
}

/** Patches by `body` as JSON and returns the answer. */
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
    pristinely(() => JSON.stringify(body)),
    json,
    options,
    schema,
  );
}

/** Makes a DELETE request and returns the answer. */
export async function deleteJSON<S extends z.ZodType>(
  url: string,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function deleteJSON<T = unknown>(url: string, options?: FetchFromPageOptions): Promise<T | undefined>;
export async function deleteJSON(url: string, options?: FetchFromPageOptions, schema?: z.ZodType): Promise<unknown> {
  return await send(url, 'DELETE', undefined, undefined, options, schema);
}

/** Posts `body` as a URL-encoded form and returns the answer. */
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
    pristinely(() => new URLSearchParams(body).toString()),
    'application/x-www-form-urlencoded',
    options,
    schema,
  );
}

/** Posts `body` as a multipart form, files included, and returns the answer. The browser sets the content type. */
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
