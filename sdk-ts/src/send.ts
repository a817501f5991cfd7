import type { z } from 'zod';
import { type FetchFromPageOptions, fetchJSON } from './fetch.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';

// HTTP requests that send a body, and DELETE requests. Each exported function returns the response body as JSON, or
// undefined if the response body is empty.

/** `contentType` applies unless the plugin's headers contain a `Content-Type`. */
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

function makeBodySender<B>(
  method: string,
  contentType: string | undefined,
  encodeBody: (body: B) => BodyInit | undefined,
) {
  async function send<S extends z.ZodType>(
    url: string,
    body: B,
    options: FetchFromPageOptions | undefined,
    schema: S,
  ): Promise<z.infer<S>>;
  async function send<T = unknown>(url: string, body: B, options?: FetchFromPageOptions): Promise<T | undefined>;
  async function send(url: string, body: B, options?: FetchFromPageOptions, schema?: z.ZodType): Promise<unknown> {
    const encodedBody = withPristineBuiltIns(() => encodeBody(body));
    return await sendRequest(url, method, encodedBody, contentType, options, schema);
  }
  return send;
}

const jsonContentType = 'application/json';
const formContentType = 'application/x-www-form-urlencoded';
const encodeJSON = (body: unknown) => JSON.stringify(body);

/** Sends a POST request with `body` as JSON, and returns the response body as JSON. */
export const postJSON = /* @__PURE__ */ makeBodySender<unknown>('POST', jsonContentType, encodeJSON);

/** Sends a PUT request with `body` as JSON, and returns the response body as JSON. */
export const putJSON = /* @__PURE__ */ makeBodySender<unknown>('PUT', jsonContentType, encodeJSON);

/** Sends a PATCH request with `body` as JSON, and returns the response body as JSON. */
export const patchJSON = /* @__PURE__ */ makeBodySender<unknown>('PATCH', jsonContentType, encodeJSON);

/** Sends a POST request with `body` as a URL-encoded form, and returns the response body as JSON. */
export const postForm = /* @__PURE__ */ makeBodySender<Readonly<Record<string, string>>>(
  'POST',
  formContentType,
  (body) => new URLSearchParams(body).toString(),
);

/**
 * Sends a POST request with `body` as a multipart form, which may contain files, and returns the response body as JSON.
 */
export const postFormData = /* @__PURE__ */ makeBodySender<FormData>('POST', undefined, (body) => body);

/** Sends a DELETE request, and returns the response body as JSON. */
export async function deleteJSON<S extends z.ZodType>(
  url: string,
  options: FetchFromPageOptions | undefined,
  schema: S,
): Promise<z.infer<S>>;
export async function deleteJSON<T = unknown>(url: string, options?: FetchFromPageOptions): Promise<T | undefined>;
export async function deleteJSON(url: string, options?: FetchFromPageOptions, schema?: z.ZodType): Promise<unknown> {
  return await sendRequest(url, 'DELETE', undefined, undefined, options, schema);
}
