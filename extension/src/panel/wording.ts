// Texts that the panel shows: what each state means, and the steps that fix a problem.

import type { CallStatus, InjectMode, World } from '../../../wire/wire.gen.ts';
import type { OptionalPermission } from '../chrome-permissions.ts';
import type { LinkState } from '../worker/link/link.ts';
import type { PairingState } from '../worker/link/pairing.ts';
import { replaceHiddenCharacters } from './plain-text.ts';

export interface Advice {
  readonly title: string;
  /** In each instruction, the text between backquotes is a command line. */
  readonly adviceSteps: readonly string[];
}

/** BrowserPlugin is the plugin name that opentabs uses for its own browser tools. */
const BrowserPlugin = 'browser';

export function isBrowserTool({ plugin }: { readonly plugin: string }): boolean {
  return plugin === BrowserPlugin;
}

/** formatToolName returns the plugin and tool of a call, such as "slack send_message". */
export function formatToolName({ plugin, tool }: { readonly plugin: string; readonly tool: string }): string {
  return plugin === BrowserPlugin ? tool : `${plugin} ${tool}`;
}

/** formatGrantLabel returns the label of the buttons that allow later calls of a client or plugin without approval. */
export function formatGrantLabel(
  call: { readonly plugin: string; readonly tool: string; readonly client?: string },
  caller: { readonly plugin: string } | undefined,
  site = '',
): string {
  const isPlugin = caller !== undefined && caller.plugin !== BrowserPlugin;
  const name = isPlugin
    ? `the plugin ${removeHiddenCharacters(caller.plugin)}`
    : removeHiddenCharacters(call.client ?? '') || 'this agent';
  const isForSite = call.plugin === BrowserPlugin && site !== '';
  return `Allow ${name} ${isForSite ? `on ${removeHiddenCharacters(site)}` : `to run ${removeHiddenCharacters(call.tool)}`} without asking again`;
}

export function makeLinkTitle(link: LinkState | undefined): string {
  switch (link?.kind) {
    case 'open':
      return 'Connected';
    case 'down':
      return 'Not connected';
    default:
      return 'Connecting';
  }
}

/** makeLinkAdvice describes why the connection to the server failed and how to fix it. */
export function makeLinkAdvice(link: LinkState, pairing?: PairingState): Advice | undefined {
  if (link.kind !== 'down') return undefined;
  if (pairing?.code !== undefined && link.why !== 'version') {
    return {
      title: 'Pair this browser with opentabs.',
      adviceSteps: ['Install opentabs on this computer.', 'Run the command below in a terminal. The code works once.'],
    };
  }
  switch (link.why) {
    case 'unpaired':
      return {
        title: 'The server does not know this browser.',
        adviceSteps: [
          'The pairing was removed, or another opentabs installation uses the port. Press “Show a new pairing code”.',
          'Run the command that the panel then shows.',
        ],
      };
    case 'no_server':
      return { title: 'The opentabs server is not running.', adviceSteps: ['Start it with `opentabs serve`.'] };
    case 'refused':
      return {
        title: toSentence(link.text),
        adviceSteps: [
          'Stop the program that uses the port, then start the server.',
          'Run `opentabs extension install` again if the port or the directory of the server changed. Then press “Try again”.',
        ],
      };
    case 'version':
      return { title: 'The extension is incompatible with the server.', adviceSteps: [toSentence(link.text)] };
    case 'replaced':
      return {
        title: 'Another browser uses this connection.',
        adviceSteps: [
          'The other browser runs a copy of this Chrome profile. Close one of the two browsers, then press “Try again”.',
        ],
      };
    case 'lost':
      return {
        title: 'Connection to the server lost. Reconnecting.',
        adviceSteps: link.text ? [toSentence(link.text)] : [],
      };
  }
}

/** makeModeAdvice describes how to enable Chrome's user scripts for the extension, which plugins need. */
export function makeModeAdvice(injectMode: InjectMode): Advice | undefined {
  if (injectMode === 'userScripts') return undefined;
  return {
    title:
      injectMode === 'none'
        ? 'Plugins can’t run yet.'
        : 'Optional: turn on “Allow User Scripts” to update plugins without reloading the extension.',
    adviceSteps: [
      'Open this extension’s details page.',
      'Turn on “Allow User Scripts”.',
      ...(injectMode === 'none' ? ['Reload the tabs that you want to use.'] : []),
    ],
  };
}

/** makeVersionAdvice describes how to update the extension or the server, whichever is older. */
export function makeVersionAdvice(extensionVersion: string, serverVersion: string): Advice | undefined {
  const versionOrder = compareVersions(extensionVersion, serverVersion);
  if (versionOrder === 0) return undefined;
  return versionOrder < 0
    ? {
        title: `The extension (${extensionVersion}) is older than the server (${serverVersion}).`,
        adviceSteps: [
          'Run `opentabs extension install`.',
          'Press the reload button of opentabs on `chrome://extensions`.',
        ],
      }
    : {
        title: `The server (${serverVersion}) is older than the extension (${extensionVersion}).`,
        adviceSteps: ['Run `opentabs upgrade`.', 'Run `opentabs restart`.'],
      };
}

function compareVersions(firstVersion: string, secondVersion: string): number {
  const [firstNumbers, secondNumbers] = [firstVersion.split('.').map(Number), secondVersion.split('.').map(Number)];
  for (const [i, firstNumber] of firstNumbers.entries()) {
    const difference = firstNumber - (secondNumbers[i] ?? 0);
    if (difference !== 0) return Number.isNaN(difference) ? 0 : difference;
  }
  return 0;
}

/** debuggerAdvice is shown after the user has clicked Cancel in Chrome's debugger bar. */
export const debuggerAdvice: Advice = {
  title: 'You switched the debugger off.',
  adviceSteps: [
    'You pressed Cancel in Chrome’s bar. Agents use pages without the debugger, so some pages ignore their clicks, and pictures of background tabs fail.',
  ],
};

export function describeScriptWorld(world: World | undefined): string {
  return world === 'isolated'
    ? 'Isolated: the page’s scripts can neither read nor change the plugin’s variables. Both can read and change the content of the page.'
    : 'Main: the plugin runs beside the page’s own scripts and can use their variables. They can read and change the plugin’s variables.';
}

export const adapterAccessNote =
  'The plugin starts after the page’s scripts. So the page can read the plugin’s settings and run its tools in that tab. Unless you allow it, the plugin gets no secret settings and cannot call other plugins.';

export function isFailure(status: CallStatus): boolean {
  return status === 'failed' || status === 'timed out';
}

export function findStatusWord(status: CallStatus): string {
  const statusWords = {
    pending: 'queued',
    running: 'running',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
    'timed out': 'timed out',
  } as const;
  return statusWords[status];
}

/** formatDuration formats a duration in milliseconds in full seconds, such as "5 min 02 s". */
export function formatDuration(ms: number): string {
  const totalSeconds = Math.max(0, Math.floor(ms / 1000));
  if (totalSeconds < 1) return '0 s';
  if (totalSeconds < 60) return `${totalSeconds} s`;
  const minutes = Math.floor(totalSeconds / 60);
  const remainingSeconds = String(totalSeconds % 60).padStart(2, '0');
  if (minutes < 60) return `${minutes} min ${remainingSeconds} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

export function formatRunTime(ms: number): string {
  if (ms < 1000) return `${Math.max(1, Math.round(ms))} ms`;
  return ms < 10_000 ? `${(Math.floor(ms / 100) / 10).toFixed(1)} s` : formatDuration(ms);
}

/** makeTimeFormatter creates its Intl.DateTimeFormat at the first use, because the creation takes 8 ms. */
function makeTimeFormatter(options: Intl.DateTimeFormatOptions): (ms: number) => string {
  let format: Intl.DateTimeFormat | undefined;
  return (ms) => {
    format ??= new Intl.DateTimeFormat(undefined, options);
    return format.format(ms);
  };
}

const formatClock = makeTimeFormatter({ hour: '2-digit', minute: '2-digit' });
const formatDay = makeTimeFormatter({ day: 'numeric', month: 'short' });

/** formatTimeOfDay formats a time in milliseconds since 1970 as hours and minutes. */
export function formatTimeOfDay(ms: number, nowMs: number = Date.now()): string {
  const isToday = new Date(ms).toDateString() === new Date(nowMs).toDateString();
  return isToday ? formatClock(ms) : `${formatDay(ms)}, ${formatClock(ms)}`;
}

/** formatDateTime formats a time in milliseconds since 1970 as a date with hours, minutes and seconds. */
export const formatDateTime = makeTimeFormatter({ dateStyle: 'medium', timeStyle: 'medium' });

/** formatPercent rounds down, so that only a complete task is shown as 100%. */
export function formatPercent(fraction: number): string {
  const wholePercent = Math.floor(Math.min(1, Math.max(0, fraction)) * 100);
  return `${wholePercent}%`;
}

/** readHost returns the host of a URL, or the text itself if the URL is malformed. */
export function readHost(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function toSentence(plainText: string): string {
  const capitalized = plainText.charAt(0).toUpperCase() + plainText.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

export function removeHiddenCharacters(plainText: string): string {
  return replaceHiddenCharacters(plainText, () => '');
}

export const debuggerStateTexts = {
  absent:
    'Level 1: agents act with a script in the page. Some pages ignore such input. To add Chrome’s debugger, run `opentabs extension install --debugger`.',
  ready: 'Level 2: agents may use Chrome’s debugger. Chrome shows a bar above the page while they do.',
  refused: 'Level 1: you pressed Cancel in the bar of the debugger, so agents act with a script in the page.',
} as const;

export const toolGroupDescriptions: Readonly<Record<string, string>> = {
  core: 'Open tabs, read pages, click, type and wait.',
  vision: 'Act at coordinates of a picture.',
  devtools: 'Console messages, styles, resources, performance, and code in the page.',
  network: 'Requests of the page, their content, and rules that change them.',
  storage: 'Cookies and stored data of sites.',
  browser: 'Windows, tab groups, history, bookmarks and downloads.',
  emulation: 'Other screen sizes, devices and places.',
  webmcp: 'Tools that pages offer themselves.',
};

export const siteRuleTexts: Readonly<Record<string, string>> = {
  off: 'off: agents may do nothing there.',
  read: 'read: agents read without approval, and may not act.',
  ask: 'ask: agents need your approval.',
  auto: 'auto: agents read and act without approval.',
};

interface PermissionTexts {
  readonly title: string;
  readonly permissionEffect: string;
}

/** Chrome grants some optional permissions without a confirmation by the user. */
export const permissionTexts: Readonly<Record<OptionalPermission['name'], PermissionTexts>> = {
  tabGroups: {
    title: 'Tab groups',
    permissionEffect: 'The tabs that an agent opens are in a group with the agent’s name.',
  },
  downloads: { title: 'Downloads', permissionEffect: 'Tools start and list downloads.' },
  history: { title: 'History', permissionEffect: 'Tools search the pages that you have visited.' },
  bookmarks: { title: 'Bookmarks', permissionEffect: 'Tools search and create bookmarks.' },
  cookies: { title: 'Cookies', permissionEffect: 'Tools read and change cookies, which contain your logins.' },
  sessions: { title: 'Recently closed tabs', permissionEffect: 'Tools list and restore tabs that you have closed.' },
  browsingData: {
    title: 'Deleting the data of sites',
    permissionEffect: 'Tools delete cookies, caches and stored data.',
  },
};
