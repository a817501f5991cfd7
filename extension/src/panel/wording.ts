// The panel's words: what each state means and what to do about it.

import type { CallStatus, InjectMode, World } from '../../../wire/wire.gen.ts';
import type { LinkState } from '../worker/link.ts';
import { replaceHidden } from './plain-text.ts';

/** Advice is a fact and what the person can do. */
export interface Advice {
  readonly title: string;
  /** steps are in order; text between backquotes is a command. */
  readonly steps: readonly string[];
}

/** linkTitle says in two or three words how the link stands. */
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

/** linkAdvice says what is wrong with the link; nothing while all is well. */
export function linkAdvice(link: LinkState): Advice | undefined {
  if (link.kind !== 'down') return undefined;
  switch (link.why) {
    case 'not_installed':
      return {
        title: 'This extension does not know its server yet.',
        steps: ['Run `opentabs extension install`.', 'Load the folder it names, if you loaded another one.'],
      };
    case 'no_server':
      return { title: 'The opentabs server is not running.', steps: ['Start it with `opentabs serve`.'] };
    case 'refused':
      return {
        title: sentence(link.text),
        steps: [
          'Stop that program, then start the server.',
          'Run `opentabs extension install` again if the server has another port or another directory, then press “Try again”.',
        ],
      };
    case 'version':
      return { title: 'Server and extension do not fit together.', steps: [sentence(link.text)] };
    case 'replaced':
      return {
        title: 'Another browser took over this connection.',
        steps: ['It runs a copy of this profile. Close one of the two, then press “Try again”.'],
      };
    case 'lost':
      return { title: 'The link to the server was lost. Trying again.', steps: link.text ? [sentence(link.text)] : [] };
  }
}

/** modeAdvice says what to switch on so that plugins can run; nothing while all is well. */
export function modeAdvice(mode: InjectMode): Advice | undefined {
  if (mode === 'userScripts') return undefined;
  return {
    title: mode === 'none' ? 'Plugins can’t run yet.' : 'Plugins run from files.',
    steps: [
      'Open this extension’s details page.',
      'Switch on “Allow User Scripts”.',
      mode === 'none'
        ? 'Reload the tabs you want to use.'
        : 'Plugins are then updated without a reload of the extension.',
    ],
  };
}

/** worldMeaning says what it means for the user that a plugin runs in this world. */
export function worldMeaning(world: World | undefined): string {
  return world === 'isolated'
    ? 'Isolated: its code is apart from the page’s scripts, which can neither read nor change what it works with; both share the page’s content.'
    : 'Main: its code runs among the page’s own scripts and can use what they define; they can see and change what it works with in the page.';
}

/** lateMeaning says what it means that a plugin starts late. */
export const lateMeaning =
  'It starts after the page’s scripts, so the page can read its settings and run its tools in that tab. It gets no secret settings and calls no other plugin unless you allow it.';

/** statusWord is a call's status for a person. */
export function statusWord(status: CallStatus): string {
  const words = {
    pending: 'waiting',
    running: 'running',
    done: 'done',
    failed: 'failed',
    cancelled: 'stopped',
  } as const;
  return words[status];
}

/** duration writes milliseconds as people say them. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 1) return '0 s';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = String(seconds % 60).padStart(2, '0');
  if (minutes < 60) return `${minutes} min ${rest} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** percent writes a share from 0 to 1; only what is whole is 100%. */
export function percent(share: number): string {
  const whole = Math.floor(Math.min(1, Math.max(0, share)) * 100);
  return `${whole}%`;
}

/** hostOf is what tells a tab from others in a narrow panel. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/**
 * plain removes hidden characters from a text of a page, a tool or a client (plain-text.ts): control characters, marks that
 * change the writing direction, and invisible letters.
 */
export function plain(text: string): string {
  return replaceHidden(text, () => '');
}
