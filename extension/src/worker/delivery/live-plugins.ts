import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Doc, Docs, LiveDoc } from '../documents/docs.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { Delivery } from './delivery.ts';
import type { HotReload } from './hot-reload.ts';

export interface LivePluginsOptions {
  readonly docs: Pick<Docs, 'live' | 'frames' | 'findReported'>;
  readonly plugins: Pick<Plugins, 'wanted' | 'canRun'>;
  readonly hotReload: Pick<HotReload, 'expects' | 'canReplace' | 'problem'>;
  readonly delivery: Pick<Delivery, 'expects' | 'problem' | 'isBroken'>;
}

/**
 * LivePlugins combines the adapters that documents report with the adapters that are being injected or replaced in
 * these documents.
 */
export class LivePlugins {
  readonly #options: LivePluginsOptions;

  constructor(options: LivePluginsOptions) {
    this.#options = options;
  }

  /** top returns the top document of a tab with its usable and failed plugins. */
  top(tabId: number): LiveDoc | undefined {
    const live = this.#options.docs.live(tabId);
    return live && this.#usableIn(live);
  }

  frames(tabId: number): LiveDoc[] {
    return this.#options.docs.frames(tabId).map((live) => this.#usableIn(live));
  }

  /** problem returns why the wanted adapter is not live in a document. */
  problem({ documentId }: Doc, plugin: PluginInfo): string | undefined {
    const { delivery, hotReload } = this.#options;
    return delivery.problem(documentId, plugin.name) ?? hotReload.problem(documentId, plugin);
  }

  /** isArriving reports whether an adapter is being injected into the top document of a tab. */
  isArriving(tabId: number, plugin: string): boolean {
    const live = this.#options.docs.live(tabId);
    return live !== undefined && this.#options.delivery.expects(live.doc.documentId, plugin);
  }

  /**
   * isSettled reports whether a plugin is live, failed or being injected, so that a reload of the tab is useless. The
   * plugin may be in the tab's top document or in a frame.
   */
  isSettled(tabId: number, plugin: PluginInfo, frame?: string): boolean {
    const { docs, delivery, hotReload } = this.#options;
    const { name, hash } = plugin;
    const live = frame === undefined ? docs.live(tabId) : docs.findReported(frame);
    const isSettledInDocument = ({ doc, plugins }: LiveDoc) =>
      plugins.some((p) => p.name === name && p.hash === hash) ||
      delivery.isBroken(doc.documentId, name) ||
      hotReload.canReplace(doc, plugin) ||
      delivery.expects(doc.documentId, name);
    return (live !== undefined && isSettledInDocument(live)) || hotReload.expects(tabId, name);
  }

  /**
   * usableIn removes plugins from a document's report that cannot run in the document, have another pre-script or world
   * than wanted, or are being replaced. usableIn also adds the problems of wanted adapters that are not live.
   */
  #usableIn({ doc, plugins: live }: LiveDoc): LiveDoc {
    const { plugins, hotReload } = this.#options;
    const runnable = plugins.wanted.filter((plugin) => plugins.canRun(plugin));
    const usablePlugins = live.filter(
      ({ name, base }) =>
        runnable.some((plugin) => plugin.name === name && plugin.base === base) && !hotReload.expects(doc.tabId, name),
    );
    const failedPlugins = plugins.wanted.flatMap((plugin) => {
      const { name, hash } = plugin;
      const problem = this.problem(doc, plugin);
      if (problem === undefined || usablePlugins.some((p) => p.name === name && p.hash === hash)) return [];
      return [{ name, hash, problem }];
    });
    return { doc, plugins: [...usablePlugins, ...failedPlugins] };
  }
}
