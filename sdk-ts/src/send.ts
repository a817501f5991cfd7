import type { z } from 'zod';
import { type FetchFromPageOptions, fetchJSON } from './fetch.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';

// Functions for requests that send a body, and for DELETE requests. Each function of this file returns the JSON of the
// response, parsed by `schema` if given. The result for an empty body is undefined.

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

/** makeBodySender returns a function that sends requests with a body, in the form that `encode` returns. */
function makeBodySender<B>(method: string, contentType: string | undefined, encode: (body: B) => BodyInit | undefined) {
  async function send<S extends z.ZodType>(
    url: string,
    body: B,
    options: FetchFromPageOptions | undefined,
    schema: S,
  ): Promise<z.infer<S>>;
  async function send<T = unknown>(url: string, body: B, options?: FetchFromPageOptions): Promise<T | undefined>;
  async function send(url: string, body: B, options?: FetchFromPageOptions, schema?: z.ZodType): Promise<unknown> {
    const encodedBody = withPristineBuiltIns(() => encode(body));
    return await sendRequest(url, method, encodedBody, contentType, options, schema);
  }
  return send;
}

const jsonContentType = 'application/json';
const formContentType = 'application/x-www-form-urlencoded';
const encodeJSON = (body: unknown) => JSON.stringify(body);

/** Posts `body` as JSON and returns the JSON of the response. */
export const postJSON = /* @__PURE__ */ makeBodySender<unknown>('POST', jsonContentType, encodeJSON);

/** Puts `body` as JSON and returns the JSON of the response. */
export const putJSON = /* @__PURE__ */ makeBodySender<unknown>('PUT', jsonContentType, encodeJSON);

/** Sends a PATCH request with `body` as JSON and returns the JSON of the response. */
export const patchJSON = /* @__PURE__ */ makeBodySender<unknown>('PATCH', jsonContentType, encodeJSON);

/** Posts `body` as a URL-encoded form and returns the JSON of the response. */
export const postForm = /* @__PURE__ */ makeBodySender<Readonly<Record<string, string>>>(
  'POST',
  formContentType,
  (body) => new URLSearchParams(body).toString(),
);

/** Posts `body` as a multipart form, including files, and returns the JSON of the response. */
export const postFormData = /* @__PURE__ */ makeBodySender<FormData>('POST', undefined, (body) => body);

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
