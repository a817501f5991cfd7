import { type HelloParams, type HelloResult, Version } from '../../../../wire/wire.gen.ts';
import type * as browser from '../../chrome.ts';

/** MaxNameChars limits the name of a browser, in UTF-16 units. */
const MaxNameChars = 60;

/** Storage is the part of chrome.ts that this file uses. */
export type Storage = Pick<
  typeof browser,
  | 'readSetting'
  | 'writeSetting'
  | 'readSessionValue'
  | 'writeSessionValue'
  | 'platformName'
  | 'productName'
  | 'extensionVersion'
  | 'listCapabilities'
>;

/** Identity is the params of hello without the proof, because each proof belongs to one connection. */
export type Identity = Omit<HelloParams, 'proof'>;

/** BrowserIdentity identifies this browser to the server. */
export class BrowserIdentity {
  readonly #storage: Storage;
  #name = '';

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * name is the browser name that the server shows. Until the server answers hello, name is the name that hello
   * contained.
   */
  get name(): string {
    return this.#name;
  }

  async hello(): Promise<Identity> {
    const storage = this.#storage;
    const [browserId, bootId, name] = await Promise.all([
      readOrCreate('browserId', storage.readSetting, storage.writeSetting),
      this.bootId(),
      storage.readSetting('browserName'),
    ]);
    this.#name = name || `${storage.productName()} on ${await storage.platformName()}`;
    return {
      protocol: Version,
      browserId,
      browserName: this.#name,
      ...(name ? {} : { hasDefaultName: true }),
      bootId,
      extensionVersion: storage.extensionVersion(),
      capabilities: await storage.listCapabilities(),
    };
  }

  /**
   * receiveName adopts the browser name that the server returned, and stores a name that the user set with a
   * command.
   */
  async receiveName({ browserName, isGivenName }: HelloResult): Promise<void> {
    if (!browserName) return;
    this.#name = browserName;
    if (isGivenName) await this.#storage.writeSetting('browserName', browserName);
  }

  /** rename stores a new name of the browser. An empty name restores the default name of the browser. */
  async rename(name: string): Promise<void> {
    await this.#storage.writeSetting('browserName', name.trim().slice(0, MaxNameChars));
  }

  /** bootId returns a random text that changes with each start of the browser or the extension. */
  bootId(): Promise<string> {
    return readOrCreate('bootId', this.#storage.readSessionValue, this.#storage.writeSessionValue);
  }

  /** entryPointSecret returns the secret from which the names of entry points are derived (delivery/entry-points.ts). */
  entryPointSecret(): Promise<string> {
    return readOrCreate('entryPointSecret', this.#storage.readSetting, this.#storage.writeSetting);
  }
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
