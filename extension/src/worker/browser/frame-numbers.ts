import type { PageNumbers } from '../../page/operations.ts';
import { isNumbers } from '../../page-message.ts';
import { isRecord } from '../../record.ts';

/** FrameNumbersOptions are the functions that store the numbers until the browser restarts. */
export interface FrameNumbersOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

/** StorageKey is the key of the numbers in the storage of the session. */
const StorageKey = 'pageNumbers';
/** MaxFrames limits the frames whose numbers are stored. The frames that were used last are kept. */
const MaxFrames = 1000;
const noNumbers: PageNumbers = { ref: 0, snapshot: 0 };

/**
 * FrameNumbers stores the greatest numbers of refs and snapshots of each frame. A later document of the frame continues
 * after them, so that no ref names elements of two documents. The numbers survive a restart of the worker.
 */
export class FrameNumbers {
  readonly #options: FrameNumbersOptions;
  #numbers: Promise<Map<string, PageNumbers>> | undefined;
  #isWriting = false;
  #mustWrite = false;

  constructor(options: FrameNumbersOptions) {
    this.#options = options;
  }

  async get(tabId: number, frameId: number): Promise<PageNumbers> {
    return (await this.#load()).get(`${tabId}/${frameId}`) ?? noNumbers;
  }

  async set(tabId: number, frameId: number, numbers: PageNumbers): Promise<void> {
    const all = await this.#load();
    const key = `${tabId}/${frameId}`;
    const old = all.get(key);
    if (old?.ref === numbers.ref && old.snapshot === numbers.snapshot) return;
    all.delete(key);
    all.set(key, numbers);
    for (const oldest of all.keys()) {
      if (all.size <= MaxFrames) break;
      all.delete(oldest);
    }
    await this.#write(all);
  }

  #load(): Promise<Map<string, PageNumbers>> {
    this.#numbers ??= this.#options.readSessionValue(StorageKey).then(readNumbers, () => new Map());
    return this.#numbers;
  }

  /** write stores the numbers. Changes during a write are stored by one more write. */
  async #write(all: ReadonlyMap<string, PageNumbers>): Promise<void> {
    this.#mustWrite = true;
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#mustWrite) {
      this.#mustWrite = false;
      await this.#options.writeSessionValue(StorageKey, JSON.stringify([...all])).catch(() => undefined);
    }
    this.#isWriting = false;
  }
}

function readNumbers(text: string | undefined): Map<string, PageNumbers> {
  const entries: unknown = text === undefined ? [] : JSON.parse(text);
  const numbers = new Map<string, PageNumbers>();
  for (const entry of Array.isArray(entries) ? entries : []) {
    const [key, value]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof key === 'string' && isRecord(value) && isNumbers(value)) numbers.set(key, value);
  }
  return numbers;
}
