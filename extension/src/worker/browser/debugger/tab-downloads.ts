import type { Fields } from '../../../record.ts';

/** DownloadWatch contains the file names of the downloads that a tab has begun since the watch began. */
export interface DownloadWatch {
  readonly names: readonly string[];
  stop(): void;
}

/** TabDownloads watches the downloads of tabs to which the debugger is attached. */
export class TabDownloads {
  readonly #listeners = new Set<(tabId: number, name: string) => void>();

  handleEvent(tabId: number, method: string, { suggestedFilename: name }: Fields): void {
    if (method !== 'Page.downloadWillBegin' || typeof name !== 'string') return;
    for (const listener of this.#listeners) listener(tabId, name);
  }

  /** If the debugger is not attached to the tab, the DownloadWatch contains no downloads. */
  watch(tabId: number): DownloadWatch {
    const names: string[] = [];
    const listener = (id: number, name: string) => {
      if (id === tabId) names.push(name);
    };
    this.#listeners.add(listener);
    return { names, stop: () => this.#listeners.delete(listener) };
  }
}
