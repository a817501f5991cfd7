import type { VNode } from 'preact';
import type { FromPanel, PanelPlugin, PanelState, PanelTab } from '../panel-message.ts';
import { hostOf, plain } from './wording.ts';

export interface TabsProps {
  readonly tabs: readonly PanelTab[];
  readonly plugins: PanelState['plugins'];
  act(action: FromPanel): void;
}

/** Tabs shows which plugins there are and in which tabs they work. */
export function Tabs({ tabs, plugins, act }: TabsProps): VNode {
  const idle = plugins.filter((plugin) => !tabs.some((tab) => tab.plugins.some((p) => p.name === plugin.name)));
  return (
    <section aria-labelledby="plugins">
      <h2 id="plugins">
        Plugins <span class="count">{plugins.length}</span>
      </h2>
      {plugins.length === 0 && (
        <p class="empty">
          No plugin is installed. Add one with <code>opentabs plugin add</code>.
        </p>
      )}
      <ul class="tabs">
        {tabs.map((tab) => (
          <Tab key={tab.tabId} tab={tab} act={act} />
        ))}
      </ul>
      {idle.length > 0 && (
        <p class="empty">Not open in any tab: {idle.map((plugin) => plugin.displayName || plugin.name).join(', ')}.</p>
      )}
    </section>
  );
}

function Tab({ tab, act }: { tab: PanelTab; act(action: FromPanel): void }): VNode {
  const stale = tab.plugins.some((plugin) => plugin.status === 'reload');
  const title = plain(tab.title) || hostOf(tab.url);
  return (
    <li>
      <div class="head">
        <button type="button" class="tab" title={plain(tab.url)} onClick={() => act({ op: 'show', tabId: tab.tabId })}>
          <span class="title">{title}</span>
          <span class="host">{hostOf(tab.url)}</span>
        </button>
        {stale && (
          <button type="button" aria-label={`Reload ${title}`} onClick={() => act({ op: 'reload', tabId: tab.tabId })}>
            Reload
          </button>
        )}
      </div>
      <ul class="chips">
        {tab.plugins.map((plugin) => (
          <li key={plugin.name} class={`chip ${plugin.status}`} title={plain(plugin.problem ?? '')}>
            {plugin.displayName || plugin.name}: {words[plugin.status]}
          </li>
        ))}
      </ul>
      {tab.plugins.map((plugin) => plugin.problem && <Problem key={plugin.name} plugin={plugin} />)}
    </li>
  );
}

const words = { live: 'ready', reload: 'needs a reload', broken: 'failed to start' } as const;

function Problem({ plugin }: { plugin: PanelPlugin }): VNode {
  return (
    <p class="error">
      {plugin.displayName || plugin.name}: {plain(plugin.problem ?? '')}
    </p>
  );
}
