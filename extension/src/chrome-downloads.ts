// Wraps the functions of chrome.downloads, which require the optional permission "downloads".

import { sleep } from './within.ts';

export interface Download {
  readonly id: number;
  /** The field `path` is the path of the downloaded file, or empty until Chrome has chosen the file. */
  readonly path: string;
  /** finalUrl is the address after redirects, or empty until the site has responded. */
  readonly finalUrl: string;
  readonly state: `${chrome.downloads.State}`;
  /** The field `error` is Chrome's reason for an interrupted download, such as NETWORK_FAILED. */
  readonly error: string | undefined;
  readonly isPaused: boolean;
  /** The field `danger` is Chrome's verdict about the downloaded file, such as "safe", "file" or "content". */
  readonly danger: string;
  readonly receivedBytes: number;
  /** totalBytes is undefined if the site did not send the size of the file. */
  readonly totalBytes: number | undefined;
  readonly isFileMissing: boolean;
}

const CompletionTimeoutMs = 5_000;

/** `path` is relative to the user's download folder. */
export async function startDownload(url: string, path: string): Promise<number> {
  return await chrome.downloads.download({ url, filename: path, conflictAction: 'uniquify', saveAs: false });
}

export async function listDownloads(): Promise<Download[]> {
  return (await chrome.downloads.search({ orderBy: ['-startTime'] })).filter(isStartedByExtension).map(toDownload);
}

export async function readDownload(id: number): Promise<Download | undefined> {
  return (await chrome.downloads.search({ id })).filter(isStartedByExtension).map(toDownload)[0];
}

export async function cancelDownload(id: number): Promise<void> {
  await chrome.downloads.cancel(id);
}

export async function removeDownload(id: number): Promise<void> {
  await chrome.downloads.cancel(id).catch(() => undefined);
  // Chrome ignores the cancellation of a download that is about to complete.
  for (const endMs = Date.now() + CompletionTimeoutMs; Date.now() < endMs; await sleep(50)) {
    if ((await readDownload(id))?.state !== 'in_progress') break;
  }
  await chrome.downloads.removeFile(id).catch(() => undefined); // only a complete download has a file
  await chrome.downloads.erase({ id }).catch(() => undefined);
}

function isStartedByExtension({ byExtensionId }: chrome.downloads.DownloadItem): boolean {
  return byExtensionId === chrome.runtime.id;
}

function toDownload(downloadItem: chrome.downloads.DownloadItem): Download {
  const {
    id,
    filename,
    finalUrl,
    state: downloadState,
    error,
    paused,
    danger,
    bytesReceived,
    totalBytes,
    exists,
  } = downloadItem;
  return {
    id,
    path: filename,
    finalUrl,
    state: downloadState,
    error,
    isPaused: paused,
    danger,
    receivedBytes: bytesReceived,
    totalBytes: totalBytes > 0 ? totalBytes : undefined,
    isFileMissing: downloadState === 'complete' && !exists,
  };
}
