import type * as chromeDownloads from '../../chrome-downloads.ts';
import type { Fields } from '../../record.ts';
import { sleep } from '../../within.ts';
import { readChoice, readNumber, readTexts, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { isForbiddenAddress } from './frame-rules.ts';
import { parseWebUrl } from './navigation.ts';
import { formatBytes } from './network/request-text.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

export type DownloadsBrowser = typeof chromeDownloads;

type Download = chromeDownloads.Download;

/** AgentDownloadFolder is the subfolder of the user's download folder in which Chrome saves the downloads of agents. */
const AgentDownloadFolder = 'opentabs';
/**
 * PollIntervalMs is how often the worker reads a download's state, because Chrome fires no event when a download
 * receives bytes.
 */
const PollIntervalMs = 500;
/** NameTimeoutMs limits how long Chrome may take to choose the file name of a download, in milliseconds. */
const NameTimeoutMs = 60_000;
/** DownloadStallTimeoutMs is how long browser_downloads waits for a download that receives no data, in milliseconds. */
const DownloadStallTimeoutMs = 60_000;
/**
 * DownloadWarningDelayMs is how long a download with a security warning may receive no data before the tool suggests
 * asking the user, in milliseconds.
 */
const DownloadWarningDelayMs = 3000;
const MaxRunningDownloads = 10;
const MaxListedDownloads = 1000;

export function makeDownloadTools(browser: DownloadsBrowser): [string, BrowserTool][] {
  return [['browser_downloads', (call) => runDownloadAction(browser, call)]];
}

/**
 * runDownloadAction does not check who started a download, because the server rejects calls that use downloads of other
 * clients.
 */
async function runDownloadAction(browser: DownloadsBrowser, call: BrowserCall): Promise<BrowserResult> {
  const action = readChoice(call.args, 'action', ['start', 'list', 'wait', 'cancel']) ?? 'list';
  if (action === 'start') return await startDownload(browser, call);
  if (action === 'list') {
    const allDownloads = await browser.listDownloads();
    return {
      downloads: allDownloads
        .slice(0, MaxListedDownloads)
        .map((listedDownload) => ({ id: listedDownload.id, text: describeDownload(listedDownload) })),
    };
  }
  const id = readNumber(call.args, 'id');
  if (id === undefined) throw makeCallFailure('invalid_arguments', `the action ${action} needs an id of the list`);
  if (action === 'wait') return await waitForDownloadEnd(browser, call, id);
  const { state: downloadState } = await requireDownload(browser, id);
  if (downloadState === 'in_progress') await browser.cancelDownload(id);
  const now = await requireDownload(browser, id);
  const stateNote = downloadState === 'in_progress' && now.state !== 'complete' ? '' : ' There was nothing to cancel.';
  return { text: `${describeDownload(now)}${stateNote}` };
}

async function requireDownload(browser: DownloadsBrowser, id: number): Promise<Download> {
  const download = await browser.readDownload(id);
  if (download) return download;
  throw toolFailure('not_found', `Chrome's list of downloads has no download ${id}. It may have been removed`);
}

// ---- starting ----

async function startDownload(browser: DownloadsBrowser, call: BrowserCall): Promise<BrowserResult> {
  const url = parseWebUrl(requireText(call.args, 'url'));
  const path = `${AgentDownloadFolder}/${requireText(call.args, '_fileName')}`;
  const runningDownloads = (await browser.listDownloads()).filter(
    ({ state: downloadState }) => downloadState === 'in_progress',
  );
  if (runningDownloads.length >= MaxRunningDownloads)
    throw toolFailure(
      'rejected',
      `${runningDownloads.length} downloads of agents are running. Wait for one, or cancel one`,
    );
  const id = await waitForAnswer(browser, call, browser.startDownload(url, path));
  try {
    const download = await waitForName(browser, call, id);
    checkFile(download, call.args);
    call.signal.throwIfAborted();
    const { origin } = new URL(download.finalUrl || url);
    const redirectNote = origin === new URL(url).origin ? '' : ` The site redirected to ${origin}.`;
    return { text: `${describeDownload(download)}${redirectNote}`, downloadId: id };
  } catch (error) {
    await browser.removeDownload(id);
    throw error;
  }
}

/** waitForAnswer waits until Chrome has started the download, which happens only when the site responds. */
async function waitForAnswer(
  browser: DownloadsBrowser,
  call: BrowserCall,
  startingDownload: Promise<number>,
): Promise<number> {
  const timer = setInterval(
    () => call.report({ message: 'waiting for the response of the site' }),
    PollIntervalMs * 10,
  );
  let stopWaiting: (reason: unknown) => void = () => undefined;
  const cancelledPromise = new Promise<never>((_, reject) => {
    stopWaiting = reject;
  });
  const abortWaiting = () => {
    startingDownload.then(browser.removeDownload).catch(() => undefined);
    stopWaiting(call.signal.reason);
  };
  call.signal.addEventListener('abort', abortWaiting, { once: true });
  try {
    return await Promise.race([startingDownload, cancelledPromise]);
  } catch (error) {
    if (call.signal.aborted) throw error;
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    throw toolFailure('download_failed', `Chrome did not start the download: ${reason}`);
  } finally {
    clearInterval(timer);
    call.signal.removeEventListener('abort', abortWaiting);
  }
}

/**
 * waitForName waits until the download has a file name. Depending on the user's settings, the user chooses the name in
 * a dialog.
 */
async function waitForName(browser: DownloadsBrowser, call: BrowserCall, id: number): Promise<Download> {
  const endMs = Date.now() + NameTimeoutMs;
  for (;;) {
    const download = await requireDownload(browser, id);
    if (download.finalUrl !== '') checkDownloadAddress(download.finalUrl, call.args);
    if (download.state === 'interrupted') throw makeDownloadFailure(download);
    if (download.path !== '' && download.finalUrl !== '') return download;
    if (Date.now() >= endMs)
      throw toolFailure('download_failed', {
        forAgent:
          'Chrome chose no file within 60 s, so the download is cancelled. Chrome probably asks the user for the place: ' +
          'the user can switch off "Ask where to save each file" in the settings of Chrome',
        forUser:
          'Chrome chose no file within 60 s, so the download is cancelled. Switch off "Ask where to save each file" in ' +
          'the settings of Chrome.',
      });
    call.report({ message: 'waiting until Chrome has chosen the file' });
    await sleep(PollIntervalMs, call.signal);
  }
}

/** checkDownloadAddress throws if a download was redirected to a site that the user has forbidden. */
function checkDownloadAddress(downloadUrl: string, args: Fields): void {
  const { protocol, origin } = new URL(downloadUrl);
  if ((protocol !== 'http:' && protocol !== 'https:') || isForbiddenAddress(downloadUrl, args))
    throw toolFailure(
      'rejected',
      `the site redirected to ${origin}, which browser tools may not use. Nothing was saved`,
    );
}

/** checkFile throws if a download is an executable file that the user has not approved. */
function checkFile({ path, finalUrl }: Download, args: Fields): void {
  const { pathname } = new URL(finalUrl);
  const refusedFileTypes = readTexts(args, '_refusedTypes') ?? [];
  const type = [readFileExtension(path), readFileExtension(decodePath(pathname))].find((fileExtension) =>
    refusedFileTypes.includes(fileExtension),
  );
  if (type !== undefined)
    throw toolFailure('rejected', {
      forAgent:
        `the site sent a program or a script (.${type}), which the address did not announce. Nothing was saved. Ask ` +
        'the user to download the file, or use an address that ends with the name of the file',
      forUser:
        `The site sent a program or a script (.${type}), which the address did not announce. Nothing was saved. ` +
        'Download the file yourself if you trust the site.',
    });
}

/** If the path contains a malformed escape, such as %zz, decodePath returns the path unchanged. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function readFileExtension(path: string): string {
  return /\.([^./\\]+)$/.exec(path.replace(/[. ]+$/, ''))?.[1]?.toLowerCase() ?? '';
}

// ---- waiting ----

/**
 * waitForDownloadEnd waits until a download ends, needs the user's decision, or receives no data for
 * DownloadStallTimeoutMs.
 */
async function waitForDownloadEnd(browser: DownloadsBrowser, call: BrowserCall, id: number): Promise<BrowserResult> {
  let receivedBytes = -1;
  let lastProgressAtMs = Date.now();
  for (;;) {
    const download = await requireDownload(browser, id);
    const downloadText = describeDownload(download);
    if (download.state !== 'in_progress') return { text: downloadText };
    if (download.isPaused) return { text: `${downloadText} Ask the user to resume the download in Chrome.` };
    if (download.receivedBytes !== receivedBytes) {
      receivedBytes = download.receivedBytes;
      lastProgressAtMs = Date.now();
    }
    const stalledMs = Date.now() - lastProgressAtMs;
    if (!harmlessVerdicts.has(download.danger) && stalledMs >= DownloadWarningDelayMs)
      return {
        text: `${downloadText} Chrome has a warning about the file (${download.danger}). Ask the user to decide in Chrome, then wait again.`,
      };
    if (stalledMs >= DownloadStallTimeoutMs)
      return { text: `${downloadText} No data has arrived for 60 s. Wait again, or cancel.` };
    call.report({
      progress: receivedBytes,
      ...(download.totalBytes === undefined ? {} : { total: download.totalBytes }),
      message: formatSize(download),
    });
    await sleep(PollIntervalMs, call.signal);
  }
}

/** harmlessVerdicts contains Chrome's danger verdicts for files that Chrome saves without asking the user. */
const harmlessVerdicts: ReadonlySet<string> = new Set([
  'safe',
  'accepted',
  'allowlistedByPolicy',
  'asyncScanning',
  'asyncLocalPasswordScanning',
  'deepScannedSafe',
  'deepScannedOpenedDangerous',
]);

// ---- descriptions ----

function describeDownload(download: Download): string {
  const name = download.path.split(/[\\/]/).at(-1) ?? '';
  return `Download ${download.id} ${JSON.stringify(name)}: ${formatDownloadState(download)}.`;
}

function formatDownloadState(download: Download): string {
  const { state: downloadState, error, path, isPaused, isFileMissing } = download;
  if (downloadState === 'complete') {
    const size = formatBytes(download.receivedBytes);
    if (isFileMissing) return `done, ${size}, the file no longer exists`;
    const isInFolder = new RegExp(`[\\\\/]${AgentDownloadFolder}[\\\\/][^\\\\/]+$`).test(path);
    return `done, ${size}, ${isInFolder ? `in the folder ${AgentDownloadFolder} of the user's downloads` : 'in a folder that the user chose'}`;
  }
  if (downloadState === 'in_progress') return `${isPaused ? 'paused' : 'running'}, ${formatSize(download)}`;
  if (error === 'USER_CANCELED') return 'cancelled';
  return `failed (${error ?? 'unknown reason'}), ${formatSize(download)}`;
}

function formatSize({ receivedBytes, totalBytes }: Download): string {
  return totalBytes === undefined
    ? formatBytes(receivedBytes)
    : `${formatBytes(receivedBytes)} of ${formatBytes(totalBytes)}`;
}

function makeDownloadFailure({ error }: Download): Error {
  if (error === 'USER_CANCELED') return toolFailure('rejected', 'the download was cancelled in Chrome');
  return toolFailure(
    'download_failed',
    `the download failed: ${error ?? 'Chrome gave no reason'}. Check the address, or try again later`,
  );
}
