import { type HelloParams, Version } from '../../../wire/wire.gen.ts';
import { isRecord } from '../port-message.ts';
import type { Connection } from './handshake.ts';

/** MaxNameChars limits the name of a browser. */
const MaxNameChars = 60;

/** Storage is the part of chrome.ts that this file uses. */
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

/** helloParams returns the identity of this browser. */
export async function helloParams(storage: Storage): Promise<Identity> {
  const [browserId, boot, browserName] = await Promise.all([
    readOrCreate('browserId', storage.readSetting, storage.writeSetting),
    bootId(storage),
    nameOf(storage),
  ]);
  return { protocol: Version, browserId, browserName, bootId: boot, extensionVersion: storage.version() };
}

/** nameOf returns the user's name for this browser. */
async function nameOf(storage: Storage): Promise<string> {
  return (await storage.readSetting('browserName')) || `Chrome on ${await storage.platform()}`;
}

/** renameBrowser stores another name. An empty name restores the default. */
export async function renameBrowser(storage: Storage, name: string): Promise<void> {
  await storage.writeSetting('browserName', name.trim().slice(0, MaxNameChars));
}

/** bootId returns a random text that changes with each start of the browser or the extension. */
export function bootId(storage: Pick<Storage, 'readUntilRestart' | 'writeUntilRestart'>): Promise<string> {
  return readOrCreate('bootId', storage.readUntilRestart, storage.writeUntilRestart);
}

/** entryPointSecret returns the secret from which the names of entry points are derived (entry-points.ts). */
export function entryPointSecret(storage: Pick<Storage, 'readSetting' | 'writeSetting'>): Promise<string> {
  return readOrCreate('entryPointSecret', storage.readSetting, storage.writeSetting);
}

/** readOrCreate returns a random text that is created once and stored. */
async function readOrCreate(
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
    if (!isRecord(value)) return undefined;
    const { port, key } = value;
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535) return undefined;
    return typeof key === 'string' && key !== '' ? { port, key } : undefined;
  } catch {
    return undefined;
  }
}
