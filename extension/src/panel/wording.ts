// Contains the texts of the panel: the meaning of each state, and the steps that fix a problem.

import type { CallStatus, InjectMode, World } from '../../../wire/wire.gen.ts';
import type { LinkState } from '../worker/link/link.ts';
import { replaceHidden } from './plain-text.ts';

/** Advice is a problem and the steps that fix it. */
export interface Advice {
  readonly title: string;
  /** steps are in order; text between backquotes is a command. */
  readonly steps: readonly string[];
}

/** BrowserPlugin is the name of the plugin of the browser tools, which is part of opentabs. */
const BrowserPlugin = 'browser';

/** toolText returns the plugin and the tool of a call, and only the tool for a browser tool. */
export function toolText({ plugin, tool }: { readonly plugin: string; readonly tool: string }): string {
  return plugin === BrowserPlugin ? tool : `${plugin} ${tool}`;
}

/**
 * grantText returns the question about a permission for later calls. The caller is the client or the plugin that gets
 * the permission; browser_batch makes its calls for the client. A site limits the permission to the site.
 */
export function grantText(
  client: string | undefined,
  caller: { readonly plugin: string } | undefined,
  site = '',
): string {
  const isPlugin = caller !== undefined && caller.plugin !== BrowserPlugin;
  const name = isPlugin ? `the plugin ${removeHidden(caller.plugin)}` : removeHidden(client ?? '') || 'this agent';
  return `Allow ${name} ${site === '' ? '' : `on ${removeHidden(site)} `}without asking again`;
}

/** linkTitle returns the state of the link in one or two words. */
export function linkTitle(link: LinkState | undefined): string {
  switch (link?.kind) {
    case 'open':
      return 'Connected';
    case 'down':
      return 'Not connected';
    default:
      return 'Connecting';
  }
}

/** linkAdvice returns the problem of a link and its fix, or undefined for a working link. */
export function linkAdvice(link: LinkState): Advice | undefined {
  if (link.kind !== 'down') return undefined;
  switch (link.why) {
    case 'not_installed':
      return {
        title: 'This extension is not set up yet.',
        steps: [
          'Run `opentabs extension install`.',
          'If you loaded another folder, load the folder that the command prints.',
        ],
      };
    case 'no_server':
      return { title: 'The opentabs server is not running.', steps: ['Start it with `opentabs serve`.'] };
    case 'refused':
      return {
        title: asSentence(link.text),
        steps: [
          'Stop the program that uses the port, then start the server.',
          'Run `opentabs extension install` again if the port or the directory of the server changed. Then press “Try again”.',
        ],
      };
    case 'version':
      return { title: 'The extension is incompatible with the server.', steps: [asSentence(link.text)] };
    case 'replaced':
      return {
        title: 'Another browser uses this connection.',
        steps: [
          'The other browser runs a copy of this Chrome profile. Close one of the two browsers, then press “Try again”.',
        ],
      };
    case 'lost':
      return { title: 'Connection to the server lost. Reconnecting.', steps: link.text ? [asSentence(link.text)] : [] };
  }
}

/** modeAdvice returns how to enable user scripts, which plugins need, or undefined if user scripts are enabled. */
export function modeAdvice(mode: InjectMode): Advice | undefined {
  if (mode === 'userScripts') return undefined;
  return {
    title:
      mode === 'none'
        ? 'Plugins can’t run yet.'
        : 'Optional: turn on “Allow User Scripts” to update plugins without reloading the extension.',
    steps: [
      'Open this extension’s details page.',
      'Turn on “Allow User Scripts”.',
      ...(mode === 'none' ? ['Reload the tabs that you want to use.'] : []),
    ],
  };
}

/** debuggerAdvice describes what a Cancel in the bar of the debugger means. */
export const debuggerAdvice: Advice = {
  title: 'You switched the debugger off.',
  steps: [
    'You pressed Cancel in Chrome’s bar. Agents use pages without the debugger, so some pages ignore their clicks, and pictures of background tabs fail.',
  ],
};

/** worldEffect describes what the world of a plugin means for the user. */
export function worldEffect(world: World | undefined): string {
  return world === 'isolated'
    ? 'Isolated: the page’s scripts can neither read nor change the plugin’s variables. Both can read and change the content of the page.'
    : 'Main: the plugin runs beside the page’s own scripts and can use their variables. They can read and change the plugin’s variables.';
}

/** lateEffect describes what the late start of a plugin means for the user. */
export const lateEffect =
  'The plugin starts after the page’s scripts. So the page can read the plugin’s settings and run its tools in that tab. Unless you allow it, the plugin gets no secret settings and cannot call other plugins.';

/** statusWord returns the text for the status of a call. */
export function statusWord(status: CallStatus): string {
  const words = {
    pending: 'queued',
    running: 'running',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
  } as const;
  return words[status];
}

/** formatDuration returns milliseconds as text, such as "5 min 02 s". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 1) return '0 s';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const restSeconds = String(seconds % 60).padStart(2, '0');
  if (minutes < 60) return `${minutes} min ${restSeconds} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** formatPercent returns a share from 0 to 1 as text, rounded down: only a complete share is 100%. */
export function formatPercent(share: number): string {
  const wholePercent = Math.floor(Math.min(1, Math.max(0, share)) * 100);
  return `${wholePercent}%`;
}

/** hostOf returns the host of a URL, or the whole text if the URL is malformed. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function asSentence(text: string): string {
  const capitalized = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

/**
 * removeHidden removes hidden characters (plain-text.ts) from a text, such as control characters, invisible letters and
 * marks of writing direction.
 */
export function removeHidden(text: string): string {
  return replaceHidden(text, () => '');
}
