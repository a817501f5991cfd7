import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectedToolView, PluginView, ToolView } from '../../../wire/wire.gen.ts';
import { usePanelAction } from './panel-action.ts';
import { PermissionSelect } from './permission-select.tsx';
import { countToolPermissions, groupTools } from './plugin-words.ts';
import type { SendAction } from './requests.ts';
import { mapToolDescriptions } from './review-words.ts';
import { useInspection } from './use-inspection.ts';
import { removeHiddenCharacters } from './wording.ts';

export function ToolsSection({
  plugin,
  sendAction,
}: {
  readonly plugin: PluginView;
  readonly sendAction: SendAction;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const tools = plugin.tools ?? [];
  const ownPermissions = countToolPermissions(tools);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {tools.length === 1 ? '1 tool' : `${tools.length} tools`}
        {ownPermissions > 0 && `, ${ownPermissions} with ${ownPermissions === 1 ? 'its' : 'their'} own permission`}
      </summary>
      {isOpen && <OpenTools plugin={plugin} sendAction={sendAction} />}
    </details>
  );
}

/** OpenTools shows the list of tools at once, and adds their descriptions when the server has sent them. */
function OpenTools({ plugin, sendAction }: { readonly plugin: PluginView; readonly sendAction: SendAction }): VNode {
  const toolDescriptions = mapToolDescriptions(useInspection(plugin.name, sendAction).inspection);
  return (
    <ToolList tools={plugin.tools ?? []}>
      {(tool) => (
        <>
          <ToolName tool={tool} description={toolDescriptions.get(tool.name)} />
          <AllowedCallers plugin={plugin.name} tool={tool} sendAction={sendAction} />
          <PermissionSelect
            label={`Permission of ${tool.name}`}
            plugin={plugin.name}
            tool={tool.name}
            permission={tool.permission}
            inheritedPermission={plugin.permission}
            sendAction={sendAction}
          />
        </>
      )}
    </ToolList>
  );
}

function AllowedCallers({
  plugin,
  tool,
  sendAction,
}: {
  readonly plugin: string;
  readonly tool: ToolView;
  readonly sendAction: SendAction;
}): VNode | null {
  const { isBusy, runAction } = usePanelAction(sendAction);
  const callerTexts = (tool.allowed ?? []).map(({ client, caller }) =>
    caller ? `the plugin ${removeHiddenCharacters(caller)}` : removeHiddenCharacters(client ?? '') || 'an agent',
  );
  if (callerTexts.length === 0) return null;
  const { name, permission } = tool;
  const params = { plugin, tool: name, ...(permission ? { permission } : {}) };
  return (
    <span class="allowed">
      always for {callerTexts.join(', ')}{' '}
      <button type="button" disabled={isBusy} onClick={() => void runAction({ op: 'permission', params })}>
        Ask again
      </button>
    </span>
  );
}

export function ToolList(toolListProps: {
  readonly tools: readonly ToolView[];
  readonly children: (tool: ToolView) => VNode;
}): VNode {
  return (
    <>
      {groupTools(toolListProps.tools).map(({ toolCategory, tools }) => (
        <div key={toolCategory} class="group">
          {toolCategory && <h4 class="category">{toolCategory}</h4>}
          <ul class="tools" aria-label={toolCategory || undefined}>
            {tools.map((tool) => (
              <li key={tool.name}>{toolListProps.children(tool)}</li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

interface ToolNameProps {
  readonly tool: ToolView;
  readonly description?: InspectedToolView | undefined;
}

export function ToolName({ tool, description }: ToolNameProps): VNode {
  return (
    <span class="tool" title={removeHiddenCharacters(tool.displayName)}>
      {tool.name}
      {tool.readOnly && <span class="reads">read-only</span>}
      {!tool.readOnly && !description?.destructive && <span class="writes">may write</span>}
      {description?.destructive && <span class="danger">may destroy</span>}
      {description && <span class="tool-description">{removeHiddenCharacters(description.description)}</span>}
    </span>
  );
}
