import type { LastUsedNumbers } from '../../page/operations.ts';
import { isLastUsedNumbers } from '../../page-message.ts';
import { isRecord } from '../../record.ts';

/** FrameNumbersOptions contains functions that access storage which Chrome clears when the browser restarts. */
export interface FrameNumbersOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

const FrameNumbersStorageKey = 'pageNumbers';
/** If more than MaxFrames frames are stored, FrameNumbers drops the least recently used frames. */
const MaxFrames = 1000;
const noUsedNumbers: LastUsedNumbers = { ref: 0, snapshot: 0 };

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
    return (await this.#loadNumbers()).get(`${tabId}/${frameId}`) ?? noUsedNumbers;
  }

  async set(tabId: number, frameId: number, pageNumbers: LastUsedNumbers): Promise<void> {
    const numbersByFrame = await this.#loadNumbers();
    const key = `${tabId}/${frameId}`;
    const oldNumbers = numbersByFrame.get(key);
    if (oldNumbers?.ref === pageNumbers.ref && oldNumbers.snapshot === pageNumbers.snapshot) return;
    numbersByFrame.delete(key);
    numbersByFrame.set(key, pageNumbers);
    for (const oldestFrameKey of numbersByFrame.keys()) {
      if (numbersByFrame.size <= MaxFrames) break;
      numbersByFrame.delete(oldestFrameKey);
    }
    await this.#saveNumbers(numbersByFrame);
  }

  #loadNumbers(): Promise<Map<string, LastUsedNumbers>> {
    this.#numbersByFrame ??= this.#options
      .readSessionValue(FrameNumbersStorageKey)
      .then(parsePageNumbers, () => new Map());
    return this.#numbersByFrame;
  }

  /**
   * If a ref or snapshot number changes while #saveNumbers is storing the numbers, #saveNumbers stores all numbers once
   * more.
   */
  async #saveNumbers(numbersByFrame: ReadonlyMap<string, LastUsedNumbers>): Promise<void> {
    this.#hasUnsavedNumbers = true;
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#hasUnsavedNumbers) {
      this.#hasUnsavedNumbers = false;
      await this.#options
        .writeSessionValue(FrameNumbersStorageKey, JSON.stringify([...numbersByFrame]))
        .catch(() => undefined);
    }
    this.#isWriting = false;
  }
}

function parsePageNumbers(storedNumbersText: string | undefined): Map<string, LastUsedNumbers> {
  const storedEntries: unknown = storedNumbersText === undefined ? [] : JSON.parse(storedNumbersText);
  const pageNumbers = new Map<string, LastUsedNumbers>();
  for (const storedEntry of Array.isArray(storedEntries) ? storedEntries : []) {
    const [key, value]: unknown[] = Array.isArray(storedEntry) ? storedEntry : [];
    if (typeof key === 'string' && isRecord(value) && isLastUsedNumbers(value)) pageNumbers.set(key, value);
  }
  return pageNumbers;
}
