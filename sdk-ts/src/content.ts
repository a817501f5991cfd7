import * as z from 'zod'; // The statement `import { z }` would add all of zod to each adapter.
import { withPristineBuiltIns } from './runtime/pristine.ts';

/** MCP annotations of a content block: audience, priority and time of the last change. */
export interface ContentAnnotations {
  audience?: ('user' | 'assistant')[] | undefined;
  /** The priority, from 0 (least important) to 1 (most important). */
  priority?: number | undefined;
  /** When the content was last modified, in ISO 8601, such as `2026-01-31T12:00:00Z`. */
  lastModified?: string | undefined;
}

const annotations = z
  .object({
    audience: z.array(z.enum(['user', 'assistant'])).optional(),
    priority: z.number().min(0).max(1).optional(),
    lastModified: z.string().optional(),
  })
  .optional();

/** The zod schema of what {@link image} returns, for use in a tool's `output` schema. */
export const imageSchema = z.object({
  type: z.literal('image'),
  data: z.string().describe('base64'),
  mimeType: z.string(),
  annotations,
});

/** The zod schema of what {@link audio} returns, for use in a tool's `output` schema. */
export const audioSchema = z.object({
  type: z.literal('audio'),
  data: z.string().describe('base64'),
  mimeType: z.string(),
  annotations,
});

/** The zod schema of what {@link resource} returns, for use in a tool's `output` schema. */
export const resourceSchema = z.object({
  type: z.literal('resource'),
  resource: z.object({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional().describe('base64'),
  }),
  annotations,
});

/** An MCP image content block. A tool's result may contain image blocks at any depth. */
export type ImageContent = z.infer<typeof imageSchema>;
/** An MCP audio content block. A tool's result may contain audio at any depth. */
export type AudioContent = z.infer<typeof audioSchema>;
/** An MCP resource content block: a URI and the contents of a file. */
export type ResourceContent = z.infer<typeof resourceSchema>;

/** The data of a content block: a Blob, bytes, or a base64 string. */
export type ContentSource = Blob | ArrayBuffer | ArrayBufferView | string;

/**
 * Returns an MCP image content block. For a Blob, `mimeType` defaults to the type of the Blob; for bytes and base64,
 * `mimeType` is required.
 *
 * @example
 * const blob = await canvas.convertToBlob({ type: 'image/png' });
 * return { chart: await image(blob), rows: 12 };
 */
export async function image(
  contentSource: ContentSource,
  mimeType = readMimeType(contentSource),
): Promise<ImageContent> {
  return {
    type: 'image',
    data: await toBase64(contentSource),
    mimeType: withPristineBuiltIns(() => requireMimeType(mimeType, 'image')),
  };
}

/** Returns an MCP audio content block. `mimeType` has the same default as in {@link image}. */
export async function audio(
  contentSource: ContentSource,
  mimeType = readMimeType(contentSource),
): Promise<AudioContent> {
  return {
    type: 'audio',
    data: await toBase64(contentSource),
    mimeType: withPristineBuiltIns(() => requireMimeType(mimeType, 'audio')),
  };
}

/**
 * Returns an MCP resource content block with the absolute URI `uri`. A string becomes the text of the resource; bytes
 * and Blobs are encoded as base64.
 */
export async function resource(
  uri: string,
  contentSource: ContentSource,
  mimeType = readMimeType(contentSource),
): Promise<ResourceContent> {
  const resourceFields = { uri: withPristineBuiltIns(() => new URL(uri).href), ...(mimeType ? { mimeType } : {}) };
  if (typeof contentSource === 'string')
    return { type: 'resource', resource: { ...resourceFields, text: contentSource } };
  return { type: 'resource', resource: { ...resourceFields, blob: await toBase64(contentSource) } };
}

function readMimeType(contentSource: ContentSource): string {
  return contentSource instanceof Blob ? contentSource.type : '';
}

function requireMimeType(mimeType: string, majorType: 'image' | 'audio'): string {
  // MCP clients cannot process a MIME type with parameters, such as "image/png; a=b".
  const baseType = mimeType.split(';')[0]?.trim() ?? '';
  if (baseType.startsWith(`${majorType}/`) && baseType.length > majorType.length + 1) return baseType;
  throw new TypeError(
    `${mimeType ? `"${mimeType}"` : 'an empty text'} is not a MIME type of ${majorType} content; use one such as ${exampleMimeTypes[majorType]}`,
  );
}

const exampleMimeTypes = { image: 'image/png', audio: 'audio/mpeg' } as const;

function isBase64(text: string): boolean {
  const digits = text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
  return text !== '' && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(digits);
}

async function toBase64(contentSource: ContentSource): Promise<string> {
  if (typeof contentSource === 'string') {
    if (withPristineBuiltIns(() => isBase64(contentSource))) return contentSource;
    throw new TypeError('the text is not base64; pass bytes, or padded base64 without line breaks');
  }
  const bytes = await toBytes(contentSource);
  if (bytes.length === 0) throw new TypeError('the content is empty; pass at least one byte');
  return withPristineBuiltIns(() => encodeBase64(bytes));
}

async function toBytes(contentSource: Blob | ArrayBuffer | ArrayBufferView): Promise<Uint8Array> {
  if (contentSource instanceof Blob) return new Uint8Array(await contentSource.arrayBuffer());
  if (ArrayBuffer.isView(contentSource))
    return new Uint8Array(contentSource.buffer, contentSource.byteOffset, contentSource.byteLength);
  return new Uint8Array(contentSource);
}

/** chunkBytes must be a multiple of 3, so that only the last chunk has base64 padding. */
const chunkBytes = 3 * 8192;

function encodeBase64(bytes: Uint8Array): string {
  const binaryParts: string[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    binaryParts.push(btoa(String.fromCharCode(...bytes.subarray(start, start + chunkBytes))));
  }
  return binaryParts.join('');
}
