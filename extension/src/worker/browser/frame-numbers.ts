import type { LastUsedNumbers } from '../../page/operations.ts';
import { isPageNumbers } from '../../page-message.ts';
import { isRecord } from '../../record.ts';

/** FrameNumbersOptions contains functions that access storage which Chrome clears when the browser restarts. */
export interface FrameNumbersOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

const StorageKey = 'pageNumbers';
/** If more than MaxFrames frames are stored, FrameNumbers drops the least recently used frames. */
const MaxFrames = 1000;
const initialNumbers: LastUsedNumbers = { ref: 0, snapshot: 0 };

/**
 * FrameNumbers stores the highest ref number and snapshot number of each frame. A frame's later documents get higher
 * ref and snapshot numbers, so that no ref refers to elements of two documents. The ref and snapshot numbers survive a
 * restart of the worker.
 */
export class FrameNumbers {
  readonly #options: FrameNumbersOptions;
  #numbersByFrame: Promise<Map<string, LastUsedNumbers>> | undefined;
  #isWriting = false;
  #hasUnsavedNumbers = false;

  constructor(options: FrameNumbersOptions) {
    this.#options = options;
  }

  async get(tabId: number, frameId: number): Promise<LastUsedNumbers> {
    return (await this.#loadNumbers()).get(`${tabId}/${frameId}`) ?? initialNumbers;
  }

  async set(tabId: number, frameId: number, pageNumbers: LastUsedNumbers): Promise<void> {
    const numbersByFrame = await this.#loadNumbers();
    const key = `${tabId}/${frameId}`;
    const oldNumbers = numbersByFrame.get(key);
    if (oldNumbers?.ref === pageNumbers.ref && oldNumbers.snapshot === pageNumbers.snapshot) return;
    numbersByFrame.delete(key);
    numbersByFrame.set(key, pageNumbers);
    for (const oldest of numbersByFrame.keys()) {
      if (numbersByFrame.size <= MaxFrames) break;
      numbersByFrame.delete(oldest);
    }
    await this.#saveNumbers(numbersByFrame);
  }

  #loadNumbers(): Promise<Map<string, LastUsedNumbers>> {
    this.#numbersByFrame ??= this.#options.readSessionValue(StorageKey).then(parsePageNumbers, () => new Map());
    return this.#numbersByFrame;
  }

  /** If a ref or snapshot number changes while #write is storing the numbers, #write stores all numbers once more. */
  async #saveNumbers(numbersByFrame: ReadonlyMap<string, LastUsedNumbers>): Promise<void> {
    this.#hasUnsavedNumbers = true;
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#hasUnsavedNumbers) {
      this.#hasUnsavedNumbers = false;
      await this.#options.writeSessionValue(StorageKey, JSON.stringify([...numbersByFrame])).catch(() => undefined);
    }
    this.#isWriting = false;
  }
}

function parsePageNumbers(numbersText: string | undefined): Map<string, LastUsedNumbers> {
  const storedEntries: unknown = numbersText === undefined ? [] : JSON.parse(numbersText);
  const pageNumbers = new Map<string, LastUsedNumbers>();
  for (const storedEntry of Array.isArray(storedEntries) ? storedEntries : []) {
    const [key, value]: unknown[] = Array.isArray(storedEntry) ? storedEntry : [];
    if (typeof key === 'string' && isRecord(value) && isPageNumbers(value)) pageNumbers.set(key, value);
  }
  return pageNumbers;
}
