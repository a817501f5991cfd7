import { LoadErrorNoAccess, type PluginInfo, type TabInfo } from '../../../../wire/wire.gen.ts';
import type { PanelPlugin, PanelTab } from '../../panel-message.ts';
import type { LivePlugins } from '../delivery/live-plugins.ts';
import type { DocumentTable } from '../documents/docs.ts';

export interface PanelTabsOptions {
  /** The field `tabs` contains the tabs that the worker has reported to the server. */
  readonly tabs: readonly TabInfo[];
  readonly wantedPlugins: readonly PluginInfo[];
  readonly docs: Pick<DocumentTable, 'findTopDoc'>;
  readonly livePlugins: Pick<LivePlugins, 'problem'>;
}

/** makePanelTabs returns the status of each plugin in each tab, for the side panel. */
export function makePanelTabs({ tabs, wantedPlugins, docs, livePlugins }: PanelTabsOptions): PanelTab[] {
  return tabs.map((tab) => {
    const liveDocument = docs.findTopDoc(tab.tabId);
    const topPlugins = liveDocument?.plugins ?? [];
    const framePlugins = (tab.frames ?? []).flatMap((frame) => frame.plugins ?? []);
    const panelPlugins = wantedPlugins.flatMap((plugin): PanelPlugin[] => {
      const { name, displayName, hash } = plugin;
      if (tab.loadError === LoadErrorNoAccess && tab.needsReload?.includes(name))
        return [{ name, displayName, status: 'noAccess' }];
      const topFramePlugin = topPlugins.find((p) => p.name === name);
      const liveAdapters = [...topPlugins, ...framePlugins].filter((p) => p.name === name && p.hash === hash);
      if (tab.unresponsive) return [{ name, displayName, status: 'silent' }];
      const pluginProblem = topFramePlugin?.problem ?? (liveDocument && livePlugins.problem(liveDocument.doc, plugin));
      if (pluginProblem !== undefined) return [{ name, displayName, status: 'broken', problem: pluginProblem }];
      if (liveAdapters.length > 0)
        return [{ name, displayName, status: 'live', ready: liveAdapters.some((p) => p.ready === true) }];
      if (topFramePlugin || tab.needsReload?.includes(name)) return [{ name, displayName, status: 'reload' }];
      return [];
    });
    return { tabId: tab.tabId, title: tab.title, url: tab.url, plugins: panelPlugins };
  });
}
