import type { VNode } from 'preact';
import type { BrowserGroupView, BrowserToolView, StateBrowserParams } from '../../../wire/wire.gen.ts';
import type { DebuggerState } from '../worker/browser/debugger/debuggers.ts';
import { ErrorText, ToggleSwitch } from './choice.tsx';
import { ChromePermissions, type ChromePermissionsProps } from './chrome-permissions.tsx';
import { renderCommands } from './commands.tsx';
import { usePanelAction } from './panel-action.ts';
import { PermissionSelect } from './permission-select.tsx';
import type { SendAction } from './requests.ts';
import { ChromeSites, type SiteAccessProps } from './site-access.tsx';
import { SiteRules } from './site-rules.tsx';
import { debuggerStateTexts, removeHiddenCharacters, toolGroupDescriptions } from './wording.ts';

export interface BrowserCardProps {
  readonly tools: StateBrowserParams | undefined;
  readonly debuggerState: DebuggerState;
  readonly chromePermissions: ChromePermissionsProps;
  readonly siteAccess: SiteAccessProps;
  readonly sendAction: SendAction;
}

export function BrowserCard(cardProps: BrowserCardProps): VNode | null {
  const { tools, debuggerState, chromePermissions, siteAccess, sendAction } = cardProps;
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  if (!tools) return null;
  const isToolOn = tools.permission !== 'off';
  const toolGroups = tools.groups ?? [];
  return (
    <>
      <section aria-labelledby="browser-tools">
        <h2 id="browser-tools">Browser tools</h2>
        <div class="card">
          <ToggleSwitch
            label="Agents may use browser tools"
            current={isToolOn}
            isBusy={isBusy}
            sendChoice={(on) => runAction({ op: 'browserTools', params: { on } })}
          />
          <p class="note">
            {isToolOn
              ? 'Agents read and use pages without a plugin. Each site needs your approval, unless a rule below allows it.'
              : 'Off: agents can use plugins only.'}
          </p>
          <ErrorText errorText={error} />
          {isToolOn && <p class="note">{renderCommands(debuggerStateTexts[debuggerState])}</p>}
        </div>
      </section>
      {isToolOn && toolGroups.length > 0 && (
        <section aria-labelledby="groups">
          <h2 id="groups">Groups of tools</h2>
          <ul class="groups">
            {toolGroups.map((toolGroup) => (
              <ToolGroupSection key={toolGroup.name} toolGroup={toolGroup} sendAction={sendAction} />
            ))}
          </ul>
        </section>
      )}
      {isToolOn && <SiteRules sites={tools.sites ?? []} sendAction={sendAction} />}
      {isToolOn && <ChromePermissions {...chromePermissions} />}
      <ChromeSites {...siteAccess} />
    </>
  );
}

function ToolGroupSection({
  toolGroup,
  sendAction,
}: {
  readonly toolGroup: BrowserGroupView;
  readonly sendAction: SendAction;
}): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const tools = toolGroup.tools ?? [];
  const harmlessTools = tools.filter((tool) => !tool.dangerous);
  const enabledToolCount = tools.filter(isToolEnabled).length;
  const name = removeHiddenCharacters(toolGroup.name);
  return (
    <li class="card">
      <div class="head">
        {harmlessTools.length > 0 ? (
          <ToggleSwitch
            label={<strong>{name}</strong>}
            current={harmlessTools.some(isToolEnabled)}
            isBusy={isBusy}
            sendChoice={(on) => runAction({ op: 'browserTools', params: { names: [toolGroup.name], on } })}
          />
        ) : (
          <strong>{name}</strong>
        )}
        <span class="count">
          {enabledToolCount} of {tools.length} on
        </span>
      </div>
      {toolGroupDescriptions[toolGroup.name] && <p class="note">{toolGroupDescriptions[toolGroup.name]}</p>}
      <ErrorText errorText={error} />
      <details>
        <summary class="fold">Tools of {name}</summary>
        <ul class="tools">
          {tools.map((tool) => (
            <ToolRow key={tool.name} tool={tool} sendAction={sendAction} />
          ))}
        </ul>
      </details>
    </li>
  );
}

function isToolEnabled(tool: BrowserToolView): boolean {
  return tool.permission !== 'off';
}

function ToolRow({ tool, sendAction }: { readonly tool: BrowserToolView; readonly sendAction: SendAction }): VNode {
  return (
    <li>
      <span class="tool">
        {tool.name}
        {tool.dangerous && <span class="danger">dangerous</span>}
      </span>
      <PermissionSelect
        label={`Permission of ${tool.name}`}
        plugin="browser"
        tool={tool.name}
        permission={tool.permission}
        sendAction={sendAction}
      />
    </li>
  );
}
