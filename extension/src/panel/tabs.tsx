import type { VNode } from 'preact';
import type { PanelPlugin, PanelTab } from '../panel-message.ts';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { AllowSiteButton, type SiteAccessProps } from './site-access.tsx';
import { readHost, removeHiddenCharacters } from './wording.ts';

export interface TabsProps {
  readonly tabs: readonly PanelTab[];
  readonly grantSite: SiteAccessProps['grant'];
  readonly sendAction: SendAction;
}

export function TabList({ tabs, grantSite, sendAction }: TabsProps): VNode {
  return (
    <section aria-labelledby="tabs">
      <h2 id="tabs">
        Tabs <span class="count">{tabs.length}</span>
      </h2>
      {tabs.length === 0 && <p class="empty">No open tab matches a plugin.</p>}
      <ul class="tabs">
        {tabs.map((tab) => (
          <TabRow key={tab.tabId} tab={tab} grantSite={grantSite} sendAction={sendAction} />
        ))}
      </ul>
    </section>
  );
}

function TabRow({ tab, grantSite, sendAction }: Omit<TabsProps, 'tabs'> & { readonly tab: PanelTab }): VNode {
  const { error, runAction } = usePanelAction(sendAction);
  const needsReload = tab.plugins.some((plugin) => plugin.status === 'reload' || plugin.status === 'silent');
  const title = removeHiddenCharacters(tab.title) || readHost(tab.url);
  return (
    <li>
      <div class="head">
        <button
          type="button"
          class="tab"
          title={removeHiddenCharacters(tab.url)}
          onClick={() => void runAction({ op: 'show', tabId: tab.tabId })}
        >
          <span class="title">{title}</span>
          <span class="host">{readHost(tab.url)}</span>
        </button>
        {needsReload && (
          <button
            type="button"
            aria-label={`Reload ${title}`}
            onClick={() => void runAction({ op: 'reload', tabId: tab.tabId })}
          >
            Reload
          </button>
        )}
      </div>
      <ul class="chips">
        {tab.plugins.map((plugin) => (
          <li key={plugin.name} class={`chip ${plugin.status}`} title={removeHiddenCharacters(plugin.problem ?? '')}>
            {removeHiddenCharacters(plugin.displayName) || plugin.name}: {statusWords[plugin.status]}
          </li>
        ))}
      </ul>
      {tab.plugins.map((plugin) => plugin.problem && <PluginProblem key={plugin.name} plugin={plugin} />)}
      {tab.plugins.some((plugin) => plugin.status === 'noAccess') && (
        <AllowSiteButton host={new URL(tab.url).hostname} grantAccess={grantSite} />
      )}
      {error && <p class="error">{error}</p>}
    </li>
  );
}

const statusWords = {
  live: 'ready',
  reload: 'needs a reload',
  silent: 'not answering',
  broken: 'failed to start',
  noAccess: 'no access to the site',
} as const;

function PluginProblem({ plugin }: { readonly plugin: PanelPlugin }): VNode {
  return (
    <p class="error">
      {removeHiddenCharacters(plugin.displayName) || plugin.name}: {removeHiddenCharacters(plugin.problem ?? '')}
    </p>
  );
}
