// Determines which setup steps the user still has to do before an agent can make the first call.

import type { CallView, PluginView, StateBrowserParams } from '../../../wire/wire.gen.ts';
import type { PanelState } from '../panel-message.ts';
import { removeHiddenCharacters } from './wording.ts';

export type ChecklistStepId = 'server' | 'browser' | 'tools' | 'client' | 'call';

export interface ChecklistStep {
  readonly id: ChecklistStepId;
  readonly title: string;
  readonly isDone: boolean;
  readonly text: string;
  readonly copyTexts: readonly { readonly label: string; readonly text: string }[];
}

export interface ChecklistFacts {
  readonly panelState: PanelState;
  readonly plugins: readonly PluginView[];
  readonly browserTools: StateBrowserParams | undefined;
  readonly recentCalls: readonly CallView[];
}

/** listSteps returns the setup steps in order, from the server connection to the first call. */
export function listSteps(checklistFacts: ChecklistFacts): readonly ChecklistStep[] {
  return [
    makeServerStep(checklistFacts),
    makeBrowserStep(checklistFacts),
    makeToolsStep(checklistFacts),
    makeClientStep(checklistFacts),
    makeCallStep(checklistFacts),
  ];
}

export function hasSuccessfulCall(recentCalls: readonly CallView[]): boolean {
  return recentCalls.some((call) => call.status === 'done');
}

function makeServerStep({ panelState: { link } }: ChecklistFacts): ChecklistStep {
  const isDone = link.kind === 'open';
  return {
    id: 'server',
    title: 'Server',
    isDone,
    text: isDone ? `Running, version ${link.serverVersion}.` : 'Not connected.',
    copyTexts:
      link.kind === 'down' && link.why === 'no_server'
        ? [{ label: 'command to start the server', text: 'opentabs serve' }]
        : [],
  };
}

function makeBrowserStep({ panelState: { link, injectMode, browserName } }: ChecklistFacts): ChecklistStep {
  const isConnected = link.kind === 'open';
  const isDone = isConnected && injectMode !== 'none';
  const connectedText = browserName === '' ? 'Connected.' : `Connected as “${removeHiddenCharacters(browserName)}”.`;
  return {
    id: 'browser',
    title: 'Browser',
    isDone,
    text: isDone ? connectedText : isConnected ? '' : 'Connects when the server runs.',
    copyTexts: [],
  };
}

function makeToolsStep({ plugins, browserTools }: ChecklistFacts): ChecklistStep {
  const enabledPlugins = plugins.filter((plugin) => plugin.reviewed && plugin.permission !== 'off');
  const hasBrowserTools = browserTools !== undefined && browserTools.permission !== 'off';
  const isDone = hasBrowserTools || enabledPlugins.length > 0;
  const stepTexts = [
    hasBrowserTools && 'Browser tools are on.',
    enabledPlugins.length === 1 && '1 plugin is enabled.',
    enabledPlugins.length > 1 && `${enabledPlugins.length} plugins are enabled.`,
  ];
  return {
    id: 'tools',
    title: 'Tools',
    isDone,
    text: isDone
      ? stepTexts.filter(Boolean).join(' ')
      : 'Turn on browser tools, which work on every page after your approval, or install a plugin for a site:',
    copyTexts: isDone ? [] : [{ label: 'command to search plugins', text: 'opentabs plugin search slack' }],
  };
}

function makeClientStep({ panelState: { clients } }: ChecklistFacts): ChecklistStep {
  const isDone = clients.length > 0;
  return {
    id: 'client',
    title: 'MCP client',
    isDone,
    text: isDone
      ? `Connected: ${clients.map(removeHiddenCharacters).join(', ')}.`
      : 'Connect Claude Code, Cursor, VS Code or another client, then start the client:',
    copyTexts: isDone ? [] : [{ label: 'command to connect clients', text: 'opentabs setup' }],
  };
}

function makeCallStep({ recentCalls }: ChecklistFacts): ChecklistStep {
  const isDone = hasSuccessfulCall(recentCalls);
  return {
    id: 'call',
    title: 'First call',
    isDone,
    text: isDone ? 'An agent has used this browser.' : 'Ask your agent, or run the demo:',
    copyTexts: isDone
      ? []
      : [
          { label: 'question for your agent', text: 'List my open tabs with opentabs.' },
          { label: 'command of the demo', text: 'opentabs demo' },
        ],
  };
}
