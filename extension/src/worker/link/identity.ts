import { type HelloParams, type HelloResult, Version } from '../../../../wire/wire.gen.ts';
import type * as browser from '../../chrome.ts';

/** MaxNameChars limits the name of a browser, in UTF-16 code units. */
const MaxNameChars = 60;

export type IdentityStorage = Pick<
  typeof browser,
  | 'readSetting'
  | 'writeSetting'
  | 'readSessionValue'
  | 'writeSessionValue'
  | 'readPlatformName'
  | 'readProductName'
  | 'readExtensionVersion'
  | 'listCapabilities'
>;

/** HelloIdentity contains the parameters of hello except the proof, which differs for each connection. */
export type HelloIdentity = Omit<HelloParams, 'proof'>;

/** BrowserIdentity provides the IDs and the name with which this browser identifies itself to the server. */
export class BrowserIdentity {
  readonly #storage: IdentityStorage;
  #browserName = '';

  constructor(storage: IdentityStorage) {
    this.#storage = storage;
  }

  /** Before the server has answered hello, `name` is the name that the browser sent. */
  get name(): string {
    return this.#browserName;
  }

  async makeHello(): Promise<HelloIdentity> {
    const storage = this.#storage;
    const [browserId, bootId, name, platformName, capabilities] = await Promise.all([
      readOrCreateId('browserId', storage.readSetting, storage.writeSetting),
      this.readBootId(),
      storage.readSetting('browserName'),
      storage.readPlatformName(),
      storage.listCapabilities(),
    ]);
    this.#browserName = name || `${storage.readProductName()} on ${platformName}`;
    return {
      protocol: Version,
      browserId,
      browserName: this.#browserName,
      ...(name ? {} : { hasDefaultName: true }),
      bootId,
      extensionVersion: storage.readExtensionVersion(),
      capabilities,
    };
  }

  /**
   * If the user set the name on the command line, receiveBrowserName also stores the name as this browser's setting.
   */
  async receiveBrowserName({ browserName, isGivenName }: HelloResult): Promise<void> {
    if (!browserName) return;
    this.#browserName = browserName;
    if (isGivenName) await this.#storage.writeSetting('browserName', browserName);
  }

  /** An empty name restores the default name, such as "Chrome on Linux". */
  async rename(name: string): Promise<void> {
    await this.#storage.writeSetting('browserName', name.trim().slice(0, MaxNameChars));
  }

  /** readBootId returns a random ID that changes whenever the browser or the extension starts. */
  readBootId(): Promise<string> {
    return readOrCreateId('bootId', this.#storage.readSessionValue, this.#storage.writeSessionValue);
  }

  /**
   * readEntryPointSecret returns the random secret from which the names of entry points are derived
   * (delivery/entry-points.ts).
   */
  readEntryPointSecret(): Promise<string> {
    return readOrCreateId('entryPointSecret', this.#storage.readSetting, this.#storage.writeSetting);
  }
}

async function readOrCreateId(
  key: string,
  readValue: (key: string) => Promise<string | undefined>,
  writeValue: (key: string, value: string) => Promise<void>,
): Promise<string> {
  const oldValue = await readValue(key);
  if (oldValue) return oldValue;
  const newValue = crypto.randomUUID();
  await writeValue(key, newValue);
  return newValue;
}
