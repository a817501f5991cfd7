import type { LiveAdapter, RemovedPlugin, StartedPlugin, WorkerToBridgeMessage } from '../../port-message.ts';

/** Doc is a document whose bridge has connected to the worker. */
export interface Doc {
  readonly tabId: number;
  /**
   * frameId is 0 for the top document of a tab. The worker accepts a frame's document only if the frame has the same
   * origin as the top document.
   */
  readonly frameId: number;
  readonly documentId: string;
  /** The field `url` is the URL that the document had when it connected. */
  readonly url: string;
  post(message: WorkerToBridgeMessage): void;
}

export interface DocWithPlugins {
  readonly doc: Doc;
  readonly plugins: readonly LiveAdapter[];
}

/** DocumentTable is the worker's table of connected documents and their adapters. */
export interface DocumentTable {
  get(documentId: string): Doc | undefined;
  /** The method `add` adds a document, or replaces the port of a document that has reconnected. */
  add(doc: Doc): void;
  remove(documentId: string): void;
  /** hasBase is true if the document contains the base script, which can run adapters that arrive later. */
  setStarted(documentId: string, startedPlugins: readonly StartedPlugin[], hasBase: boolean): void;
  startedPlugins(documentId: string): readonly StartedPlugin[];
  hasBase(documentId: string): boolean;
  setPlugins(documentId: string, plugins: readonly LiveAdapter[], removedPlugins?: readonly RemovedPlugin[]): void;
  setPluginReady(documentId: string, plugin: string, isReady: boolean): void;
  removedPlugins(documentId: string): readonly RemovedPlugin[];
  /** isRunning reports whether a plugin's adapter runs in a document and has started without an error. */
  isRunning(documentId: string, plugin: string): boolean;
  findReported(documentId: string): DocWithPlugins | undefined;
  /** findTopDoc returns the top document of a tab, or undefined if the document has not reported its adapters. */
  findTopDoc(tabId: number): DocWithPlugins | undefined;
  /** listReportedFrames returns the child frames of a tab that have reported their adapters, ordered by frame ID. */
  listReportedFrames(tabId: number): DocWithPlugins[];
  listReported(): DocWithPlugins[];
  /** listInTab returns all connected documents of a tab, including documents that have not reported their adapters. */
  listInTab(tabId: number): Doc[];
}

export function makeDocs(): DocumentTable {
  const docsById = new Map<string, Doc>();
  const adaptersByDocument = new Map<string, readonly LiveAdapter[]>();
  const removedPluginsByDocument = new Map<string, readonly RemovedPlugin[]>();
  const startedPluginsByDocument = new Map<
    string,
    { readonly startedPlugins: readonly StartedPlugin[]; readonly hasBase: boolean }
  >();
  /** documentsByTab maps tab IDs to the IDs of the tab's documents, in the order in which the documents connected. */
  const documentsByTab = new Map<number, Set<string>>();

  const listDocsOfTab = (tabId: number) =>
    [...(documentsByTab.get(tabId) ?? [])].flatMap((id) => docsById.get(id) ?? []);
  const filterReportedDocs = (candidates: Iterable<Doc>) =>
    [...candidates].flatMap((doc): DocWithPlugins[] => {
      const liveAdapters = adaptersByDocument.get(doc.documentId);
      return liveAdapters ? [{ doc, plugins: liveAdapters }] : [];
    });
  return {
    get: (documentId) => docsById.get(documentId),
    add: (doc) => {
      docsById.set(doc.documentId, doc);
      documentsByTab.set(doc.tabId, (documentsByTab.get(doc.tabId) ?? new Set()).add(doc.documentId));
    },
    remove: (documentId) => {
      const tabId = docsById.get(documentId)?.tabId ?? -1;
      docsById.delete(documentId);
      adaptersByDocument.delete(documentId);
      removedPluginsByDocument.delete(documentId);
      startedPluginsByDocument.delete(documentId);
      documentsByTab.get(tabId)?.delete(documentId);
      if (documentsByTab.get(tabId)?.size === 0) documentsByTab.delete(tabId);
    },
    setStarted: (documentId, startedPlugins, hasBase) =>
      startedPluginsByDocument.set(documentId, { startedPlugins, hasBase }),
    startedPlugins: (documentId) => startedPluginsByDocument.get(documentId)?.startedPlugins ?? [],
    hasBase: (documentId) => startedPluginsByDocument.get(documentId)?.hasBase === true,
    setPlugins: (documentId, liveAdapters, removedPlugins = []) => {
      adaptersByDocument.set(documentId, liveAdapters);
      removedPluginsByDocument.set(documentId, removedPlugins);
    },
    removedPlugins: (documentId) => removedPluginsByDocument.get(documentId) ?? [],
    setPluginReady: (documentId, name, isReady) => {
      const liveAdapters = adaptersByDocument.get(documentId);
      if (!liveAdapters) return;
      adaptersByDocument.set(
        documentId,
        liveAdapters.map((plugin) => (plugin.name === name ? { ...plugin, ready: isReady } : plugin)),
      );
    },
    isRunning: (documentId, name) =>
      adaptersByDocument.get(documentId)?.some((plugin) => plugin.name === name && plugin.problem === undefined) ===
      true,
    // During a navigation, a tab may briefly have two connected top documents; the document that connected last is the
    // new one.
    findTopDoc: (tabId) => filterReportedDocs(listDocsOfTab(tabId).filter((doc) => doc.frameId === 0)).at(-1),
    listReportedFrames: (tabId) =>
      filterReportedDocs(listDocsOfTab(tabId).filter((doc) => doc.frameId !== 0)).sort(
        (a, b) => a.doc.frameId - b.doc.frameId,
      ),
    findReported: (documentId) => filterReportedDocs([docsById.get(documentId)].flatMap((doc) => doc ?? []))[0],
    listReported: () => filterReportedDocs(docsById.values()),
    listInTab: listDocsOfTab,
  };
}
