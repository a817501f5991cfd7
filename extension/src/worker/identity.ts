import { type HelloParams, Version } from '../../../wire/wire.gen.ts';
import { isBag } from '../port-message.ts';
import type { Connection } from './handshake.ts';

/** MaxNameChars is the longest name of a browser. */
const MaxNameChars = 60;

/** Storage is what of chrome.ts is needed here. */
export interface Storage {
  readSetting(key: string): Promise<string | undefined>;
  writeSetting(key: string, value: string): Promise<void>;
  readUntilRestart(key: string): Promise<string | undefined>;
  writeUntilRestart(key: string, value: string): Promise<void>;
  readOwnFile(name: string): Promise<string | undefined>;
  platform(): Promise<string>;
  version(): string;
}

/** Identity is hello without the proof, which belongs to one connection. */
export type Identity = Omit<HelloParams, 'proof'>;

/** helloParams says who this browser is. */
export async function helloParams(storage: Storage): Promise<Identity> {
  const [browserId, boot, browserName] = await Promise.all([
    kept('browserId', storage.readSetting, storage.writeSetting),
    bootId(storage),
    nameOf(storage),
  ]);
  return { protocol: Version, browserId, browserName, bootId: boot, extensionVersion: storage.version() };
}

/** nameOf returns what the person calls this browser. */
async function nameOf(storage: Storage): Promise<string> {
  return (await storage.readSetting('browserName')) || `Chrome on ${await storage.platform()}`;
}

/** rename keeps another name; an empty one goes back to the default. */
export async function rename(storage: Storage, name: string): Promise<void> {
  await storage.writeSetting('browserName', name.trim().slice(0, MaxNameChars));
}

/** bootId returns a random text that is another after each start of the browser or the extension. */
export function bootId(storage: Pick<Storage, 'readUntilRestart' | 'writeUntilRestart'>): Promise<string> {
  return kept('bootId', storage.readUntilRestart, storage.writeUntilRestart);
}

/** entryPointSecret returns the secret from which the names of entry points are derived (entry-points.ts). */
export function entryPointSecret(storage: Pick<Storage, 'readSetting' | 'writeSetting'>): Promise<string> {
  return kept('entryPointSecret', storage.readSetting, storage.writeSetting);
}

/** kept returns a random text that is made once and then kept. */
async function kept(
  key: string,
  read: (key: string) => Promise<string | undefined>,
  write: (key: string, value: string) => Promise<void>,
): Promise<string> {
  const old = await read(key);
  if (old) return old;
  const fresh = crypto.randomUUID();
  await write(key, fresh);
  return fresh;
}

/** readConnection reads the file that `opentabs extension install` wrote beside the manifest. */
export async function readConnection(storage: Storage): Promise<Connection | undefined> {
  const text = await storage.readOwnFile('connection.json');
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isBag(value)) return undefined;
    const { port, key } = value;
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535) return undefined;
    return typeof key === 'string' && key !== '' ? { port, key } : undefined;
  } catch {
    return undefined;
  }
}
