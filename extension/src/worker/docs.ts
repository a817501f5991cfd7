import type { Live, Started, ToBridge, Vacant } from '../port-message.ts';

/** Doc is one document with a bridge. */
export interface Doc {
  readonly tabId: number;
  /** frameId is 0 for the top document of its tab; a frame has the origin of that. */
  readonly frameId: number;
  readonly documentId: string;
  /** url is what it was when the document connected. */
  readonly url: string;
  post(message: ToBridge): void;
}

/** LiveDoc is a document that has told its adapters. */
export interface LiveDoc {
  readonly doc: Doc;
  readonly plugins: readonly Live[];
}

/** Docs is the table of the documents that are connected, and of the adapters in them. */
export interface Docs {
  get(documentId: string): Doc | undefined;
  /** add takes a document in, or its new port. */
  add(doc: Doc): void;
  remove(documentId: string): void;
  /** noted notes the plugins that have started in a document and are not live yet, and whether it has a base. */
  noted(documentId: string, started: readonly Started[], based: boolean): void;
  started(documentId: string): readonly Started[];
  based(documentId: string): boolean;
  /** named notes all adapters of a document and the plugins whose adapter was removed there, ready what one of them says of itself later. */
  named(documentId: string, plugins: readonly Live[], vacant?: readonly Vacant[]): void;
  ready(documentId: string, plugin: string, ready: boolean): void;
  /** vacant returns the plugins whose adapter was removed from a document. */
  vacant(documentId: string): readonly Vacant[];
  /** runs reports whether a plugin runs in a document. */
  runs(documentId: string, plugin: string): boolean;
  /** told returns a document that has told its adapters. */
  told(documentId: string): LiveDoc | undefined;
  /** live returns the top document of a tab. */
  live(tabId: number): LiveDoc | undefined;
  /** frames returns the frames of a tab, those that came first before the others. */
  frames(tabId: number): LiveDoc[];
  /** all returns all documents. */
  all(): LiveDoc[];
  /** ofTab returns the documents of a tab, also those that have told nothing. */
  ofTab(tabId: number): Doc[];
}

/** makeDocs returns an empty table. */
export function makeDocs(): Docs {
  const docs = new Map<string, Doc>();
  const plugins = new Map<string, readonly Live[]>();
  const vacant = new Map<string, readonly Vacant[]>();
  const notes = new Map<string, { readonly started: readonly Started[]; readonly based: boolean }>();
  /** tabs are the ids of their documents, oldest first. */
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
      notes.delete(documentId);
      tabs.get(tabId)?.delete(documentId);
      if (tabs.get(tabId)?.size === 0) tabs.delete(tabId);
    },
    noted: (documentId, started, based) => notes.set(documentId, { started, based }),
    started: (documentId) => notes.get(documentId)?.started ?? [],
    based: (documentId) => notes.get(documentId)?.based === true,
    named: (documentId, found, without = []) => {
      plugins.set(documentId, found);
      vacant.set(documentId, without);
    },
    vacant: (documentId) => vacant.get(documentId) ?? [],
    ready: (documentId, name, ready) => {
      const found = plugins.get(documentId);
      if (!found) return;
      plugins.set(
        documentId,
        found.map((plugin) => (plugin.name === name ? { ...plugin, ready } : plugin)),
      );
    },
    runs: (documentId, name) =>
      plugins.get(documentId)?.some((plugin) => plugin.name === name && plugin.problem === undefined) === true,
    // While a tab navigates, both documents may be there for a moment; the newer one came last.
    live: (tabId) => live(ofTab(tabId).filter((doc) => doc.frameId === 0)).at(-1),
    frames: (tabId) =>
      live(ofTab(tabId).filter((doc) => doc.frameId !== 0)).sort((a, b) => a.doc.frameId - b.doc.frameId),
    told: (documentId) => live([docs.get(documentId)].flatMap((doc) => doc ?? []))[0],
    all: () => live(docs.values()),
    ofTab,
  };
}
