import type { PageNumbers } from '../../page/operations.ts';
import { isPageNumbers } from '../../page-message.ts';
import { isRecord } from '../../record.ts';

/** FrameNumbersOptions contains functions that access storage which Chrome clears when the browser restarts. */
export interface FrameNumbersOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

const StorageKey = 'pageNumbers';
/** Above MaxFrames, FrameNumbers drops the frames that were not used for the longest time. */
const MaxFrames = 1000;
const noNumbers: PageNumbers = { ref: 0, snapshot: 0 };

/**
 * FrameNumbers stores the highest ref number and snapshot number of each frame. A frame's later documents get higher
 * ref and snapshot numbers, so that no ref names elements of two documents. The ref and snapshot numbers survive a
 * restart of the worker.
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

  async set(tabId: number, frameId: number, pageNumbers: PageNumbers): Promise<void> {
    const allNumbers = await this.#load();
    const key = `${tabId}/${frameId}`;
    const oldNumbers = allNumbers.get(key);
    if (oldNumbers?.ref === pageNumbers.ref && oldNumbers.snapshot === pageNumbers.snapshot) return;
    allNumbers.delete(key);
    allNumbers.set(key, pageNumbers);
    for (const oldest of allNumbers.keys()) {
      if (allNumbers.size <= MaxFrames) break;
      allNumbers.delete(oldest);
    }
    await this.#write(allNumbers);
  }

  #load(): Promise<Map<string, PageNumbers>> {
    this.#numbers ??= this.#options.readSessionValue(StorageKey).then(readNumbers, () => new Map());
    return this.#numbers;
  }

  /** If a ref or snapshot number changes while write is storing the numbers, write stores all numbers once more. */
  async #write(allNumbers: ReadonlyMap<string, PageNumbers>): Promise<void> {
    this.#mustWrite = true;
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#mustWrite) {
      this.#mustWrite = false;
      await this.#options.writeSessionValue(StorageKey, JSON.stringify([...allNumbers])).catch(() => undefined);
    }
    this.#isWriting = false;
  }
}

function readNumbers(numbersText: string | undefined): Map<string, PageNumbers> {
  const storedEntries: unknown = numbersText === undefined ? [] : JSON.parse(numbersText);
  const pageNumbers = new Map<string, PageNumbers>();
  for (const storedEntry of Array.isArray(storedEntries) ? storedEntries : []) {
    const [key, value]: unknown[] = Array.isArray(storedEntry) ? storedEntry : [];
    if (typeof key === 'string' && isRecord(value) && isPageNumbers(value)) pageNumbers.set(key, value);
  }
  return pageNumbers;
}
