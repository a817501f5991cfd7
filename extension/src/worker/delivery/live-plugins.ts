import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Doc, DocumentTable, DocWithPlugins } from '../documents/docs.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { AdapterDelivery } from './delivery.ts';
import type { HotReload } from './hot-reload.ts';

export interface LivePluginsOptions {
  readonly docs: Pick<DocumentTable, 'findTopDoc' | 'listReportedFrames' | 'findReported'>;
  readonly plugins: Pick<Plugins, 'wantedPlugins' | 'canRun'>;
  readonly hotReload: Pick<HotReload, 'expects' | 'canReplace' | 'problem'>;
  readonly delivery: Pick<AdapterDelivery, 'expects' | 'problem' | 'isBroken'>;
}

/**
 * LivePlugins reports which plugins a call can use in a document. LivePlugins combines the adapters that documents
 * report with the adapters that the worker is injecting or replacing.
 */
export class LivePlugins {
  readonly #options: LivePluginsOptions;

  constructor(options: LivePluginsOptions) {
    this.#options = options;
  }

  /**
   * The method `top` returns a tab's top document with two kinds of plugins: those that calls can use, and those that
   * failed.
   */
  top(tabId: number): DocWithPlugins | undefined {
    const liveDocument = this.#options.docs.findTopDoc(tabId);
    return liveDocument && this.#filterUsablePlugins(liveDocument);
  }

  frames(tabId: number): DocWithPlugins[] {
    return this.#options.docs.listReportedFrames(tabId).map((liveDocument) => this.#filterUsablePlugins(liveDocument));
  }

  problem({ documentId }: Doc, plugin: PluginInfo): string | undefined {
    const { delivery, hotReload } = this.#options;
    return delivery.problem(documentId, plugin.name) ?? hotReload.problem(documentId, plugin);
  }

  isArriving(tabId: number, plugin: string): boolean {
    const liveDocument = this.#options.docs.findTopDoc(tabId);
    return liveDocument !== undefined && this.#options.delivery.expects(liveDocument.doc.documentId, plugin);
  }

  /**
   * isSettled reports whether reloading a tab would not help a plugin, because the plugin is running, failed or being
   * injected.
   */
  isSettled(tabId: number, plugin: PluginInfo, frame?: string): boolean {
    const { docs, delivery, hotReload } = this.#options;
    const { name, hash } = plugin;
    const liveDocument = frame === undefined ? docs.findTopDoc(tabId) : docs.findReported(frame);
    const isSettledInDocument = ({ doc, plugins }: DocWithPlugins) =>
      plugins.some((p) => p.name === name && p.hash === hash) ||
      delivery.isBroken(doc.documentId, name) ||
      hotReload.canReplace(doc, plugin) ||
      delivery.expects(doc.documentId, name);
    return (liveDocument !== undefined && isSettledInDocument(liveDocument)) || hotReload.expects(tabId, name);
  }

  /**
   * A call cannot use a plugin that is disabled, whose pre-script or world is outdated, or whose adapter is being
   * replaced. filterUsablePlugins adds the wanted plugins that failed to start, with their errors.
   */
  #filterUsablePlugins({ doc, plugins: liveDocument }: DocWithPlugins): DocWithPlugins {
    const { plugins, hotReload } = this.#options;
    const runnablePlugins = plugins.wantedPlugins.filter((plugin) => plugins.canRun(plugin));
    const usablePlugins = liveDocument.filter(
      ({ name, base }) =>
        runnablePlugins.some((plugin) => plugin.name === name && plugin.base === base) &&
        !hotReload.expects(doc.tabId, name),
    );
    const failedPlugins = plugins.wantedPlugins.flatMap((plugin) => {
      const { name, hash } = plugin;
      const problem = this.problem(doc, plugin);
      if (problem === undefined || usablePlugins.some((p) => p.name === name && p.hash === hash)) return [];
      return [{ name, hash, problem }];
    });
    return { doc, plugins: [...usablePlugins, ...failedPlugins] };
  }
}
