import type { LiveAdapter, StartedPlugin, ToBridge, VacantPlugin } from '../../port-message.ts';

/** Doc is one document with a bridge. */
export interface Doc {
  readonly tabId: number;
  /** frameId is 0 for the top document of a tab. A frame has the same origin as the top document. */
  readonly frameId: number;
  readonly documentId: string;
  /** url is the URL of the document when the document connected. */
  readonly url: string;
  post(message: ToBridge): void;
}

/** LiveDoc is a document that has reported its adapters. */
export interface LiveDoc {
  readonly doc: Doc;
  readonly plugins: readonly LiveAdapter[];
}

/** Docs is the table of the connected documents and their adapters. */
export interface Docs {
  get(documentId: string): Doc | undefined;
  /** add adds a document, or replaces the port of a known document. */
  add(doc: Doc): void;
  remove(documentId: string): void;
  /**
   * setStarted stores which plugins have started in a document but are not live yet, and whether the document has a
   * base.
   */
  setStarted(documentId: string, started: readonly StartedPlugin[], based: boolean): void;
  started(documentId: string): readonly StartedPlugin[];
  hasBase(documentId: string): boolean;
  /**
   * setPlugins stores the adapters of a document and the plugins whose adapter was removed. setReady updates the
   * readiness of one plugin.
   */
  setPlugins(documentId: string, plugins: readonly LiveAdapter[], vacant?: readonly VacantPlugin[]): void;
  setReady(documentId: string, plugin: string, ready: boolean): void;
  /** vacantPlugins returns the plugins whose adapter was removed from a document. */
  vacantPlugins(documentId: string): readonly VacantPlugin[];
  /** runs reports whether a plugin runs in a document. */
  runs(documentId: string, plugin: string): boolean;
  /** findReported returns a document if the document has reported its adapters. */
  findReported(documentId: string): LiveDoc | undefined;
  /** live returns the top document of a tab. */
  live(tabId: number): LiveDoc | undefined;
  /** frames returns the frames of a tab, ordered by frame ID. */
  frames(tabId: number): LiveDoc[];
  /** all returns all documents. */
  all(): LiveDoc[];
  /** ofTab returns all documents of a tab, including documents that have not reported their adapters. */
  ofTab(tabId: number): Doc[];
}

/** makeDocs returns an empty table. */
export function makeDocs(): Docs {
  const docs = new Map<string, Doc>();
  const plugins = new Map<string, readonly LiveAdapter[]>();
  const vacant = new Map<string, readonly VacantPlugin[]>();
  const starts = new Map<string, { readonly started: readonly StartedPlugin[]; readonly based: boolean }>();
  /** tabs holds the document IDs of each tab, oldest first. */
  const tabs = new Map<number, Set<string>>();

  const ofTab = (tabId: number) => [...(tabs.get(tabId) ?? [])].flatMap((id) => docs.get(id) ?? []);
  const live = (some: Iterable<Doc>) =>
    [...some].flatMap((doc): LiveDoc[] => {
      const found = plugins.get(doc.documentId);
      return found ? [{ doc, plugins: found }] : [];
    });
  return {
    get: (documentId) => docs.get(documentId),
    add: (doc) => {
      docs.set(doc.documentId, doc);
      tabs.set(doc.tabId, (tabs.get(doc.tabId) ?? new Set()).add(doc.documentId));
    },
    remove: (documentId) => {
      const tabId = docs.get(documentId)?.tabId ?? -1;
      docs.delete(documentId);
      plugins.delete(documentId);
      vacant.delete(documentId);
      starts.delete(documentId);
      tabs.get(tabId)?.delete(documentId);
      if (tabs.get(tabId)?.size === 0) tabs.delete(tabId);
    },
    setStarted: (documentId, started, based) => starts.set(documentId, { started, based }),
    started: (documentId) => starts.get(documentId)?.started ?? [],
    hasBase: (documentId) => starts.get(documentId)?.based === true,
    setPlugins: (documentId, found, without = []) => {
      plugins.set(documentId, found);
      vacant.set(documentId, without);
    },
    vacantPlugins: (documentId) => vacant.get(documentId) ?? [],
    setReady: (documentId, name, ready) => {
      const found = plugins.get(documentId);
      if (!found) return;
      plugins.set(
        documentId,
        found.map((plugin) => (plugin.name === name ? { ...plugin, ready } : plugin)),
      );
    },
    runs: (documentId, name) =>
      plugins.get(documentId)?.some((plugin) => plugin.name === name && plugin.problem === undefined) === true,
    // During a navigation, a tab may have two documents for a moment. The newer of the two documents connected last.
    live: (tabId) => live(ofTab(tabId).filter((doc) => doc.frameId === 0)).at(-1),
    frames: (tabId) =>
      live(ofTab(tabId).filter((doc) => doc.frameId !== 0)).sort((a, b) => a.doc.frameId - b.doc.frameId),
    findReported: (documentId) => live([docs.get(documentId)].flatMap((doc) => doc ?? []))[0],
    all: () => live(docs.values()),
    ofTab,
  };
}
