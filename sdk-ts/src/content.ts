import { z } from 'zod';
import { pristinely } from './runtime/pristine.ts';

/** Who a block is for, and how much it matters. */
export interface ContentAnnotations {
  audience?: ('user' | 'assistant')[] | undefined;
  /** From 0, of no matter, to 1, what the result is about. */
  priority?: number | undefined;
  /** When it last changed, as in `2026-01-31T12:00:00Z`. */
  lastModified?: string | undefined;
}

const annotations = z
  .object({
    audience: z.array(z.enum(['user', 'assistant'])).optional(),
    priority: z.number().min(0).max(1).optional(),
    lastModified: z.string().optional(),
  })
  .optional();

/** The schema of what {@link image} returns, for a tool's `output`. */
export const imageSchema = z.object({
  type: z.literal('image'),
  data: z.string().describe('base64'),
  mimeType: z.string(),
  annotations,
});

/** The schema of what {@link audio} returns, for a tool's `output`. */
export const audioSchema = z.object({
  type: z.literal('audio'),
  data: z.string().describe('base64'),
  mimeType: z.string(),
  annotations,
});

/** The schema of what {@link resource} returns, for a tool's `output`. */
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

/** A picture. It reaches the agent as a picture, wherever in a result it stands. */
export type ImageContent = z.infer<typeof imageSchema>;
/** A sound. It reaches the agent as a sound, wherever in a result it stands. */
export type AudioContent = z.infer<typeof audioSchema>;
/** A file with what is in it. */
export type ResourceContent = z.infer<typeof resourceSchema>;

/** What a block is made of: bytes, a Blob, or base64 that is there already. */
export type ContentSource = Blob | ArrayBuffer | ArrayBufferView | string;

/**
 * Makes a picture for the agent. `mimeType` is that of the Blob if absent, and is needed for bytes and base64.
 *
 * @example
 * const blob = await canvas.convertToBlob({ type: 'image/png' });
 * return { chart: await image(blob), rows: 12 };
 */
export async function image(source: ContentSource, mimeType = typeOf(source)): Promise<ImageContent> {
  return { type: 'image', data: await base64Of(source), mimeType: pristinely(() => checked(mimeType, 'image')) };
}

/** Makes a sound for the agent; see {@link image}. */
export async function audio(source: ContentSource, mimeType = typeOf(source)): Promise<AudioContent> {
  return { type: 'audio', data: await base64Of(source), mimeType: pristinely(() => checked(mimeType, 'audio')) };
}

/** Makes a file for the agent. A string is its text; bytes and Blobs are sent as they are. `uri` names it, absolutely. */
export async function resource(
  uri: string,
  contents: ContentSource,
  mimeType = typeOf(contents),
): Promise<ResourceContent> {
  const named = { uri: pristinely(() => new URL(uri).href), ...(mimeType ? { mimeType } : {}) };
  if (typeof contents === 'string') return { type: 'resource', resource: { ...named, text: contents } };
  return { type: 'resource', resource: { ...named, blob: await base64Of(contents) } };
}

function typeOf(source: ContentSource): string {
  return source instanceof Blob ? source.type : '';
}

function checked(mimeType: string, major: 'image' | 'audio'): string {
  // Parameters, as in "image/png; a=b", are nothing that a client could use.
  const kind = mimeType.split(';')[0]?.trim() ?? '';
  if (kind.startsWith(`${major}/`) && kind.length > major.length + 1) return kind;
  throw new TypeError(
    `${mimeType || 'nothing'} is not the type of ${major} content; give one such as ${examples[major]}`,
  );
}

const examples = { image: 'image/png', audio: 'audio/mpeg' } as const;

/** isBase64 takes what the server takes: the standard alphabet, padded. A search for what is wrong needs no stack. */
function isBase64(text: string): boolean {
  const digits = text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
  return text !== '' && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(digits);
}

async function base64Of(source: ContentSource): Promise<string> {
  if (typeof source === 'string') {
    if (pristinely(() => isBase64(source))) return source;
    throw new TypeError('the text is not base64; give the bytes, or base64 without line breaks and with its padding');
  }
  const bytes = await bytesOf(source);
  if (bytes.length === 0) throw new TypeError('there are no bytes to send');
  return pristinely(() => encode(bytes));
}

async function bytesOf(source: Blob | ArrayBuffer | ArrayBufferView): Promise<Uint8Array> {
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return new Uint8Array(source);
}

/** How many bytes are turned into text at once: a multiple of 3, and few enough for arguments of one call. */
const chunk = 3 * 8192;

function encode(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += chunk) {
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + chunk))));
  }
  return parts.join('');
}
