import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { missingSettings } from './setting-draft.ts';

/** View names the content of the lower part of the panel. */
export type View = 'calls' | 'plugins';

export interface ViewsProps {
  readonly view: View;
  show(view: View): void;
  readonly running: number;
  readonly plugins: readonly PluginView[];
  readonly tabs: readonly PanelTab[];
}

const order: readonly View[] = ['calls', 'plugins'];

/** Views are the two tabs "Calls" and "Plugins". Arrow keys switch between them. */
export function Views({ view, show, running, plugins, tabs }: ViewsProps): VNode {
  const list = useRef<HTMLDivElement>(null);
  const other = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const next = order.find((one) => one !== view) ?? view;
    show(next);
    list.current?.querySelector<HTMLElement>(`#view-${next}`)?.focus();
  };
  const todo = countTasks(plugins, tabs);
  return (
    <div class="views" role="tablist" aria-label="What to show" ref={list} onKeyDown={other}>
      <Switch name="calls" title="Calls" view={view} show={show}>
        {running > 0 && <span class="count">{running}</span>}
      </Switch>
      <Switch name="plugins" title="Plugins" view={view} show={show}>
        {todo > 0 ? (
          <span class="todo" title="Plugins to review or set up, tabs to reload">
            {todo}
          </span>
        ) : (
          <span class="count">{plugins.length || ''}</span>
        )}
      </Switch>
    </div>
  );
}

interface SwitchProps {
  readonly name: View;
  readonly title: string;
  readonly view: View;
  readonly children: VNode | false;
  show(view: View): void;
}

function Switch({ name, title, view, show, children }: SwitchProps): VNode {
  const on = name === view;
  return (
    <button
      type="button"
      role="tab"
      id={`view-${name}`}
      aria-selected={on}
      tabIndex={on ? 0 : -1}
      onClick={() => show(name)}
    >
      {title} {children}
    </button>
  );
}

/** countTasks counts what needs the user: plugins to review or to set up, tabs to reload, adapters that failed. */
function countTasks(plugins: readonly PluginView[], tabs: readonly PanelTab[]): number {
  const wanting = plugins.filter(
    (plugin) => !plugin.reviewed || (plugin.permission !== 'off' && missingSettings(plugin.settings ?? []).length > 0),
  );
  return wanting.length + tabs.filter((tab) => tab.plugins.some((plugin) => plugin.status !== 'live')).length;
}
