import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { listMissingSettings } from './setting-draft.ts';

export type PanelView = 'calls' | 'browser' | 'plugins';

export interface ViewsProps {
  readonly view: PanelView;
  showView(view: PanelView): void;
  readonly runningCount: number;
  readonly plugins: readonly PluginView[];
  readonly tabs: readonly PanelTab[];
}

const viewOrder: readonly PanelView[] = ['calls', 'browser', 'plugins'];

export function ViewTabs({ view, showView, runningCount, plugins, tabs }: ViewsProps): VNode {
  const tabList = useRef<HTMLDivElement>(null);
  const onArrowKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const viewOffset = event.key === 'ArrowRight' ? 1 : viewOrder.length - 1;
    const nextView = viewOrder[(viewOrder.indexOf(view) + viewOffset) % viewOrder.length] ?? view;
    showView(nextView);
    tabList.current?.querySelector<HTMLElement>(`#view-${nextView}`)?.focus();
  };
  const taskCount = countTasks(plugins, tabs);
  return (
    <div class="views" role="tablist" aria-label="What to show" ref={tabList} onKeyDown={onArrowKey}>
      <ViewTab name="calls" title="Calls" view={view} showView={showView}>
        {runningCount > 0 && <span class="count">{runningCount}</span>}
      </ViewTab>
      <ViewTab name="browser" title="Browser" view={view} showView={showView} />
      <ViewTab name="plugins" title="Plugins" view={view} showView={showView}>
        {taskCount > 0 ? (
          <span class="todo" title="Plugins to review or set up, tabs to reload">
            {taskCount}
          </span>
        ) : (
          <span class="count">{plugins.length || ''}</span>
        )}
      </ViewTab>
    </div>
  );
}

interface SwitchProps {
  readonly name: PanelView;
  readonly title: string;
  readonly view: PanelView;
  readonly children?: VNode | false;
  showView(view: PanelView): void;
}

function ViewTab({ name, title, view, showView, children }: SwitchProps): VNode {
  const isSelected = name === view;
  return (
    <button
      type="button"
      role="tab"
      id={`view-${name}`}
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      onClick={() => showView(name)}
    >
      {title} {children}
    </button>
  );
}

/** countTasks counts the tasks of the user: plugins to review or set up, tabs to reload, and failed adapters. */
function countTasks(plugins: readonly PluginView[], tabs: readonly PanelTab[]): number {
  const pluginsWithTasks = plugins.filter(
    (plugin) =>
      !plugin.reviewed || (plugin.permission !== 'off' && listMissingSettings(plugin.settings ?? []).length > 0),
  );
  return pluginsWithTasks.length + tabs.filter((tab) => tab.plugins.some((plugin) => plugin.status !== 'live')).length;
}
