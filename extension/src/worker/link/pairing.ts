// pairing.ts pairs an extension from the Chrome Web Store, which has no connection.json, with the server. The side
// panel shows a pairing code, and the user runs `opentabs pair CODE`. The server derives a key from the pairing code.
// On the first link after the pairing, the server replaces the key from the pairing code with a random key
// (internal/pairing).

import { DefaultPort } from '../../../../wire/wire.gen.ts';
import type * as browser from '../../chrome.ts';
import { isRecord } from '../../record.ts';
import { toHex } from '../hex.ts';
import { Signal } from '../signal.ts';
import type { ServerConnection } from './handshake.ts';

export type PairingStorage = Pick<
  typeof browser,
  'readSetting' | 'writeSetting' | 'readSessionValue' | 'writeSessionValue' | 'readOwnFile'
>;

/** PairingState.code is undefined after the pairing. */
export interface PairingState {
  readonly port: number;
  readonly code?: string;
}

const PairingCodeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CodeGroupCount = 4;
const CodeGroupChars = 5;
/** KeyIdChars is the length of the ID of a shared key, as in wire/proof.go. */
const KeyIdChars = 32;
const ConnectionFile = 'connection.json';

/**
 * Pairing provides the server's port and the shared key, either from connection.json or from the pairing with the
 * server.
 */
export class Pairing {
  /** The signal `changed` fires when the field `state` has changed. */
  readonly changed = new Signal();
  readonly #storage: PairingStorage;
  #state: PairingState | undefined;
  #hasReadConnection = false;

  constructor(storage: PairingStorage) {
    this.#storage = storage;
  }

  /**
   * The field `state` is the pairing that the last connection used, or undefined if the last connection used
   * connection.json.
   */
  get state(): PairingState | undefined {
    return this.#state;
  }

  /** After a restart of the worker, the first connection may be cached (ServerConnection.isCached). */
  async readConnection(): Promise<ServerConnection> {
    const { readSetting } = this.#storage;
    const { fileText, isCached } = await this.#readConnectionFile();
    const installedConnection = parseConnection(fileText);
    if (installedConnection) {
      this.#setState(undefined);
      return isCached ? { ...installedConnection, isCached } : installedConnection;
    }
    const port = parsePort(Number(await readSetting('port'))) ?? DefaultPort;
    const pairedKey = await readSetting('pairedKey');
    if (pairedKey) {
      this.#setState({ port });
      return { port, key: pairedKey, keyId: await makeKeyId(pairedKey) };
    }
    const code = await this.#readPairingCode();
    const key = await makeChecksum(`opentabs pairing\n${code.replaceAll('-', '')}`);
    this.#setState({ port, code });
    return { port, key, keyId: await makeKeyId(key) };
  }

  /** savePairedKey stores the server's random key, which replaces the key that was derived from the pairing code. */
  async savePairedKey(key: string): Promise<void> {
    await this.#storage.writeSetting('pairedKey', key);
    await this.#storage.writeSetting('pairingCode', '');
  }

  /** The method `restart` deletes the shared key, so that the side panel shows a new pairing code. */
  async restart(): Promise<void> {
    await this.#storage.writeSetting('pairedKey', '');
    await this.#storage.writeSetting('pairingCode', '');
  }

  /** setPort stores the server's port, and rejects a number outside 1 to 65535. */
  async setPort(port: number): Promise<void> {
    if (parsePort(port) === undefined) throw new Error('A port is a number from 1 to 65535.');
    await this.#storage.writeSetting('port', String(port));
  }

  /**
   * readConnectionFile returns the text of connection.json, which is empty if the file is missing. The first read of a
   * restarted worker returns the text that the previous worker read, because the first fetch() of a worker blocks the
   * worker for 45 ms. Chrome deletes the cached text when it reloads the extension or restarts.
   */
  async #readConnectionFile(): Promise<{ fileText: string; isCached: boolean }> {
    const { readOwnFile, readSessionValue, writeSessionValue } = this.#storage;
    const isFirstRead = !this.#hasReadConnection;
    this.#hasReadConnection = true;
    const cachedFileText = isFirstRead ? await readSessionValue(ConnectionFile) : undefined;
    if (cachedFileText !== undefined) return { fileText: cachedFileText, isCached: true };
    const fileText = (await readOwnFile(ConnectionFile)) ?? '';
    await writeSessionValue(ConnectionFile, fileText);
    return { fileText, isCached: false };
  }

  #setState(state: PairingState | undefined): void {
    const { port, code } = this.#state ?? {};
    this.#state = state;
    if (state?.port !== port || state?.code !== code) this.changed.emit();
  }

  async #readPairingCode(): Promise<string> {
    const oldCode = await this.#storage.readSetting('pairingCode');
    if (oldCode) return oldCode;
    const code = makeCode();
    await this.#storage.writeSetting('pairingCode', code);
    return code;
  }
}

/** makeCode returns a random pairing code with 100 random bits, such as 7KQ2M-XD9R4-TB8WZ-0HJ5N. */
function makeCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CodeGroupCount * CodeGroupChars));
  const codeChars = Array.from(bytes, (byte) => PairingCodeAlphabet.charAt(byte % PairingCodeAlphabet.length)).join('');
  return (codeChars.match(/.{5}/g) ?? []).join('-');
}

/** makeKeyId returns the ID of a shared key, as wire/proof.go:KeyID does. */
async function makeKeyId(key: string): Promise<string> {
  return (await makeChecksum(`opentabs key\n${key}`)).slice(0, KeyIdChars);
}

async function makeChecksum(checksumInput: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(checksumInput))));
}

/**
 * parseConnection parses connection.json, which `opentabs extension install` writes beside the manifest of the
 * extension.
 */
function parseConnection(fileText: string): ServerConnection | undefined {
  try {
    const value: unknown = JSON.parse(fileText);
    if (!isRecord(value)) return undefined;
    const port = parsePort(value.port);
    return port !== undefined && typeof value.key === 'string' && value.key !== ''
      ? { port, key: value.key }
      : undefined;
  } catch {
    return undefined;
  }
}

function parsePort(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535 ? value : undefined;
}
